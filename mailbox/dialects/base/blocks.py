"""The shapes of content blocks in the OpenAPI document. `mailbox.words.content` checks the blocks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema
from typing_extensions import TypeAliasType, TypedDict

# A key of a schema that stands for the component of this name. pydantic has no component for what it does not read.
COMPONENT = "x-component"


def shown_as(name: str) -> WithJsonSchema:
    """Return the annotation that describes a type as the component ``name``."""
    return WithJsonSchema({COMPONENT: name})


class TextBlock(TypedDict):
    """Text."""

    type: Literal["text"]
    text: str


class JsonBlock(TypedDict):
    """Any JSON value."""

    type: Literal["json"]
    value: Any


class ImageBlock(TypedDict):
    """A picture."""

    type: Literal["image"]
    data: str
    mimeType: str


class AudioBlock(TypedDict):
    """A sound."""

    type: Literal["audio"]
    data: str
    mimeType: str


class ResourceBlock(TypedDict):
    """A resource with its content, as the Model Context Protocol has it."""

    type: Literal["resource"]
    resource: dict[str, Any]


class ResourceLinkBlock(TypedDict):
    """A link to a resource."""

    type: Literal["resource_link"]
    uri: str
    name: str


ContentBlock = TypeAliasType(
    "ContentBlock",
    Annotated[
        TextBlock | JsonBlock | ImageBlock | AudioBlock | ResourceBlock | ResourceLinkBlock,
        Field(discriminator="type", description="A content block. Its `type` tells its other fields; more may follow."),
    ],
)
Content = TypeAliasType(
    "Content", Annotated[str | list[ContentBlock], Field(description="Text, or a list of content blocks.")]
)
BlockList = list[Annotated[dict[str, Any], shown_as(ContentBlock.__name__)]]

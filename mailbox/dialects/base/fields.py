"""The types of fields in request shapes. JSON types are not converted: the text "1" is no integer.

The shapes of content blocks describe them in the OpenAPI document. `mailbox.words.content` checks the blocks.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, Strict
from typing_extensions import TypeAliasType, TypedDict

from mailbox.dialects.base.wire import AgentId, ShownAs
from mailbox.words.envelopes import MAX_DEADLINE_MS, AgentRef
from mailbox.words.errors import InvalidRequestError
from mailbox.words.times import LONGEST_MS


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

MAX_DATE_MS = 253_402_300_799_999  # the last millisecond of the year 9999

Text = Annotated[str, Strict()]
Integer = Annotated[int, Strict()]
Number = Annotated[float, Strict()]  # also a whole one
EpochMs = Annotated[int, Strict(), Field(ge=0, le=MAX_DEADLINE_MS, description="Unix epoch milliseconds")]
DateMs = Annotated[int, Strict(), Field(ge=0, le=MAX_DATE_MS, description="Unix epoch milliseconds")]
WorkTimeoutMs = Annotated[int, Strict(), Field(ge=1, le=LONGEST_MS, description="Milliseconds from the lease")]

_DIGITS = re.compile(r"-?[0-9]{1,40}")


def _digits(value: object) -> object:
    if isinstance(value, str) and not _DIGITS.fullmatch(value):
        raise ValueError("must be a whole number")
    return value


QueryInteger = Annotated[int, BeforeValidator(_digits)]  # a query is all text; "1.0" and " 1" are no whole numbers


def _agent_ref(value: object) -> AgentRef:
    try:
        return AgentRef.parse(value)
    except InvalidRequestError as error:
        raise ValueError(next(iter(error.fields.values()))) from error


AgentName = TypeAliasType(
    "AgentName",
    Annotated[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9_.\-]+(@[A-Za-z0-9_.\-]+)?$")] | AgentId,
        Field(description="An agent: its id, its name `local@host`, or its local part where that is unambiguous."),
    ],
)
AgentField = Annotated[AgentRef, PlainValidator(_agent_ref), ShownAs(AgentName.__name__)]


def _blocks(value: object) -> list[Any]:
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    if not isinstance(value, list):
        raise ValueError("must be text, or a JSON array of content blocks")
    return value


# Text is one text block.
Blocks = Annotated[list[Any], PlainValidator(_blocks), ShownAs(Content.__name__)]


class Lax(BaseModel):
    """A body of another project's protocol. Unknown keys are ignored, as that project's servers ignore them."""

    model_config = ConfigDict(extra="ignore")


class Exact(BaseModel):
    """A body or query of the hub's own. An unknown key is refused, since it is a mistake of the client."""

    model_config = ConfigDict(extra="forbid")


def moment(milliseconds: int | None) -> datetime | None:
    """Return the moment of Unix epoch milliseconds, in UTC; None of None."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)

"""Content blocks: what tasks, messages, artifacts and results consist of. All but json are those of MCP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


class Block(dict[str, Any]):
    """A content block: the JSON object itself, with its fields as attributes, too.

    A block of a type that this version does not know, as of a later hub, is a plain `Block`.
    """

    @property
    def type(self) -> str:
        """The type of the block."""
        return str(self["type"])


class TextBlock(Block):
    """A text."""

    __match_args__ = ("text",)

    def __init__(self, text: str, **more: Any) -> None:
        super().__init__(type="text", text=text, **more)

    @property
    def text(self) -> str:
        """The text."""
        return str(self["text"])


class JsonBlock(Block):
    """Any JSON value."""

    __match_args__ = ("value",)

    def __init__(self, value: Any, **more: Any) -> None:
        super().__init__(type="json", value=value, **more)

    @property
    def value(self) -> Any:
        """The value."""
        return self["value"]


class MediaBlock(Block):
    """A picture or a sound."""

    __match_args__ = ("data", "mime_type")

    @property
    def data(self) -> str:
        """The bytes, in base64."""
        return str(self["data"])

    @property
    def mime_type(self) -> str:
        """The media type, such as image/png."""
        return str(self["mimeType"])


class ImageBlock(MediaBlock):
    """A picture."""

    def __init__(self, data: str, mime_type: str, **more: Any) -> None:
        super().__init__(type="image", data=data, mimeType=mime_type, **more)


class AudioBlock(MediaBlock):
    """A sound."""

    def __init__(self, data: str, mime_type: str, **more: Any) -> None:
        super().__init__(type="audio", data=data, mimeType=mime_type, **more)


class ResourceBlock(Block):
    """A resource with its contents, as MCP describes it."""

    __match_args__ = ("resource",)

    def __init__(self, resource: Mapping[str, Any], **more: Any) -> None:
        super().__init__(type="resource", resource=dict(resource), **more)

    @property
    def resource(self) -> Mapping[str, Any]:
        """The resource."""
        found: Mapping[str, Any] = self["resource"]
        return found


class ResourceLinkBlock(Block):
    """The address of a resource."""

    __match_args__ = ("uri", "name")

    def __init__(self, uri: str, name: str, **more: Any) -> None:
        super().__init__(type="resource_link", uri=uri, name=name, **more)

    @property
    def uri(self) -> str:
        """The address."""
        return str(self["uri"])

    @property
    def name(self) -> str:
        """The name."""
        return str(self["name"])


# Content as callers give it: a text is one text block, and a mapping is a block as in JSON.
GivenContent = str | Block | Sequence[Mapping[str, Any]]

BY_TYPE: Mapping[str, type[Block]] = {
    "text": TextBlock,
    "json": JsonBlock,
    "image": ImageBlock,
    "audio": AudioBlock,
    "resource": ResourceBlock,
    "resource_link": ResourceLinkBlock,
}


def block_of(given: Mapping[str, Any]) -> Block:
    """Return a JSON object as a block."""
    kind = BY_TYPE.get(given.get("type", ""), Block)
    block = kind.__new__(kind)
    block.update(given)
    return block


def blocks_of(content: GivenContent) -> list[Block]:
    """Return content as blocks."""
    if isinstance(content, str):
        return [TextBlock(content)]
    if isinstance(content, Block):
        return [content]
    return [block if isinstance(block, Block) else block_of(block) for block in content]


def text_of(content: Iterable[Block]) -> str:
    """Return the text blocks, joined by newlines; other blocks are left out."""
    return "\n".join(block.text for block in content if isinstance(block, TextBlock))

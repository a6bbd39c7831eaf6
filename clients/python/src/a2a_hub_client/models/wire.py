"""How the values of models look in the hub's JSON: Unix epoch milliseconds, and content blocks by their type.

Tasks, messages, artifacts and results consist of content blocks. All but json are those of MCP.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from a2a_hub_client.retry import Duration, seconds

Model = TypeVar("Model")


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
        kept: Mapping[str, Any] = self["resource"]
        return kept


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
ContentInput = str | Block | Sequence[Mapping[str, Any]]

BY_TYPE: Mapping[str, type[Block]] = {
    "text": TextBlock,
    "json": JsonBlock,
    "image": ImageBlock,
    "audio": AudioBlock,
    "resource": ResourceBlock,
    "resource_link": ResourceLinkBlock,
}


def block_of(fields: Mapping[str, Any]) -> Block:
    """Return a JSON object as a block."""
    kind = BY_TYPE.get(fields.get("type", ""), Block)
    block = kind.__new__(kind)
    block.update(fields)
    return block


def blocks_of(content: ContentInput) -> list[Block]:
    """Return content as blocks."""
    if isinstance(content, str):
        return [TextBlock(content)]
    if isinstance(content, Block):
        return [content]
    return [block if isinstance(block, Block) else block_of(block) for block in content]


def text_of(content: Iterable[Block]) -> str:
    """Return the text blocks, joined by newlines; other blocks are left out."""
    return "\n".join(block.text for block in content if isinstance(block, TextBlock))


if TYPE_CHECKING:
    Moment = datetime
    Span = timedelta
    Content = list[Block]
else:

    class Moment(datetime):
        """A point in time, milliseconds in JSON."""

    class Span(timedelta):
        """A length of time, milliseconds in JSON."""

    class Content(list):
        """Content blocks."""


EPOCH = Moment(1970, 1, 1, tzinfo=timezone.utc)
LATEST = EPOCH + timedelta(milliseconds=253_402_300_799_999)  # the end of the year 9999 stands for all later times


class Wire(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The base of all models. Unknown fields are ignored, so that a later hub can add some."""


def read(type_: type[Model], text: bytes | str) -> Model:
    """Read a value from the hub's JSON. Raises `msgspec.ValidationError`."""
    return msgspec.json.decode(text, type=type_, dec_hook=hook)


def to_json(value: object) -> bytes:
    """Return a model, or models in lists and dicts, as the hub's JSON."""
    return msgspec.json.encode(value, enc_hook=_plain)


def filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields without those that are None."""
    return {name: value for name, value in fields.items() if value is not None}


def milliseconds(duration: Duration) -> int:
    """Return the milliseconds of a duration; a part of one counts as one, so that no wait gets 0 by rounding."""
    return -int(-seconds(duration) * 1000 // 1)


def epoch_ms(moment: datetime) -> int:
    """Return Unix epoch milliseconds. Raises `ValueError` for a datetime without a time zone."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone: use datetime.now(timezone.utc) or datetime.astimezone()")
    return (moment - EPOCH) // timedelta(milliseconds=1)


def hook(type_: type, value: Any) -> Any:
    """Return a value of JSON as ``type_``, for msgspec."""
    if type_ is Moment:
        return _moment(value)
    if type_ is Span:
        return Span(milliseconds=value)
    if type_ is Content:
        return Content(map(block_of, value))
    raise NotImplementedError(type_)


def _moment(milliseconds: int) -> Moment:
    try:
        return EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return LATEST


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return epoch_ms(value)
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    raise NotImplementedError(type(value))

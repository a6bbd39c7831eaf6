"""How the values of models look in the hub's JSON: Unix epoch milliseconds, and content blocks by their type."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from a2a_hub_client.models.content import Block, block_of
from a2a_hub_client.retry import Duration, seconds

Model = TypeVar("Model")

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

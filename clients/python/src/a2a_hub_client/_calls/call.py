"""One request to a hub, and how its answer is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode
from uuid import UUID

import msgspec

from a2a_hub_client.errors import AnswerError
from a2a_hub_client.models.wire import hook, to_json

T = TypeVar("T")
Model = TypeVar("Model")
Item = TypeVar("Item")
Id = UUID | str
JSON_TYPE = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """A request. ``read`` turns the body of the answer into a value.

    ``wait`` is how long the hub may hold the request, in seconds. ``is_repeatable``: a repeat does no harm, even if the
    hub has answered the request before.
    """

    method: str
    target: str  # the path and the query
    read: Callable[[bytes], T]
    body: bytes = b""
    wait: float = 0.0
    is_repeatable: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)

    def answer(self, body: bytes) -> T:
        """Read the answer. Raises `AnswerError`."""
        try:
            return self.read(body)
        except (msgspec.DecodeError, LookupError, TypeError, ValueError) as error:
            raise AnswerError(
                f"the answer to {self.method} {self.target.partition('?')[0]} is not a hub's: {error}"
            ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item]):
    """A page of a list. ``next_cursor`` None: it is the last one."""

    items: list[Item]
    next_cursor: str | None = None


def get(target: str, read: Callable[[bytes], T], *, wait: float = 0.0, **query: object) -> Call[T]:
    """Return a request that reads. A query parameter None is left out."""
    given = {name: value for name, value in query.items() if value is not None}
    return Call(method="GET", target=f"{target}?{urlencode(given)}" if given else target, read=read, wait=wait)


def post(
    target: str,
    fields: Mapping[str, Any],
    read: Callable[[bytes], T],
    *,
    wait: float = 0.0,
    is_repeatable: bool = True,
    method: str = "POST",
) -> Call[T]:
    """Return a request that changes something. A field None is left out."""
    body = to_json({name: value for name, value in fields.items() if value is not None})
    return Call(
        method=method,
        target=target,
        read=read,
        body=body,
        wait=wait,
        is_repeatable=is_repeatable,
        headers=JSON_TYPE,
    )


def path(*parts: object) -> str:
    """Return a path of these parts, each quoted."""
    return "/" + "/".join(quote(str(part), safe="") for part in parts)


def whole(type_: type[Model]) -> Callable[[bytes], Model]:
    """Return a reader of an answer that is the value."""
    return msgspec.json.Decoder(type_, dec_hook=hook).decode


def inner(key: str, type_: type[Model]) -> Callable[[bytes], Model]:
    """Return a reader of an answer whose ``key`` holds the value. A value None or absent reads as None."""
    shape = msgspec.defstruct(f"Answer_{key}", [(key, type_)])
    decode = msgspec.json.Decoder(shape, dec_hook=hook).decode

    def read(body: bytes) -> Model:
        found: Model = getattr(decode(body), key)
        return found

    return read


def page(key: str, type_: type[Item]) -> Callable[[bytes], Page[Item]]:
    """Return a reader of a page of a list, whose ``key`` holds the items."""
    shape: Any = msgspec.defstruct(f"Page_{key}", [(key, list[type_]), ("next_cursor", str | None, None)])  # type: ignore[valid-type]
    decode = msgspec.json.Decoder(shape, dec_hook=hook).decode

    def read(body: bytes) -> Page[Item]:
        found = decode(body)
        return Page(items=getattr(found, key), next_cursor=found.next_cursor)

    return read


def told(body: bytes) -> dict[str, Any]:
    """Read an answer as the hub's JSON, which is an object with a ``kind``. Raises `ValueError` for other JSON."""
    answer = msgspec.json.decode(body)
    if not isinstance(answer, dict) or not isinstance(answer.get("kind"), str):
        raise ValueError("it has no kind")
    return answer


def nothing(body: bytes) -> None:
    """Read an answer whose content says nothing more than that the hub did it."""
    told(body)


def batches(items: Iterable[T], *, most: int, most_bytes: int, size: Callable[[T], int]) -> Iterable[list[T]]:
    """Yield the items in batches, each at most ``most`` items and, unless it is one item, ``most_bytes``."""
    batch: list[T] = []
    total = 0
    for item in items:
        length = size(item)
        if batch and (len(batch) == most or total + length > most_bytes):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += length
    if batch:
        yield batch

"""One request to a hub, and how its answer is read. An answer that reports a failure becomes an error."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode
from uuid import UUID

import msgspec

from a2a_hub_client import errors, refusals
from a2a_hub_client.errors import AnswerError, HubError, NotNowError, RateLimitedError, RefusedError, UnavailableError
from a2a_hub_client.models.wire import hook, to_json

T = TypeVar("T")
Model = TypeVar("Model")
Item = TypeVar("Item")
JSON_TYPE = {"Content-Type": "application/json"}
_AT_FAULT = "kind", "code", "message", "fields"  # the keys of an error that are no ids

Id = UUID | str


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
    filled = {name: value for name, value in query.items() if value is not None}
    return Call(method="GET", target=f"{target}?{urlencode(filled)}" if filled else target, read=read, wait=wait)


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
        value: Model = getattr(decode(body), key)
        return value

    return read


def page(key: str, type_: type[Item]) -> Callable[[bytes], Page[Item]]:
    """Return a reader of a page of a list, whose ``key`` holds the items."""
    shape: Any = msgspec.defstruct(f"Page_{key}", [(key, list[type_]), ("next_cursor", str | None, None)])  # type: ignore[valid-type]
    decode = msgspec.json.Decoder(shape, dec_hook=hook).decode

    def read(body: bytes) -> Page[Item]:
        answer = decode(body)
        return Page(items=getattr(answer, key), next_cursor=answer.next_cursor)

    return read


def hub_json(body: bytes) -> dict[str, Any]:
    """Read an answer as the hub's JSON, which is an object with a ``kind``. Raises `ValueError` for other JSON."""
    answer = msgspec.json.decode(body)
    if not isinstance(answer, dict) or not isinstance(answer.get("kind"), str):
        raise ValueError("it has no kind")
    return answer


def nothing(body: bytes) -> None:
    """Read an answer whose content says nothing more than that the hub did it."""
    hub_json(body)


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


def _classes(base: type[HubError]) -> Iterator[type[HubError]]:
    for one in base.__subclasses__():
        if one.__module__ in (errors.__name__, refusals.__name__):
            yield one
            yield from _classes(one)


BY_CODE: Mapping[str, type[HubError]] = {one.code: one for one in _classes(HubError) if "code" in vars(one)}
_BY_STATUS: Mapping[int, type[RefusedError]] = {
    HTTPStatus.UNAUTHORIZED: refusals.UnauthenticatedError,
    HTTPStatus.FORBIDDEN: refusals.ForbiddenError,
    HTTPStatus.NOT_FOUND: refusals.NotFoundError,
    HTTPStatus.CONFLICT: refusals.ConflictError,
}
_NOT_DONE = {HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}


def error_of_answer(status: int, reason: str, body: bytes, headers: Mapping[str, str]) -> HubError:
    """Return the error of an answer that is no success. Without the hub's JSON its message is the status line."""
    reported = _reported(body) or {"message": f"{status} {reason}".strip()}
    return _error(reported, status, retry_after=_seconds(headers.get("Retry-After", "")))


def error_of_item(refused: Mapping[str, Any]) -> HubError:
    """Return the error of a refused item of a batch."""
    return _error({name: value for name, value in refused.items() if name != "index"}, None)


def _error(reported: Mapping[str, Any], status: int | None, *, retry_after: float | None = None) -> HubError:
    code, message = str(reported.get("code", "")), str(reported["message"])
    details: dict[str, Any] = {
        "code": code,
        "status": status,
        "fields": fields if isinstance(fields := reported.get("fields"), dict) else None,
        "ids": {name: value for name, value in reported.items() if name not in _AT_FAULT},
    }
    made = BY_CODE.get(code) or _of_status(status)
    if issubclass(made, NotNowError):
        may_have_arrived = not issubclass(made, RateLimitedError) and status not in _NOT_DONE
        return made(message, may_have_arrived=may_have_arrived, retry_after=retry_after, **details)
    return made(message, **details)


def _of_status(status: int | None) -> type[HubError]:
    """Return the class of an error whose code is not known, as of a later hub or of a proxy."""
    if status is None:
        return RefusedError
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimitedError
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return UnavailableError
    if status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY):
        return NotNowError
    return _BY_STATUS.get(status, RefusedError)


def _reported(body: bytes) -> Mapping[str, Any] | None:
    try:
        report = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return report if isinstance(report, dict) and isinstance(report.get("message"), str) else None


def _seconds(text: str) -> float | None:
    return float(text) if text.isdecimal() else None

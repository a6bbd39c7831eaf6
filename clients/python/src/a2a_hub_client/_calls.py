"""One request to a hub, and how its answer is read. An answer that reports a failure becomes an error.

The requests that several places send have a function at the end.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode
from uuid import UUID

import msgspec

from a2a_hub_client import errors, refusals
from a2a_hub_client.errors import AnswerError, HubError, NotNowError, RateLimitedError, RefusedError, UnavailableError
from a2a_hub_client.models.conversation import Messages
from a2a_hub_client.models.tasks import Acked, Drained, Posted, Result, TaskQueued
from a2a_hub_client.models.wire import filled, hook, milliseconds, to_json

T = TypeVar("T")
Model = TypeVar("Model")
Item = TypeVar("Item")
JSON_TYPE = {"Content-Type": "application/json"}
PAGE = 100  # items of one request
MOST_SENT = 500
MOST_BYTES = 800_000  # of one request, well below the default body limit of a hub
LONGEST_POLL = 50.0  # seconds; many proxies cut a request after 60
_AT_FAULT = "kind", "code", "message", "fields"  # the keys of an error that are no ids

Id = UUID | str
_BY_STATUS: Mapping[int, type[RefusedError]] = {
    HTTPStatus.UNAUTHORIZED: refusals.UnauthenticatedError,
    HTTPStatus.FORBIDDEN: refusals.ForbiddenError,
    HTTPStatus.NOT_FOUND: refusals.NotFoundError,
    HTTPStatus.CONFLICT: refusals.ConflictError,
}
_NOT_DONE = {HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}


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
    named = urlencode(filled(query))
    return Call(method="GET", target=f"{target}?{named}" if named else target, read=read, wait=wait)


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
    how: dict[str, Any] = {"wait": wait, "is_repeatable": is_repeatable, "headers": JSON_TYPE}
    return Call(method=method, target=target, read=read, body=to_json(filled(fields)), **how)


def path(*parts: object) -> str:
    """Return a path of these parts, each quoted."""
    return "/" + "/".join(quote(str(part), safe="") for part in parts)


def whole(type_: type[Model]) -> Callable[[bytes], Model]:
    """Return a reader of an answer that is the value."""
    return msgspec.json.Decoder(type_, dec_hook=hook).decode


def inner(key: str, type_: type[Model]) -> Callable[[bytes], Model]:
    """Return a reader of an answer whose ``key`` holds the value. A value None or absent reads as None."""
    read = whole(msgspec.defstruct(f"Answer_{key}", [(key, type_)]))
    return lambda body: getattr(read(body), key)


def page(key: str, type_: type[Item]) -> Callable[[bytes], Page[Item]]:
    """Return a reader of a page of a list, whose ``key`` holds the items."""
    shape: Any = msgspec.defstruct(f"Page_{key}", [(key, list[type_]), ("next_cursor", str | None, None)])  # type: ignore[valid-type]

    def read(body: bytes) -> Page[Item]:
        answer = whole(shape)(body)
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


def error_of_answer(status: int, reason: str, body: bytes, headers: Mapping[str, str]) -> HubError:
    """Return the error of an answer that is no success. Without the hub's JSON its message is the status line."""
    reported = _reported(body) or {"message": f"{status} {reason}".strip()}
    pause = headers.get("Retry-After", "")
    return _error(reported, status, retry_after=float(pause) if pause.isdecimal() else None)


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


def of_task(task_id: Id, *more: str) -> str:
    """Return the path of what belongs to a task."""
    return path("a2a", "tasks", task_id, *more)


def send(task: Mapping[str, Any]) -> Call[TaskQueued]:
    """Send ``task``, which is `NewTask.body`. Its id makes a repeat safe."""
    return post("/a2a/tasks", task, whole(TaskQueued))


def send_many(tasks: Sequence[Mapping[str, Any] | msgspec.Raw]) -> Call[Posted]:
    """Send ``tasks``, at most `MOST_SENT`."""
    return post("/a2a/tasks/batch", {"tasks": tasks}, whole(Posted))


_read_result = inner("result", Result | None)  # type: ignore[arg-type]


def result(task_id: Id, *, wait: float = 0.0) -> Call[Result | None]:
    """Read the result, and wait up to ``wait`` seconds for it. The answer None: there is none yet."""
    wait_ms = milliseconds(wait) or None  # a hub of an earlier version refuses the parameter
    return get(of_task(task_id, "result"), _read_result, wait=wait, wait_ms=wait_ms)


def messages(task_id: Id, *, after: int = 0, wait: float = 0.0) -> Call[Messages]:
    """Read the messages after the number ``after``, and wait up to ``wait`` seconds for one."""
    wait_ms = milliseconds(wait) or None
    return get(of_task(task_id, "messages"), whole(Messages), wait=wait, after=after, limit=PAGE, wait_ms=wait_ms)


def drain(attempt_id: Id, *, most: int = 1, wait: float = 0.0, ack: Sequence[Id] = ()) -> Call[Drained]:
    """Acknowledge the results of the tasks in ``ack``, and drain up to ``most``. The hub waits for the first one."""
    fields = {"max": most, "wait_ms": milliseconds(wait), "attempt_id": attempt_id, "ack": ack or None}
    return post("/a2a/results/drain", fields, whole(Drained), wait=wait)


def ack(task_ids: Sequence[Id]) -> Call[Acked]:
    """Acknowledge results. A repeat changes nothing."""
    return post("/a2a/results/ack", {"task_ids": task_ids}, whole(Acked))

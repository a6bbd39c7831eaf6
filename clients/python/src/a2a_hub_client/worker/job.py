"""The work of an attempt as the engine sees it: one run of a program, or one call of a Python function.

It gets a leased task and posts updates and a result. JSON that the hub would refuse is an error here, with its reason.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from a2a_hub_client.models.wire import to_json

if TYPE_CHECKING:
    from typing_extensions import Self

ASKING = ("input_required", "auth_required")  # the statuses of questions
POSTED_WITHIN = 1.0  # seconds by which jobs are stopped before the hub's limit, so that their messages still count
MAX_BATCH = 100  # updates; the hub takes no more at once
BATCH_BYTES = 200_000  # of JSON, far below the smallest body limit
MOST_WAITING = 4_000_000  # bytes of pressing updates that wait for the hub, beyond which the work has to wait


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedTask:
    """A task as the hub's JSON shows it, and its lease. ``time_limit``: seconds for the work, None without a limit.

    ``turn`` is the number of messages of its sender. ``message`` is the newest of them, None for a mere text.
    """

    task: Mapping[str, Any]
    lease_id: str
    attempt: int
    time_limit: float | None
    turn: int = 1
    message: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, leased: Mapping[str, Any]) -> Self:
        """Return the task and lease of an answer that has both."""
        lease = leased["lease"]
        limit = lease["work_timeout_ms"]
        return cls(
            task=leased["task"],
            lease_id=lease["lease_id"],
            attempt=lease["attempt"],
            time_limit=None if limit is None else limit / 1000 - min(POSTED_WITHIN, limit / 10_000),
            turn=leased.get("turn", 1),
            message=leased.get("message"),
        )

    @property
    def id(self) -> str:
        return str(self.task["id"])

    def first_message(self) -> Mapping[str, Any]:
        """Return the message that made the task, for a task without a later message of its sender."""
        text = {"role": "user", "content": [{"type": "text", "text": self.task["intent_text"]}]}
        return text if self.message is None else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """The result of a task: ``error_message`` if it failed, else ``text``, None without any.

    ``spoken`` is the result as the hub's JSON has it, or a question. Then the other fields are None.
    """

    text: str | None = None
    error_message: str | None = None
    spoken: Mapping[str, Any] | None = None

    @property
    def is_question(self) -> bool:
        """Whether it is a question to the sender, which ends the lease and not the task."""
        return self.spoken is not None and self.spoken["status"] in ASKING

    @property
    def summary(self) -> str:
        """One line for the log."""
        status = "ok" if self.spoken is None else str(self.spoken["status"])
        return (self.error_message or status).partition("\n")[0]

    def body(self, leased: LeasedTask) -> dict[str, Any]:
        """Return the result as the hub takes it, under the task's lease."""
        posted: dict[str, Any] = {"status": "ok", "content": []}
        if self.text is not None:
            posted["content"] = [{"type": "text", "text": self.text}]
        if self.error_message is not None:
            posted |= {"status": "error", "error_message": self.error_message}
        if self.spoken is not None:
            posted |= self.spoken
            if isinstance(text := posted["content"], str):
                posted["content"] = [{"type": "text", "text": text}]
        return {**posted, "task_id": leased.id, "lease_id": leased.lease_id}


class Updates:
    """The updates of one attempt, in their order. One thread adds them, another takes them.

    A pressing update goes to the hub at once. The others may wait for more of them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue: deque[tuple[Mapping[str, Any], int]] = deque()  # each with its bytes if it is pressing
        self._waiting = 0  # bytes of pressing updates in the queue
        self._is_closed = False
        self._stirred = threading.Condition(self._lock)

    @property
    def is_full(self) -> bool:
        """Whether nothing must be added until updates were taken."""
        return self._waiting > MOST_WAITING

    def close(self) -> None:
        """End the queue: no update comes any more."""
        with self._lock:
            self._is_closed = True
            self._stirred.notify_all()

    def add(self, update: Mapping[str, Any], *, size: int) -> None:
        """Queue a pressing update of ``size`` bytes."""
        with self._lock:
            self._queue.append((update, size))
            self._waiting += size
            self._stirred.notify_all()

    def await_update(self, seconds: float) -> bool:
        """Wait until a pressing update is queued, or the queue has ended; return whether that is so."""
        with self._lock:
            return self._stirred.wait_for(lambda: self._waiting > 0 or self._is_closed, seconds)

    def await_room(self, seconds: float) -> bool:
        """Wait until the queue is not full, or has ended; return whether that is so."""
        with self._lock:
            return self._stirred.wait_for(lambda: not self.is_full or self._is_closed, seconds)

    def take(self) -> list[Mapping[str, Any]]:
        """Remove and return the oldest updates, as many as go into one request."""
        batch: list[Mapping[str, Any]] = []
        size = 0
        with self._lock:
            while self._queue and len(batch) < MAX_BATCH and size < BATCH_BYTES:
                update, waited = self._queue.popleft()
                self._waiting -= waited
                batch.append(update)
                size += waited or json_bytes(update)
            self._stirred.notify_all()
        return batch


def json_bytes(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode())


def loads(text: bytes) -> Any:
    """Read one JSON document that the hub can store.

    Raises `ValueError` for text that is not UTF-8 or not JSON, and for nesting too deep for the parser. Raises it too
    for duplicate keys, NaN, infinite numbers, NUL and lone surrogates.
    """
    try:
        value = _DECODER.decode(text.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: {error.reason} at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    for part in _strings(value):
        if "\0" in part:
            raise ValueError("a string contains a NUL character")
        if any("\ud800" <= character <= "\udfff" for character in part):
            raise ValueError("a string contains a lone surrogate")
    return value


def plain(value: object) -> tuple[Any, int]:
    """Return the value with its parts as JSON has them, and its bytes as JSON. A subclass of float becomes a float.

    Raises `ValueError` for what is not JSON, such as NaN or a set.
    """
    try:
        parts = json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
        return parts, len(to_json(parts))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from error


def _strings(value: object) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            pending.extend(part for pair in item.items() for part in pair)
        elif isinstance(item, list):
            pending.extend(item)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"duplicate key {repeated[:100]!r}")
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is out of range")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite)


class Stop(Enum):
    """The reason to stop a job."""

    TIMED_OUT = auto()
    LEASE_ENDED = auto()
    WORKER_STOPPED = auto()
    CONCLUDED = auto()  # it did not end by itself after its last control line
    FAULTY = auto()  # an update cannot be obeyed, or was refused


class Job(Protocol):
    """One run of the work for one leased task. Call `start` first, and `close` at the end."""

    updates: Updates  # those that it posts while it runs
    is_strict: bool  # whether an update that the hub refuses fails the task
    ended_at: float | None = None  # the time of its end by the monotonic clock; None while anything of it runs
    stopped: Stop | None = None  # the reason why it was stopped; None: it ended by itself

    def start(self, conversation: Sequence[Mapping[str, Any]]) -> None:
        """Start with the task's messages, oldest first. Raises `OSError` or `ValueError` if that fails."""

    def hear(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Take the messages that came since the start."""

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds`` until the attempt can go on without the job; return whether it can."""

    def stop(self, why: Stop, *, at_once: bool = False) -> None:
        """Stop the job within its grace, or ``at_once``. The first reason counts."""

    def conclude(self) -> None:
        """Stop the job if it does not end by itself within the grace, counted from the first call."""

    def close(self) -> None:
        """Delete its files."""

    def await_end(self) -> None:
        """Wait until nothing of it runs any more."""

    @property
    def fault(self) -> str | None:
        """The problem of an update that cannot be obeyed; None without one."""
        return None

    @property
    def has_concluded(self) -> bool:
        """Whether it gave its result or a question."""

    @property
    def closing(self) -> TaskResult:
        """Its result or its question, once it has ended without a fault."""


class Work(Protocol):
    """Makes a job for each leased task, within its ``with`` block. ``heartbeat`` and ``grace`` are in seconds."""

    name: str
    heartbeat: float
    grace: float

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def job(self, leased: LeasedTask) -> Job: ...

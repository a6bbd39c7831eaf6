"""The hub's API as a worker uses it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar
from uuid import UUID

from a2a_hub_client import refusals
from a2a_hub_client._calls import work
from a2a_hub_client._calls.call import Call, get, path, post, told
from a2a_hub_client.errors import AttemptSpentError, NotNowError
from a2a_hub_client.models.tasks import HeldLease
from a2a_hub_client.retry import Retry
from a2a_hub_client.worker.leased_task import LeasedTask, TaskResult

T = TypeVar("T")
Json = dict[str, Any]
Read = Callable[[Json], T]
PAGE = 100  # messages of one request
SLOW = 5.0  # seconds of an answer, beside the wait of a long poll
ONCE = Retry(patience=0)  # the worker repeats requests itself: longer than a client would, and until it is stopped
# The hub's errors once a lease is no longer live: the task was answered, requeued, cancelled or expired.
LEASE_ENDED = (
    refusals.UnknownTaskError,
    refusals.LeaseMismatchError,
    refusals.NotInFlightError,
    refusals.AlreadyResolvedError,
    refusals.ResultConflictError,
)


class Line(Protocol):
    """A client that sends calls to a hub, such as `a2a_hub_client.Hub`. Threads may share it."""

    @property
    def url(self) -> str:
        """The hub's base URL."""

    def perform(self, call: Call[T], *, retry: Retry | None = None) -> T:
        """Send the call and return its answer. Raises `HubError`."""


class WorkerClient:
    """The requests of one worker. Threads may share it.

    Every method raises `NotNowError` or `RefusedError` on failure. Methods that take a lease raise an error of
    `LEASE_ENDED` once the lease has ended.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self.url = line.url
        self.changed = threading.Event()  # set when a result becomes pending
        self.troubled_at = float("-inf")  # by the monotonic clock: the last time that a request failed or was slow

    @property
    def pending(self) -> int:
        """The number of results that wait to be posted. This client posts each result at once."""
        return 0

    @property
    def pending_for(self) -> float:
        """How long the oldest of these results has waited, in seconds; 0 without one."""
        return 0.0

    def me(self) -> dict[str, Any]:
        """Return the ``agent`` or the ``person`` that owns the key. A hub of an earlier version refuses that."""
        return self._get("/a2a/me", _owner)

    def receive(self, attempt_id: UUID, *, most: int, wait: float) -> list[LeasedTask]:
        """Lease the oldest task, waiting up to ``wait`` seconds for it. A repeat gets the same lease.

        A client of batches leases up to ``most`` tasks. Also raises `AttemptSpentError`.
        """
        body = {"attempt_id": str(attempt_id), "wait_ms": int(wait * 1000)}
        leases, is_spent = self._post("/a2a/tasks/next", body, _next, wait=wait)
        if is_spent:
            raise AttemptSpentError("the leases of this attempt id have ended")
        return leases

    def lease(self, task_id: str, attempt_id: UUID) -> LeasedTask:
        """Lease this task, before older tasks. A repeat gets the same lease while it is live."""
        return self._post(of_task(task_id, "lease"), {"attempt_id": str(attempt_id)}, LeasedTask.of)

    def leases(self) -> list[HeldLease]:
        """Return all live leases of the agent, oldest first, also those of other workers."""
        page = self._perform(work.leases())
        leases = page.items
        while page.next_cursor is not None:
            page = self._perform(work.leases(page.next_cursor))
            leases += page.items
        return leases

    def conversation(self, leased: LeasedTask, *, after: int | None = 0) -> list[dict[str, Any]]:
        """Return the messages of the task after the number ``after``, oldest first. The first made the task."""
        messages: list[dict[str, Any]] = []
        while after is not None:
            page, after = self._get(of_task(leased.id, "messages"), _messages, after=after, limit=PAGE)
            messages += page
        return messages

    def heartbeat(self, leased: LeasedTask) -> int:
        """Send a heartbeat; return the number of messages of the task's sender."""
        answer = self._post(of_task(leased.id, "heartbeat"), {"lease_id": leased.lease_id}, _turn)
        return leased.turn if answer is None else answer

    def update(self, leased: LeasedTask, updates: Sequence[Mapping[str, Any]], attempt_id: UUID) -> int:
        """Post updates; return as `heartbeat` does. Repeating the call with the same ``attempt_id`` posts them once."""
        body = {"lease_id": leased.lease_id, "attempt_id": str(attempt_id), "updates": updates}
        answer = self._post(of_task(leased.id, "updates"), body, _turn)
        return leased.turn if answer is None else answer

    def answer(self, leased: LeasedTask, answer: TaskResult, meanwhile: Callable[[], object]) -> None:
        """Post the result under the lease. Repeating the call changes nothing.

        ``meanwhile`` is called again and again while the result waits to be posted.
        """
        self._post("/a2a/results", answer.body(leased), dict)

    def release(self, leased: LeasedTask, reason: str) -> None:
        """Hand the lease back. A repeat changes nothing."""
        self.release_lease(leased.id, leased.lease_id, reason)

    def release_lease(self, task_id: str, lease_id: str, reason: str) -> None:
        """Hand a lease of the agent back, also that of another worker. A repeat changes nothing."""
        self._post(of_task(task_id, "release"), {"lease_id": lease_id, "reason": reason[:500]}, dict)

    def post_pending(self) -> None:
        """Post the results that wait to be posted."""

    def stop_batches(self) -> None:
        """Let no result wait to be posted from now on."""

    def _get(self, target: str, read: Read[T], **query: str | int | None) -> T:
        """Send the request, and ``read`` the hub's JSON. Raises `AnswerError` for a missing key or a wrong type."""
        return self._perform(get(target, lambda text: read(told(text)), wait=0, **query))

    def _post(self, target: str, body: Mapping[str, Any], read: Read[T], *, wait: float = 0.0) -> T:
        """Send the request, as `_get` does."""
        return self._perform(post(target, body, lambda text: read(told(text)), wait=wait))

    def _perform(self, call: Call[T]) -> T:
        began_at = time.monotonic()
        try:
            answer = self._line.perform(call, retry=ONCE)
        except (NotNowError, refusals.ForbiddenError):
            self.troubled_at = time.monotonic()
            raise
        if time.monotonic() - began_at > call.wait + SLOW:
            self.troubled_at = time.monotonic()
        return answer


def _owner(answer: Json) -> dict[str, Any]:
    agent, person = answer["agent"], answer["person"]
    named = None if agent is None else {name: str(agent[name]) for name in ("display", "pubkey")}
    return {"agent": named, "person": person}


def _next(answer: Json) -> tuple[list[LeasedTask], bool]:
    return [] if answer["task"] is None else [LeasedTask.of(answer)], bool(answer.get("attempt_spent"))


def _messages(answer: Json) -> tuple[list[dict[str, Any]], int | None]:
    return list(answer["messages"]), answer["next_after"]


def _turn(answer: Json) -> int | None:
    """Return the number of messages of the sender, None at a hub of an earlier version."""
    return int(answer["turn"]) if "turn" in answer else None


def of_task(task_id: str, what: str) -> str:
    """Return the path of what belongs to a task."""
    return path("a2a", "tasks", task_id, what)

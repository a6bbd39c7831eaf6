"""The hub's API as a worker uses it.

A worker of batches posts results together, in the request that leases the next tasks. A failed request is repeated for
as long as it takes, with growing random pauses.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent import futures
from typing import Any, Protocol, TypeVar
from uuid import UUID

import msgspec

from a2a_hub_client import refusals
from a2a_hub_client._calls import MOST_BYTES, PAGE, Call, error_of_item, get, hub_json, of_task, page, post
from a2a_hub_client.errors import AttemptSpentError, HubError, NotNowError, RefusedError
from a2a_hub_client.models.tasks import AgentId, HeldLease
from a2a_hub_client.refusals import ForbiddenError
from a2a_hub_client.retry import Backoff, Retry
from a2a_hub_client.worker.job import LeasedTask, TaskResult

T = TypeVar("T")
SLOW = 5.0  # seconds of an answer, beside the wait of a long poll
WAIT = 0.5  # seconds

Json = dict[str, Any]
Read = Callable[[Json], T]
ONCE = Retry(patience=0)  # the worker repeats requests itself: longer than a client would, and until it is stopped
# The hub's errors once a lease is no longer live: the task was answered, requeued, cancelled or expired.
LEASE_ENDED = (
    refusals.UnknownTaskError,
    refusals.LeaseMismatchError,
    refusals.NotInFlightError,
    refusals.AlreadyResolvedError,
    refusals.ResultConflictError,
)
PAUSES = Retry(patience=None)


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
        leases: list[HeldLease] = []
        read, cursor = page("leases", HeldLease), None
        while True:
            answer = self._perform(get("/a2a/leases", read, cursor=cursor, limit=PAGE))
            leases += answer.items
            if (cursor := answer.next_cursor) is None:
                return leases

    def conversation(self, leased: LeasedTask, *, after: int | None = 0) -> list[dict[str, Any]]:
        """Return the messages of the task after the number ``after``, oldest first. The first made the task."""
        messages: list[dict[str, Any]] = []
        while after is not None:
            more, after = self._get(of_task(leased.id, "messages"), _messages, after=after, limit=PAGE)
            messages += more
        return messages

    def heartbeat(self, leased: LeasedTask) -> int:
        """Send a heartbeat; return the number of messages of the task's sender."""
        return self._post(of_task(leased.id, "heartbeat"), {"lease_id": leased.lease_id}, _turn_of(leased))

    def update(self, leased: LeasedTask, updates: Sequence[Mapping[str, Any]], attempt_id: UUID) -> int:
        """Post updates; return as `heartbeat` does. Repeating the call with the same ``attempt_id`` posts them once."""
        body = {"lease_id": leased.lease_id, "attempt_id": str(attempt_id), "updates": updates}
        return self._post(of_task(leased.id, "updates"), body, _turn_of(leased))

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
        return self._perform(get(target, lambda text: read(hub_json(text)), wait=0, **query))

    def _post(self, target: str, body: Mapping[str, Any], read: Read[T], *, wait: float = 0.0) -> T:
        """Send the request, as `_get` does."""
        return self._perform(post(target, body, lambda text: read(hub_json(text)), wait=wait))

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


def _turn_of(leased: LeasedTask) -> Read[int]:
    """Return a reader of the number of messages of the sender: that of the lease at a hub of an earlier version."""
    return lambda answer: int(answer.get("turn", leased.turn))


def pause(backoff: Backoff, error: HubError) -> float:
    """Return the seconds to wait after ``error``: at least the hub's Retry-After, up to the longest pause."""
    return backoff.next_pause(error.retry_after if isinstance(error, NotNowError) else None)


def insist(
    request: Callable[[], object],
    *,
    abandon: threading.Event,
    on_trouble: Callable[[HubError], object],
    rest: Callable[[float], bool] | None = None,
) -> bool:
    """Send ``request``, and repeat it until it succeeds. Return False if ``abandon`` is set before that.

    ``on_trouble`` is called with the first failure. Errors that repeating cannot mend are raised. ``rest`` waits so
    many seconds, and returns whether ``abandon`` is set; None: it only waits.
    """
    rest = rest or abandon.wait
    backoff = Backoff(PAUSES)
    first = True
    while True:
        try:
            request()
        except (NotNowError, ForbiddenError) as error:  # noqa: PERF203 (a request takes far longer)
            if first:
                on_trouble(error)
            first = False
            if rest(pause(backoff, error)):
                return False
        else:
            return True


class BatchingClient(WorkerClient):
    """A client that posts results in batches. A thread with a result waits until another thread has posted it.

    Only one thread may call `receive` and `post_pending`, which post the results.
    """

    def __init__(self, line: Line) -> None:
        super().__init__(line)
        self._lock = threading.Lock()
        self._pending: list[_Posting] = []
        self._is_closed = False

    @property
    def pending(self) -> int:
        return len(self._pending)

    @property
    def pending_for(self) -> float:
        with self._lock:
            return time.monotonic() - self._pending[0].since if self._pending else 0.0

    def answer(self, leased: LeasedTask, answer: TaskResult, meanwhile: Callable[[], object]) -> None:
        """Post the result with the next batch, and return once the hub has it. Raises the error of this result."""
        posting = _Posting(answer.body(leased))
        with self._lock:
            if self._is_closed:
                posting.decide(alone=True)
            else:
                self._pending.append(posting)
                self.changed.set()
        while not futures.wait([posting.outcome], WAIT).done:
            meanwhile()
        if posting.outcome.result():
            super().answer(leased, answer, meanwhile)

    def receive(self, attempt_id: UUID, *, most: int, wait: float) -> list[LeasedTask]:
        """Post the pending results, then lease the oldest tasks, at most ``most``. Raises as `WorkerClient.receive`.

        A repeat gets the same leases. The results of a failed request stay pending, and the next request posts them.
        """
        body = {"attempt_id": str(attempt_id), "wait_ms": int(wait * 1000), "max": min(most, PAGE)}
        leases, is_spent = self._post_batch("/a2a/tasks/lease", body, _leases, wait=wait) or ([], False)
        if is_spent:
            raise AttemptSpentError("the leases of this attempt id have ended")
        return leases

    def post_pending(self) -> None:
        """Post the pending results, without leasing."""
        while self._pending:
            self._post_batch("/a2a/results/batch", {}, dict)

    def stop_batches(self) -> None:
        """Let each result, also each pending one, be posted by a request of its own from now on."""
        with self._lock:
            self._is_closed = True
            self._settle(self._pending, alone=True)

    def _post_batch(self, path: str, body: Mapping[str, Any], read: Read[T], *, wait: float = 0.0) -> T | None:
        """Send the request with the pending results, settle them, and ``read`` the rest of the answer.

        Results of a refused request go out alone. The answer is then None.
        """
        batch = self._batch()
        results = {"results": [posting.body for posting in batch]} if batch else {}
        try:
            refused, answer = self._post(
                path, {**body, **results}, lambda json: (_refused(json), read(json)), wait=wait
            )
        except ForbiddenError:
            raise
        except RefusedError:
            if not batch:
                raise
            with self._lock:
                self._settle(batch, alone=True)
            return None
        with self._lock:
            self._settle(batch, refused)
        return answer

    def _batch(self) -> list[_Posting]:
        """Return the oldest pending results that go into one request, at least one if there is any."""
        batch: list[_Posting] = []
        size = 0
        with self._lock:
            for posting in self._pending[:PAGE]:
                size += posting.size
                if batch and size > MOST_BYTES:
                    break
                batch.append(posting)
        return batch

    def _settle(
        self, batch: Sequence[_Posting], refused: Mapping[int, HubError] | None = None, *, alone: bool = False
    ) -> None:
        """Decide the oldest pending results, which are ``batch``. ``refused`` are errors by place in the batch."""
        settled = list(batch)
        del self._pending[: len(settled)]
        for place, posting in enumerate(settled):
            posting.decide((refused or {}).get(place), alone=alone)


def _leases(answer: Json) -> tuple[list[LeasedTask], bool]:
    return [LeasedTask.of(leased) for leased in answer["leases"]], bool(answer.get("attempt_spent"))


def _refused(answer: Json) -> dict[int, HubError]:
    return {one["index"]: error_of_item(one) for one in answer["refused"]}


class _Posting:
    """A result on its way to the hub. ``outcome`` is whether it needs a request of its own, or the hub's error."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body
        self.size = len(msgspec.json.encode(body))
        self.since = time.monotonic()
        self.outcome: futures.Future[bool] = futures.Future()

    def decide(self, error: HubError | None = None, *, alone: bool = False) -> None:
        """Report the hub's outcome. ``alone``: there is none, and the result needs a request of its own."""
        if error is None:
            self.outcome.set_result(alone)
        else:
            self.outcome.set_exception(error)


def foreign_key(
    hub: WorkerClient, name: str | None, *, stopping: threading.Event, say: Callable[[str], object]
) -> str | None:
    """Ask the hub for the owner of the key until it answers; return an owner that is not ``name``, None otherwise.

    ``name`` None stands for any agent.

    The answer is also None for a hub of an earlier version and for a refused key. Then the next request shows the
    problem, or the first lease does. It is None, too, once ``stopping`` is set.
    """
    owner: dict[str, Any] = {}

    def ask() -> None:
        try:
            owner.update(hub.me())
        except RefusedError:
            return

    troubles: list[HubError] = []

    def trouble(error: HubError) -> None:
        troubles.append(error)
        say(f"Cannot lease a task now, trying again: {error}")

    if not insist(ask, abandon=stopping, on_trouble=trouble):
        return None
    if troubles:
        say("The hub answers again.")
    if not owner:
        return None
    if owner["agent"] is None:
        return f"the person {owner['person']}"
    agent = msgspec.convert(owner["agent"], AgentId)
    return None if name is None or agent.is_called(name) else agent.display

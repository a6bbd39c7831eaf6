"""Leases that workers of the same agent left behind when they crashed.

A lease does not say which process holds it, and several workers of one agent may run at once. A holder that has sent a
heartbeat is a worker, and sends more. Its lease is an orphan when the time of the last heartbeat stands still. The
worker looks twice, and compares; no clock of the hub or of another machine counts. A holder without any heartbeat is
no worker of this kind, and keeps its lease.

A hub that does not answer takes no heartbeats. So the silence begins anew after each request of this worker that failed
or was slow.

To take an orphan over, the worker releases it and leases the task anew. The old lease is then a fence: a holder that
was only slow learns that its lease has ended, and its result is refused. Of two workers that take over at once, one
gets the task.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal
from uuid import UUID, uuid4

from a2a_hub_client.errors import HubError, RefusedError
from a2a_hub_client.models.tasks import HeldLease
from a2a_hub_client.models.wire import Moment
from a2a_hub_client.retry import seconds
from a2a_hub_client.worker.client import PAUSES, WorkerClient, insist
from a2a_hub_client.worker.job import LeasedTask

Resume = Literal["all", "idempotent", "none"]
LEAST_SILENCE = 30.0  # seconds
SILENT_HEARTBEATS = 3
LOOK_EVERY = 60.0  # seconds
LOOK_AGAIN = 5.0  # seconds after which an orphan that was not taken over yet is looked at again


@dataclass(frozen=True, slots=True, kw_only=True)
class Resuming:
    """Which leases of crashed workers a worker takes over.

    "idempotent" leaves tasks alone that may not be done twice. ``after`` is the seconds of silence. None: 30 seconds,
    and at least three heartbeats and the longest pause between two tries of a request. A task that was leased
    ``attempts`` times is left to an operator, as it may be the task that ends its workers.
    """

    which: Resume = "idempotent"
    after: float | None = None
    attempts: int = 5

    def silence(self, heartbeat: float) -> float:
        """Return the seconds of silence for a worker with this heartbeat. Raises `ValueError` for senseless values."""
        if self.attempts < 1:
            raise ValueError("resume_attempts must be at least 1")
        if self.after is None:
            return max(LEAST_SILENCE, SILENT_HEARTBEATS * heartbeat + seconds(PAUSES.longest_pause))
        if self.after <= heartbeat:
            raise ValueError("resume_after must be longer than the heartbeat, or it takes the tasks of live workers")
        return self.after


class Orphans:
    """The leases of other workers of the agent. A worker looks at them when it starts, and then each minute."""

    def __init__(
        self,
        hub: WorkerClient,
        resuming: Resuming,
        *,
        heartbeat: float,
        stopping: threading.Event,
        abandon: threading.Event,
        own: Callable[[], Collection[str]],
        say: Callable[[str], object],
    ) -> None:
        """Once ``stopping`` is set, it looks no more. Once ``abandon`` is set, failed requests are no longer repeated.

        ``own`` returns the ids of the leases that this worker holds. ``heartbeat`` is that of the worker, in seconds.
        Raises `ValueError` as `Resuming.silence`.
        """
        self._hub = hub
        self._resuming = resuming
        self._silence = resuming.silence(heartbeat)
        self._stopping = stopping
        self._abandon = abandon
        self._own = own
        self._say = say
        self._suspects: Mapping[UUID, Moment] = {}  # the time of the last heartbeat, by lease id
        self._since: float | None = None  # when the silence of the suspects began, by the monotonic clock
        self._ripe: list[HeldLease] = []  # leases to take over
        self._left: set[UUID] = set()  # leases that are left to an operator
        self._look_at: float | None = None if resuming.which == "none" else 0.0  # None: no more

    def look(self) -> None:
        """Look at the agent's leases if it is time to. Call this before the first receive, and again now and then."""
        if self._look_at is None or time.monotonic() < self._look_at:
            return
        self._look_at = None
        held_leases: list[HeldLease] = []

        def ask() -> None:
            with contextlib.suppress(RefusedError):  # the next receive shows the problem
                held_leases.extend(self._hub.leases())

        if not insist(ask, abandon=self._stopping, on_trouble=self._trouble):
            return
        if self._since is None:
            self._begin(held for held in held_leases if self._is_suspect(held))
        elif self._hub.troubled_at > self._since:
            self._begin(held for held in held_leases if held.id in self._suspects)
        else:
            self._judge(held_leases)

    def take_over(self) -> LeasedTask | None:
        """Take over the oldest orphan, None without one."""
        while self._ripe and not self._stopping.is_set():
            leased = self._take(self._ripe.pop(0))
            if leased is not None:
                return leased
        return None

    def _begin(self, suspects: Iterable[HeldLease]) -> None:
        """Let the silence of these leases begin."""
        self._ripe, self._since = [], time.monotonic()
        self._look_again(suspects, self._silence)

    def _judge(self, leases: Iterable[HeldLease]) -> None:
        """Keep the leases whose heartbeats stood still. They are looked at again if they are not taken over soon."""
        silent = [held for held in leases if self._suspects.get(held.id) == held.last_seen_at]
        self._ripe = [held for held in silent if self._may_repeat(held)]
        self._look_again(self._ripe, LOOK_AGAIN)

    def _look_again(self, suspects: Iterable[HeldLease], pause: float) -> None:
        """Look at these leases after the pause. Without any, look for new suspects after `LOOK_EVERY`."""
        self._suspects = {held.id: held.last_seen_at for held in suspects}
        if not self._suspects:
            self._since, pause = None, LOOK_EVERY
        self._look_at = time.monotonic() + pause

    def _take(self, held: HeldLease) -> LeasedTask | None:
        """Release the lease and lease its task. None: the task ended, or another worker has it."""
        task_id, attempt_id = str(held.task.id), uuid4()
        reason = f"taken over: its worker sent no heartbeat for {self._silence:g} s"
        taken: list[LeasedTask] = []

        def take() -> None:
            self._hub.release_lease(task_id, str(held.id), reason)
            taken.append(self._hub.lease(task_id, attempt_id))

        try:
            insist(take, abandon=self._abandon, on_trouble=self._trouble)
        except RefusedError as error:
            self._say(f"task {task_id}: not taken over: {error}")
            return None
        if taken:
            self._say(f"task {task_id}: taken over, as its worker sent no heartbeat for {self._silence:g} s")
        return taken[0] if taken else None

    def _is_suspect(self, held: HeldLease) -> bool:
        return self._is_repeatable(held) and held.last_seen_at > held.leased_at and str(held.id) not in self._own()

    def _is_repeatable(self, held: HeldLease) -> bool:
        declared = held.task.idempotency
        return self._resuming.which == "all" or (declared is not None and declared.duplicate_safety == "idempotent")

    def _may_repeat(self, held: HeldLease) -> bool:
        """Whether the task was not leased too often. Otherwise say that it is left to an operator."""
        if held.attempt < self._resuming.attempts:
            return True
        if held.id not in self._left:
            self._left.add(held.id)
            self._say(
                f"task {held.task.id}: not taken over: it was leased {held.attempt} times. Lease {held.id} is left."
            )
        return False

    def _trouble(self, error: HubError) -> None:
        self._say(f"Cannot look after leases that were left behind, trying again: {error}")

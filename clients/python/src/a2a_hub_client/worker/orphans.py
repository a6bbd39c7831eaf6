"""Leases that workers of the same agent left behind when they crashed.

A lease does not say which process holds it, and several workers of one agent may run at once. A live worker sends
heartbeats, so a lease is an orphan when its time of the last heartbeat stands still. The worker looks twice, and
compares; no clock of the hub or of another machine counts.

To take an orphan over, the worker releases it and leases the task anew. The old lease is then a fence: a holder that
was only slow learns that its lease has ended, and its result is refused. Of two workers that take over at once, one
gets the task.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal
from uuid import uuid4

from a2a_hub_client.errors import HubError, RefusedError
from a2a_hub_client.worker.backoff import insist
from a2a_hub_client.worker.client import WorkerClient
from a2a_hub_client.worker.leased_task import LeasedTask

Resume = Literal["all", "idempotent", "none"]


class Orphans:
    """The leases that a worker found at its start, until each has proved live or was taken over."""

    def __init__(
        self,
        hub: WorkerClient,
        *,
        which: Resume,
        silence: float,
        stopping: threading.Event,
        abandon: threading.Event,
        say: Callable[[str], object],
    ) -> None:
        """``silence`` is how many seconds a live worker is never silent. "idempotent" leaves all other tasks alone.

        Once ``stopping`` is set, it looks no more. Once ``abandon`` is set, failed requests are no longer repeated.
        """
        self._hub = hub
        self._which = which
        self._silence = silence
        self._stopping = stopping
        self._abandon = abandon
        self._say = say
        self._suspects: dict[str, int] = {}  # the time of the last heartbeat, by lease id
        self._ripe: list[Mapping[str, Any]] = []  # leases to take over
        self._look_at: float | None = None if which == "none" else 0.0  # by the monotonic clock; None: no more

    def look(self) -> None:
        """Look at the agent's leases if it is time to. Call this before the first receive, and again now and then."""
        if self._look_at is None or time.monotonic() < self._look_at:
            return
        is_first, self._look_at = self._look_at == 0.0, None
        found: list[Mapping[str, Any]] = []

        def ask() -> None:
            with contextlib.suppress(RefusedError):  # the next receive shows the problem
                found.extend(self._hub.leases())

        if not insist(ask, abandon=self._stopping, on_trouble=self._trouble):
            return
        if not is_first:
            self._ripe = [held for held in found if self._suspects.get(held["lease_id"]) == held["last_seen_at_ms"]]
            return
        self._suspects = {held["lease_id"]: held["last_seen_at_ms"] for held in found if self._is_repeatable(held)}
        self._look_at = time.monotonic() + self._silence if self._suspects else None

    def take_over(self) -> LeasedTask | None:
        """Take over the oldest orphan, None without one."""
        while self._ripe and not self._stopping.is_set():
            leased = self._take(self._ripe.pop(0))
            if leased is not None:
                return leased
        return None

    def _take(self, held: Mapping[str, Any]) -> LeasedTask | None:
        """Release the lease and lease its task. None: the task ended, or another worker has it."""
        task_id, lease_id, attempt_id = held["task"]["id"], held["lease_id"], uuid4()
        reason = f"taken over: its worker sent no heartbeat for {self._silence:g} s"
        taken: list[LeasedTask] = []

        def take() -> None:
            self._hub.release_lease(task_id, lease_id, reason)
            taken.append(self._hub.lease(task_id, attempt_id))

        try:
            insist(take, abandon=self._abandon, on_trouble=self._trouble)
        except RefusedError as error:
            self._say(f"task {task_id}: not taken over: {error}")
            return None
        if taken:
            self._say(f"task {task_id}: taken over, as its worker sent no heartbeat for {self._silence:g} s")
        return taken[0] if taken else None

    def _is_repeatable(self, held: Mapping[str, Any]) -> bool:
        safety = held["task"].get("idempotency", {}).get("duplicate_safety")
        return self._which == "all" or safety == "idempotent"

    def _trouble(self, error: HubError) -> None:
        self._say(f"Cannot look after leases that were left behind, trying again: {error}")

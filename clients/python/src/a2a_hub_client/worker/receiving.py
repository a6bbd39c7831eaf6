"""Leases tasks so that no lease is lost: a request whose answer was lost is repeated under its attempt id."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from uuid import uuid4

from a2a_hub_client.errors import AttemptSpentError, NotNowError
from a2a_hub_client.retry import Backoff
from a2a_hub_client.worker.backoff import PAUSES, pause
from a2a_hub_client.worker.client import WorkerClient
from a2a_hub_client.worker.leased_task import LeasedTask

# The worker waits for the end of a poll even when it stops. Otherwise it would lose a lease in the poll's answer.
POLL = 3.0  # seconds
REST = 1.0  # second after an answer without a task that came earlier, as from a hub without a free seat


class Receiving:
    """The receives of one worker, one at a time."""

    def __init__(
        self,
        hub: WorkerClient,
        *,
        stopping: threading.Event,
        abandon: threading.Event,
        say: Callable[[str], object],
    ) -> None:
        """Once ``stopping`` is set, only a request whose answer was lost is repeated; with ``abandon``, none."""
        self._hub = hub
        self._stopping = stopping
        self._abandon = abandon
        self._say = say
        self._attempt_id = uuid4()

    def next(self, most: int, poll: float) -> Sequence[LeasedTask]:
        """Lease tasks, at most ``most``, repeating the request until it is answered. Raises `RefusedError`.

        The list is empty if there is no task within ``poll`` seconds, and if the worker stops. The attempt id stays
        until it brings a task. An earlier request under it may go on in the hub and take a task, which the hub returns
        under this id only.
        """
        backoff = Backoff(PAUSES)
        trouble = False
        lost_until = None  # the latest end of an unanswered request in the hub; None: every request was answered
        while True:
            stopping = self._stopping.is_set()
            if self._abandon.is_set() or (stopping and lost_until is None):
                return []
            try:
                wait = max(0.0, lost_until - time.monotonic()) if stopping and lost_until else poll
                leases = self._receive(most, wait)
            except NotNowError as error:
                if not trouble:
                    self._say(f"Cannot lease a task now, trying again: {error}")
                trouble = True
                lost_until = time.monotonic() + POLL if error.may_have_arrived else lost_until
                (self._abandon if stopping else self._stopping).wait(pause(backoff, error))
            else:
                if trouble:
                    self._say("The hub answers again.")
                return leases

    def _receive(self, most: int, wait: float) -> Sequence[LeasedTask]:
        """Request tasks once. An attempt id that has brought a task, or is spent, is replaced by a new one."""
        ends_at = time.monotonic() + wait
        try:
            leases = self._hub.receive(self._attempt_id, most=most, wait=wait)
            if not leases and ends_at - time.monotonic() > REST:
                self._stopping.wait(REST)
        except AttemptSpentError:
            self._attempt_id = uuid4()
            return []
        self._attempt_id = uuid4() if leases else self._attempt_id
        return leases

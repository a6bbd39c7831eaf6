"""The reports of one attempt to the hub while its job runs: updates in their order, or heartbeats."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from a2a_hub_client.errors import HubError, NotNowError, RefusedError
from a2a_hub_client.refusals import ForbiddenError
from a2a_hub_client.retry import Backoff
from a2a_hub_client.worker.backoff import PAUSES, insist, pause
from a2a_hub_client.worker.client import LEASE_ENDED, WorkerClient
from a2a_hub_client.worker.leased_task import LeasedTask
from a2a_hub_client.worker.updates import Updates

FIRST = 0.9  # of a heartbeat's interval is left out before the first one, which shows that the holder sends some
BEAT_EVERY = 0.5  # seconds between the looks whether a heartbeat is due, while a request waits to be repeated


class Speech:
    """Posts the updates of a job under the lease, each once and in order."""

    def __init__(
        self,
        hub: WorkerClient,
        leased: LeasedTask,
        updates: Updates,
        *,
        is_strict: bool,
        heartbeat: float,
        abandon: threading.Event,
        read_on: Callable[[], object],
        log: Callable[[str], object],
    ) -> None:
        """``is_strict``: updates that the hub refuses fail the task. ``heartbeat`` is in seconds.

        ``read_on`` reads the new messages of the task's sender, and raises as a request does. Once ``abandon`` is set,
        failed requests are no longer repeated.
        """
        self.turn = leased.turn  # number of messages of the sender, by the hub's last answer
        self.refusal: str | None = None  # of updates that the hub refused, if it is strict
        self._hub = hub
        self._leased = leased
        self._updates = updates
        self._is_strict = is_strict
        self._heartbeat = heartbeat
        self._abandon = abandon
        self._read_on = read_on
        self._read_turn = leased.turn
        self._log = log
        self._unposted: Sequence[Mapping[str, Any]] = ()
        self._batch_id = uuid4()  # new for each batch
        self._backoff = Backoff(PAUSES)
        self._heard_at = time.monotonic() - FIRST * heartbeat
        self._quiet_until = 0.0

    def speak(self) -> None:
        """Post the job's new updates, or a heartbeat if it is due. If the hub cannot be reached, try later.

        Read on if the answer tells of new messages. Raises an error of `LEASE_ENDED`.
        """
        now = time.monotonic()
        if now < self._quiet_until:
            return
        self._gather()
        if not self._unposted and now - self._heard_at < self._heartbeat:
            return
        try:
            self._report()
        except LEASE_ENDED:
            raise
        except (NotNowError, ForbiddenError) as error:
            self._quiet_until = now + pause(self._backoff, error)
        except RefusedError as error:
            self._log(f"the hub refused a heartbeat, or to show the new messages: {error}")
            self._heard_at = now
        else:
            self._backoff = Backoff(PAUSES)
            self._heard_at = now

    def _report(self) -> None:
        """Post the updates or a heartbeat, once. Read on if the answer tells of new messages."""
        if self._unposted:
            self._post()
        else:
            self.turn = self._hub.heartbeat(self._leased)
        if self.turn > self._read_turn:
            self._read_on()
            self._read_turn = self.turn

    def flush(self) -> bool:
        """Post all updates that were not posted yet. False: the hub was given up."""
        while True:
            self._gather()
            if not self._unposted:
                return True
            if not self.insist(self._post):
                return False

    def insist(self, request: Callable[[], object]) -> bool:
        """Send ``request``, and repeat it until it succeeds, with heartbeats meanwhile. False: the hub was given up."""
        return insist(request, abandon=self._abandon, on_trouble=self._trouble, rest=self._rest)

    def beat(self) -> None:
        """Send a heartbeat if it is due, and ignore its refusal: another request of the attempt shows the problem."""
        now = time.monotonic()
        if now < self._quiet_until or now - self._heard_at < self._heartbeat:
            return
        try:
            self._hub.heartbeat(self._leased)
        except (NotNowError, ForbiddenError) as error:
            self._quiet_until = now + pause(self._backoff, error)
        except RefusedError:
            self._heard_at = now
        else:
            self._heard_at = now

    def _rest(self, seconds: float) -> bool:
        """Wait, with heartbeats; return whether the hub was given up."""
        ends_at = time.monotonic() + seconds
        while (left := ends_at - time.monotonic()) > 0 and not self._abandon.wait(min(left, BEAT_EVERY)):
            self.beat()
        return self._abandon.is_set()

    def _gather(self) -> None:
        """Take the next batch of updates from the job, once the hub has the last batch."""
        if not self._unposted:
            self._unposted, self._batch_id = self._updates.take(), uuid4()

    def _post(self) -> None:
        """Post the batch, once. A batch that the hub refuses for good is dropped."""
        try:
            self.turn = self._hub.update(self._leased, self._unposted, self._batch_id)
        except (*LEASE_ENDED, ForbiddenError):
            raise
        except RefusedError as error:
            refusal = f"the hub refused {len(self._unposted)} update(s): {error}"
            if self._is_strict:
                self.refusal = self.refusal or refusal
            else:
                self._log(refusal)
        self._unposted = ()

    def _trouble(self, error: HubError) -> None:
        self._log(f"the hub did not accept the request, trying again: {error}")

"""Carries the tasks of remote agents: whose turn it is, and how many at once."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from django.db import InterfaceError, OperationalError, close_old_connections, connections
from django.utils import timezone

from agentcards import carriage
from agentcards.models import RemoteCall

EXCHANGES = 16  # at once, with all remote agents together
LOOK_AROUND_EVERY = 0.5  # seconds

_logger = logging.getLogger(__name__)


class Carrier:
    """One process's part of the work; any number of carriers can share it."""

    def __init__(self) -> None:
        self._hands = ThreadPoolExecutor(EXCHANGES, thread_name_prefix="carrier")
        self._busy: set[Future[None]] = set()

    def run(self, stop: threading.Event) -> None:
        """Work until ``stop`` is set, then finish the exchanges that are under way."""
        while not stop.is_set():
            pause = LOOK_AROUND_EVERY
            try:
                self.look_around()
            except (OperationalError, InterfaceError):
                _logger.exception("the carrier cannot use the database")
                connections.close_all()
                pause *= 10
            stop.wait(pause)
        self._hands.shutdown()

    def look_around(self) -> None:
        """Start what there is to do: looks that are due, then new submissions, no more than there are hands."""
        now = timezone.now()
        self._busy = {exchange for exchange in self._busy if not exchange.done()}
        carriage.forget_ended()
        for call in carriage.take_due(now, limit=EXCHANGES - len(self._busy)):
            self._busy.add(self._hands.submit(_alone, carriage.look, call))
        for call in carriage.take_on(limit=EXCHANGES - len(self._busy)):
            self._busy.add(self._hands.submit(_alone, carriage.submit, call))
        close_old_connections()


def _alone(act: Callable[[RemoteCall], None], call: RemoteCall) -> None:
    """Do one exchange in a thread of its own; a failure that nobody foresaw is told and leaves the lease as it is."""
    try:
        act(call)
    except Exception:
        _logger.exception("the carrier failed at %s", call)
    finally:
        connections.close_all()  # the thread may end before it has another exchange to do

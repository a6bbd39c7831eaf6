"""Runs the jobs of the timetable, in one process and with threads."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import Error, close_old_connections, connections
from django.utils import timezone
from django.utils.module_loading import import_string

from mailbox.database import outages, timetable
from mailbox.database.timetable import Turn
from mailbox.inspection.health import cluster
from mailbox.repairs.auto_retry import failure_text

LOOK_AROUND_EVERY = 2.0  # seconds
STOPS_WITHIN = 2.0  # seconds that jobs have to end when the runner stops

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A job that runs since ``since``, a monotonic time in seconds."""

    turn: Turn
    thread: threading.Thread
    since: float


class JobRunner:
    """Runs the jobs that are due and records their results. Any number of processes can run a runner.

    Each job runs in a thread of its own. A job that runs here is not started again here, so a job that hangs occupies
    one thread.
    """

    def __init__(self, beat: Callable[[], object]) -> None:
        """``beat`` is called at each sign that jobs get done, from any thread.

        The signs are a job that ended here, also by a failure, a new sweep of any process, and an unusable database. A
        job that runs longer than the setting ``timeout`` of Q_CLUSTER suppresses all signs.
        """
        self._beat = beat
        self._running: list[Running] = []
        self._swept_at: datetime | None = None

    def run(self, stop: threading.Event) -> None:
        """Run jobs until ``stop`` is set. Then give running jobs `STOPS_WITHIN` seconds to end."""
        while not stop.is_set():
            pause = LOOK_AROUND_EVERY
            try:
                self.look_around()
            except Error as failure:
                if not outages.noted(failure):
                    _logger.exception("the task cluster cannot use the database")
                connections.close_all()
                self._report_progress()
                pause *= 5
            stop.wait(pause)
        give_up_at = time.monotonic() + STOPS_WITHIN
        for running in self._running:
            running.thread.join(max(0.0, give_up_at - time.monotonic()))

    def look_around(self) -> int:
        """Start the jobs that are due, and return their number."""
        close_old_connections()
        self._running = [running for running in self._running if running.thread.is_alive()]
        turns = timetable.take_due(timezone.now(), [running.turn.func for running in self._running])
        for turn in turns:
            thread = threading.Thread(target=self._run, args=(turn,), name=turn.func, daemon=True)
            self._running.append(Running(turn=turn, thread=thread, since=time.monotonic()))
            thread.start()
        if (swept_at := cluster.swept_at()) != self._swept_at:
            self._swept_at = swept_at
            self._report_progress()
        return len(turns)

    def _run(self, turn: Turn) -> None:
        started = timezone.now()
        try:
            error = import_string(turn.func)()
        except Exception as failure:  # any failure of a job must leave the runner running
            if not outages.noted(failure):
                _logger.exception("the job %s failed", turn.func)
            error = failure_text(failure)
        try:
            timetable.record(turn, started=started, error=error)
        except Error as failure:
            if not outages.noted(failure):
                _logger.exception("the result of the job %s cannot be stored", turn.func)
        connections.close_all()
        self._report_progress()

    def _report_progress(self) -> None:
        now, timeout = time.monotonic(), settings.Q_CLUSTER["timeout"]
        if all(now - running.since <= timeout for running in self._running if running.thread.is_alive()):
            self._beat()

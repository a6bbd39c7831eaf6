"""Runs the jobs of the timetable, in one process and with threads."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pydoc import locate
from typing import Any

from django.db import Error, close_old_connections, connections
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.conf import Conf
from django_q.scheduler import scheduler
from django_q.signing import SignedPackage

from mailbox.database import timetable
from mailbox.inspection.health import cluster

LOOK_AROUND_EVERY = 2.0  # seconds
STOPS_WITHIN = 2.0  # seconds that jobs have to end when the runner stops

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job taken from the queue. ``key`` is its place there."""

    key: int
    func: object
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A job that runs since ``since``, a monotonic time in seconds."""

    job: Job
    thread: threading.Thread
    since: float


class JobRunner:
    """Puts due jobs into the queue and runs queued jobs. Any number of processes can run a runner.

    Each job runs in a thread of its own, and as many threads as the setting ``workers`` of Q_CLUSTER run at once. A job
    with the arguments of a running job is dropped, so a job that hangs occupies one thread. Results are not kept.
    """

    def __init__(self, beat: Callable[[], object]) -> None:
        """``beat`` is called at each sign that jobs get done, from any thread.

        The signs are a job that ended here, also by a failure, a new sweep of any process, and an unusable database. A
        job that runs longer than the setting ``timeout`` suppresses all signs.
        """
        self._beat = beat
        self._broker = get_broker()
        self._running: list[Running] = []
        self._swept_at: datetime | None = None

    def run(self, stop: threading.Event) -> None:
        """Run jobs until ``stop`` is set. Then give running jobs `STOPS_WITHIN` seconds to end."""
        while not stop.is_set():
            pause = LOOK_AROUND_EVERY
            try:
                self.look_around()
            except Error:
                _logger.exception("the task cluster cannot use the database")
                connections.close_all()
                self._report_progress()
                pause *= 5
            stop.wait(pause)
        give_up_at = time.monotonic() + STOPS_WITHIN
        for running in self._running:
            running.thread.join(max(0.0, give_up_at - time.monotonic()))

    def look_around(self) -> int:
        """Queue the jobs that are due, and start queued jobs while threads are free; return their number."""
        close_old_connections()
        self._queue_due_jobs()
        self._running = [running for running in self._running if running.thread.is_alive()]
        before = len(self._running)
        while len(self._running) < Conf.WORKERS and self._broker.queue_size():
            for key, payload in self._broker.dequeue() or ():
                self._start(key, payload)
        if (swept_at := cluster.swept_at()) != self._swept_at:
            self._swept_at = swept_at
            self._report_progress()
        return len(self._running) - before

    def _queue_due_jobs(self) -> None:
        now = timezone.now()
        timetable.bring_near(now)
        if timetable.is_due(now):
            scheduler(self._broker)
            if timetable.is_due(now):  # it failed and has logged why: a database that takes no write is no hang
                self._report_progress()

    def _start(self, key: int, payload: str) -> None:
        """Start a job of the queue, or drop it if it is unreadable or runs already."""
        try:
            task = SignedPackage.loads(payload)
            job = Job(key=key, func=task["func"], args=task["args"], kwargs=task["kwargs"])
        except Exception:  # its pickle may raise any exception
            _logger.exception("a job in the queue cannot be read and is dropped")
            self._broker.acknowledge(key)
            return
        if any(_is_same(job, running.job) for running in self._running):
            self._broker.acknowledge(key)
            return
        thread = threading.Thread(target=self._run, args=(job,), name=f"job {key}", daemon=True)
        self._running.append(Running(job=job, thread=thread, since=time.monotonic()))
        thread.start()

    def _run(self, job: Job) -> None:
        try:
            func: Any = locate(job.func) if isinstance(job.func, str) else job.func
            func(*job.args, **job.kwargs)
        except Exception:  # any failure of a job must leave the runner running
            _logger.exception("the job %s failed", job.func)
        try:
            self._broker.acknowledge(job.key)
        except Error:
            _logger.exception("the job %s may run again: it cannot be removed from the queue", job.func)
        connections.close_all()
        self._report_progress()

    def _report_progress(self) -> None:
        now = time.monotonic()
        if all(now - running.since <= Conf.TIMEOUT for running in self._running if running.thread.is_alive()):
            self._beat()


def _is_same(job: Job, other: Job) -> bool:
    return (job.func, job.args, job.kwargs) == (other.func, other.args, other.kwargs)

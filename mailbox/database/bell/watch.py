"""The watch: looks for all waiters of this process together, so that a lost ring costs a few seconds and no more.

It also returns the memory that requests used before they began to wait.
"""

import ctypes
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection
from django.utils import timezone

from mailbox.database import listed, outages
from mailbox.database.bell import topics, waiters
from mailbox.words.times import epoch_ms

MORE = 100  # waits after whose begin memory is returned
EVERY = 4.5  # seconds between two rounds, so that a revoked key ends a wait within 5 seconds
EVERY_DUE = 0.5  # seconds between two looks for the next task that runs out of time, while its sender or a reader waits
EVERY_DEAF = 0.25  # seconds, while no ring of another process is heard
EARLY = (0.1, 0.5)  # seconds from a new announcement to the rounds that look for what was committed before it was heard
GATHERED = 0.05  # seconds
PAUSE_AFTER_FAILURE = 1.0  # second
MOST_OVERDUE = 10_000  # overdue tasks that a round looks at; the sweep resolves them all each minute
# A subquery with a limit runs once for each waiter, by an index, however many tasks are queued.
LEASABLE = """
SELECT waiting.id FROM ({ids}) waiting JOIN mailbox_agent agent ON agent.id = waiting.id
WHERE agent.paused_at IS NULL AND (
  SELECT 1 FROM mailbox_task task
  WHERE task.recipient_id = waiting.id AND task.state = 'queued' AND task.waits_on_id IS NULL
  ORDER BY task.queued_at, task.id LIMIT 1) = 1"""
MOVED = """
SELECT task.uuid, task.journal_seq,
  (task.state IN ('queued', 'interrupted') AND COALESCE(task.deadline_ms <= %(now_ms)s, false))
  OR EXISTS (SELECT 1 FROM mailbox_lease lease
             WHERE lease.task_id = task.id AND lease.ended_at IS NULL AND lease.times_out_at <= %(now)s)
FROM mailbox_task task WHERE task.uuid IN ({ids})"""
NEXT_DUE = """
SELECT (SELECT min(deadline_ms) FROM mailbox_task
        WHERE state IN ('queued', 'interrupted') AND deadline_ms > %(after_ms)s),
       (SELECT min(times_out_at) FROM mailbox_lease WHERE ended_at IS NULL AND times_out_at > %(after)s)"""
_KEYS = {"postgresql": "SELECT unnest(%(ids)s::bigint[]) AS id", "sqlite": "SELECT value AS id FROM json_each(%(ids)s)"}
_logger = logging.getLogger(__name__)
_checks: list[Callable[[], object]] = []


class Memory:
    """The free memory of this process. The C library keeps it after a crowd of requests, mostly on SQLite."""

    def __init__(self) -> None:
        self._begun = 0  # waits when memory was returned last

    def give_back(self) -> bool:
        """Return free memory to the system if `MORE` waits have begun since the last time; return whether they have."""
        begun = waiters.begun()
        if begun < self._begun + MORE:
            return False
        self._begun = begun
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # only glibc has this function
        if trim is not None:
            trim(0)
        return True


DRAINABLE = """
SELECT waiting.id FROM ({ids}) waiting
WHERE (SELECT 1 FROM mailbox_result result WHERE result.sender_id = waiting.id AND result.delivery = 'pending'
       ORDER BY result.posted_at, result.id LIMIT 1) = 1
UNION
SELECT overdue.sender_id FROM (
  SELECT sender_id FROM mailbox_task WHERE state IN ('queued', 'interrupted') AND deadline_ms <= %(now_ms)s
  ORDER BY deadline_ms LIMIT %(most)s) overdue
UNION
SELECT task.sender_id FROM (
  SELECT task_id FROM mailbox_lease WHERE ended_at IS NULL AND times_out_at <= %(now)s
  ORDER BY times_out_at LIMIT %(most)s) timed_out
JOIN mailbox_task task ON task.id = timed_out.task_id"""


def each_round(check: Callable[[], object]) -> Callable[[], object]:
    """Let the watch call ``check`` every `EVERY` seconds while there are waiters, in its thread."""
    _checks.append(check)
    return check


class _Early:
    """The early rounds that are to come."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.at: list[float] = []  # monotonic, the next first
        self.is_new = threading.Event()

    def add(self, *at: float) -> None:
        """Plan rounds for these times. Rounds within `GATHERED` become one."""
        with self.lock:
            self.at = sorted({*self.at, *(GATHERED * math.ceil(moment / GATHERED) for moment in at)})
        self.is_new.set()

    def take(self, now: float) -> None:
        with self.lock:
            self.at = [at for at in self.at if at > now]


_early = _Early()
os.register_at_fork(after_in_child=_early.__init__)  # type: ignore[misc] # a new process has announced nothing


def look_soon() -> None:
    """Make two early rounds, since other processes have not yet heard of a new waiter."""
    now = time.monotonic()
    _early.add(*(now + seconds for seconds in EARLY))


@waiters.when_a_round_is_due
def look_now() -> None:
    """Make the next round at once."""
    _early.add(time.monotonic())


class Watch:
    """The rounds of one process."""

    def __init__(self) -> None:
        self._seen: dict[UUID, int] = {}  # the journal numbers of the tasks that were waited for at the last round
        self._checked_at = time.monotonic()
        self._looked_at = timezone.now()
        self._memory = Memory()

    def run(self) -> None:
        """Look while there are waiters. Never returns."""
        while True:
            waiters.wait_for_anyone()
            try:
                self._await_round()
                self.look()
            except (DatabaseError, InterfaceError) as error:
                outages.note(error)
                time.sleep(PAUSE_AFTER_FAILURE)
            except Exception:
                _logger.exception("the watch over waiting threads failed")
                time.sleep(PAUSE_AFTER_FAILURE)
            finally:
                connection.close()

    def _await_round(self) -> None:
        """Sleep until the next round is due."""
        began_at = time.monotonic()
        while (left := self._seconds_left(began_at)) > 0:
            connection.close()
            _early.is_new.wait(min(left, EVERY_DUE))
            _early.is_new.clear()
        _early.take(time.monotonic())

    def _seconds_left(self, began_at: float) -> float:
        """Return the seconds until the next round. It is earlier than usual if a task runs out of time before."""
        now, is_deaf = time.monotonic(), not waiters.is_hearing()
        left = min([began_at + (EVERY_DEAF if is_deaf else EVERY), *_early.at]) - now
        if is_deaf or left <= 0:
            return left
        return min(left, max(self._seconds_until_due(), began_at + EVERY_DEAF - now))

    def look(self) -> None:
        """Make one round."""
        self._looked_at = timezone.now()
        waited = waiters.waited()
        shared = [*map(topics.agent, self._leasable(waited)), *map(topics.sender, self._drainable(waited))]
        waiters.wake(dict.fromkeys(shared, 1), is_chained=True)
        others = [topic for topic in waited if topic in topics.WITHOUT_LOOK]
        waiters.wake(dict.fromkeys([*map(topics.task, self._moved(waited)), *others], 1))
        if time.monotonic() - self._checked_at >= EVERY:
            self._checked_at = time.monotonic()
            self._memory.give_back()
            for check in _checks:
                check()

    def _leasable(self, waited: Sequence[str]) -> Sequence[int]:
        """Return the waiting agents with a task to lease."""
        keys = topics.agents_among(waited)
        return [row[0] for row in _rows(LEASABLE, _KEYS, keys)] if keys else []

    def _drainable(self, waited: Sequence[str]) -> Sequence[int]:
        """Return the waiting agents with a pending result, and all agents whose tasks are out of time."""
        keys = topics.senders_among(waited)
        return [row[0] for row in _rows(DRAINABLE, _KEYS, keys)] if keys else []

    def _moved(self, waited: Sequence[str]) -> Iterable[UUID]:
        """Return the waited tasks that changed since the last round, are out of time, or were not waited for then."""
        ids = topics.tasks_among(waited)
        rows = _rows(MOVED, listed.UUIDS, ids) if ids else []
        now = {UUID(str(uuid)): seq for uuid, seq, _ in rows}
        due = {UUID(str(uuid)) for uuid, _, is_due in rows if is_due}
        before, self._seen = self._seen, now
        return [uuid for uuid in ids if uuid in due or uuid not in now or before.get(uuid) != now[uuid]]

    def _seconds_until_due(self) -> float:
        """Return the seconds until a task runs out of time that the last round did not see as such."""
        if not waiters.is_any_waited(topics.may_run_out):
            return EVERY
        ((deadline_ms, times_out_at),) = _rows(NEXT_DUE, {}, [], after=self._looked_at)
        now, left = timezone.now(), [EVERY]
        if deadline_ms is not None:
            left.append((deadline_ms - epoch_ms(now)) / 1000)
        if times_out_at is not None:
            left.append((listed.moment(times_out_at) - now).total_seconds())
        return min(left)


def _rows(
    sql: str, slots: Mapping[str, str], ids: Sequence[Any], *, after: datetime | None = None
) -> Sequence[tuple[Any, ...]]:
    now = timezone.now()
    after = after or now
    values = {
        "ids": listed.array(ids),
        "now": connection.ops.adapt_datetimefield_value(now),
        "now_ms": epoch_ms(now),
        "after": connection.ops.adapt_datetimefield_value(after),
        "after_ms": epoch_ms(after),
        "most": MOST_OVERDUE,
    }
    with connection.cursor() as cursor:
        cursor.execute(sql.format(ids=slots.get(connection.vendor, "")), values)
        rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
        return rows

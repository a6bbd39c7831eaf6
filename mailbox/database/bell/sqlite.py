"""Rings between processes on SQLite: while anyone waits, one thread follows the journal."""

import logging
import math
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connections

from mailbox.database import outages
from mailbox.database.bell import topics, waiters
from mailbox.words.kinds import Kind

EVERY = 0.02  # seconds between two looks whether another connection has committed
GATHERED = 0.002  # seconds between two looks at least, so that one look reads the rows of many commits
MOST_ROWS = 1000  # journal rows of one statement
PAUSE = 1.0  # second after a failure

# SQLite gives its ids in the order of the commits, so a new row has a greater id than the last row read.
NEW_ROWS = f"""
SELECT event.id, event.kind, task.uuid, task.sender_id, task.recipient_id, task.calls_back
FROM mailbox_auditevent event LEFT JOIN mailbox_task task ON task.uuid = event.task_id
WHERE event.id > ? ORDER BY event.id LIMIT {MOST_ROWS}"""  # noqa: S608 (a number of our own)

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Changed:
    uuid: UUID
    sender_id: int
    recipient_id: int
    calls_back: bool


class Follower:
    """Rings the waiters of this process for each new row of the journal, also for the rows of this process."""

    def __init__(self) -> None:
        self._silence = threading.Lock()  # held until this process commits; an event's wait costs twice as much
        self._silence.acquire()

    def tell(self) -> None:
        """Let the thread read the journal at once, since this process has committed."""
        with suppress(RuntimeError):  # it knows already
            self._silence.release()

    def run(self) -> None:
        """Follow the journal while there are waiters. Never returns."""
        while True:
            waiters.wait_for_anyone()
            try:
                with closing(connections.create_connection("default")) as wrapper:
                    wrapper.ensure_connection()
                    self._follow(wrapper.connection)
            except (DatabaseError, InterfaceError) as error:
                outages.note(error)
                time.sleep(PAUSE)
            except Exception:
                _logger.exception("the bell failed to follow the journal")
                time.sleep(PAUSE)
            finally:
                waiters.lose_hearing()

    def _follow(self, own: Any) -> None:
        (last,) = own.execute("SELECT COALESCE(max(id), 0) FROM mailbox_auditevent").fetchone()
        version = None
        waiters.begin_hearing()
        looked_at = -math.inf
        while waiters.is_anyone_here():
            is_notified = self._silence.acquire(timeout=EVERY)
            if is_notified and (early := looked_at + GATHERED - time.monotonic()) > 0:
                time.sleep(early)
                self._silence.acquire(blocking=False)
            looked_at = time.monotonic()
            before, version = version, own.execute("PRAGMA data_version").fetchone()
            if is_notified or version != before:
                last = self._ring_after(own, last)

    def _ring_after(self, own: Any, last: int) -> int:
        """Ring for the journal rows after this id; return the id of the newest."""
        while True:
            rows = own.execute(NEW_ROWS, [last]).fetchall()
            waiters.wake(Counter(topic for row in rows for topic in _topics(*row[1:])))
            last = rows[-1][0] if rows else last
            if len(rows) < MOST_ROWS:
                return last


def _topics(kind: str, uuid: str | None, *parties: Any) -> Iterator[str]:
    known = Kind(kind)
    yield from topics.of_kind(known)
    if uuid is not None:
        yield from topics.of_task(known, _Changed(UUID(uuid), *parties))


follower = Follower()
os.register_at_fork(after_in_child=follower.__init__)  # type: ignore[misc] # a new process has no such thread

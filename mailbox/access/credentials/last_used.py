"""Notes when keys and public routes were last used. Callers that come at once share one commit."""

import os
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, connection

from mailbox.database import outages, write_turns
from mailbox.models import ApiKey, PublicRoute, SigningKey

NOTED_EVERY = timedelta(minutes=1)
LONGEST_WAIT = 10.0  # seconds for the writes of others

UNLOCKED = """
UPDATE {table} SET last_used_at = %(at)s
WHERE id IN (SELECT id FROM {table} WHERE id = ANY (%(ids)s) FOR NO KEY UPDATE SKIP LOCKED)"""

Used = type[ApiKey] | type[SigningKey] | type[PublicRoute]


class _Uses:
    """The uses that are not yet written, and the lock of the one thread of this process that writes them."""

    def __init__(self) -> None:
        self.unwritten: dict[tuple[Used, int], datetime] = {}
        self.turn = threading.Lock()

    def take(self) -> Mapping[Used, Mapping[int, datetime]]:
        taken: dict[Used, dict[int, datetime]] = {}
        while self.unwritten:
            (used, pk), at = self.unwritten.popitem()
            taken.setdefault(used, {})[pk] = at
        return taken


_here = _Uses()
os.register_at_fork(after_in_child=_here.__init__)  # type: ignore[misc] # a new process has no uses


def note(used: Used, pk: int, now: datetime) -> None:
    """Write ``now`` as the last use of the key or route with this primary key; return once that is committed.

    A thread that gets its turn also writes the uses of all threads that wait for theirs. So a crowd that comes at once,
    for example after a restart of the hub, costs few commits. If the row is locked or the write fails, the next use of
    the key tries again. Nothing is raised then, because the caller may only want to read. A read-only server raises
    `OperationalError`, because a standby may show old rows.
    """
    own = (used, pk)
    _here.unwritten[own] = now
    if not _here.turn.acquire(timeout=LONGEST_WAIT):
        return
    try:
        if own in _here.unwritten:
            for kind, uses in _here.take().items():
                _write(kind, uses)
    except (OperationalError, InterfaceError) as error:
        if outages.kind(error) is outages.Outage.READ_ONLY:
            raise
        outages.note(error)
    finally:
        _here.turn.release()


def _write(used: Used, uses: Mapping[int, datetime]) -> None:
    latest = max(uses.values())
    if connection.vendor == "postgresql":  # in one statement, which waits for no lock, as others wait for their turn
        table = used._meta.db_table
        with connection.cursor() as cursor:
            cursor.execute(UNLOCKED.format(table=table), {"at": latest, "ids": list(uses)})
        return
    with write_turns.turn():
        used._default_manager.filter(pk__in=uses).update(last_used_at=latest)

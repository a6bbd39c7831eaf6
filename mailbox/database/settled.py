"""The settled ids of a table: those that no running transaction can still commit.

PostgreSQL gives an id when a row is inserted, not when it is committed, so a smaller id may appear after a larger id.
"""

import time

from django.db import connection
from django.db.models import Max, Model

LONGEST_WAIT = 2.0  # seconds to wait for transactions that run
PAUSE = 0.02

# A transaction holds this lock from before its first id until its end. The table of locks is exact, unlike a snapshot:
# a transaction may have drawn an id before it got a transaction number.
_WRITERS = """
SELECT virtualtransaction FROM pg_locks
WHERE locktype = 'relation' AND relation = %s::regclass AND granted AND pid IS DISTINCT FROM pg_backend_pid()
  AND mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


def through(model: type[Model]) -> int | None:
    """Return an id up to which every row of the table is committed, or never will be.

    On PostgreSQL that is the newest id that was drawn. The transactions that write the table at this moment must end
    first. None: one of them outlasts `LONGEST_WAIT`. No writer waits. On SQLite one transaction writes at a time, so
    ids are committed in their order.
    """
    if connection.vendor != "postgresql":
        newest = model._default_manager.aggregate(newest=Max("pk"))["newest"]
        return int(newest or 0)
    table = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_get_serial_sequence(%s, 'id')", [table])
        (sequence,) = cursor.fetchone()
        cursor.execute(f"SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM {sequence}")  # noqa: S608 (PostgreSQL names it)
        (drawn,) = cursor.fetchone()
        give_up_at = time.monotonic() + LONGEST_WAIT
        writing = _writers(table)
        while writing:
            if time.monotonic() > give_up_at:
                return None
            time.sleep(PAUSE)
            writing &= _writers(table)
    return int(drawn)


def _writers(table: str) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(_WRITERS, [table])
        return {row[0] for row in cursor.fetchall()}

"""The bytes of changed and deleted rows that SQLite keeps: in its full-text tables and in its write-ahead log."""

from django.db import connection

from mailbox.database import write_turns

PAGES_AT_ONCE = 200  # of a full-text table in one transaction, which holds the write lock for some 30 ms


def forget() -> bool:
    """Remove the old bytes from SQLite's full-text tables and its write-ahead log; return whether the log is empty.

    The log keeps the earlier bytes of a row until later writes take their place. Other tables keep none, since the
    hub's connections have ``secure_delete``. A long read of another connection keeps the log for longer than the
    connection's timeout. On PostgreSQL, and within a transaction, nothing is done.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return True
    for table in _full_text_tables():
        _merge(table)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        busy, *_ = cursor.fetchone()
    return not busy


def _full_text_tables() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%% USING fts5(%%'")
        return [name for (name,) in cursor.fetchall()]


def _merge(table: str) -> None:
    """Write the table's segments into one, which has no deleted word.

    FTS5 deletes a word by a mark in a newer segment, and its own merges may leave the older one for years. ``optimize``
    merges all of them in one transaction. Steps leave the write lock to others in between. ``secure-delete`` of SQLite
    3.42 would slow down every deletion, and older versions of SQLite could not read the file.
    """
    pages = -PAGES_AT_ONCE  # the first step takes all segments that there are
    while True:
        with write_turns.turn(), connection.cursor() as cursor:
            before = connection.connection.total_changes
            cursor.execute(f"INSERT INTO {table}({table}, rank) VALUES ('merge', %s)", [pages])  # noqa: S608 (a name)
            if connection.connection.total_changes - before < 2:  # FTS5's sign that nothing is left to merge
                return
        pages = PAGES_AT_ONCE

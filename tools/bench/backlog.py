"""Loads a long queue by SQL: copies of a task that was sent through the API."""

import sqlite3

import psycopg

COPIED = (
    "sender_id, recipient_id, intent_text, metadata, source, dialect, calls_back, state, attempt, sent_at, journal_seq"
)
COLUMNS = f"{COPIED}, uuid, queued_at"
POSTGRESQL = """
INSERT INTO mailbox_task ({columns})
SELECT {copied}, gen_random_uuid(), queued_at + place * interval '1 microsecond'
FROM mailbox_task, generate_series(1, %s) AS place WHERE uuid = %s
"""
SQLITE = """
WITH RECURSIVE series (place) AS (SELECT 1 UNION ALL SELECT place + 1 FROM series WHERE place < ?)
INSERT INTO mailbox_task ({columns})
SELECT {copied}, lower(hex(randomblob(16))), queued_at
FROM mailbox_task, series WHERE uuid = ?
"""


def load(url: str, task_id: str, count: int) -> None:
    """Queue ``count`` copies of a queued task behind it."""
    if url.startswith("postgres"):
        with psycopg.connect(url, autocommit=True) as postgresql:
            postgresql.execute("SET statement_timeout = 0")
            postgresql.execute(POSTGRESQL.format(columns=COLUMNS, copied=COPIED).encode(), [count, task_id])
            postgresql.execute("VACUUM ANALYZE mailbox_task")
        return
    sqlite = sqlite3.connect(url.removeprefix("sqlite:///"), timeout=60)
    with sqlite:
        sqlite.execute(SQLITE.format(columns=COLUMNS, copied=COPIED), [count, task_id.replace("-", "")])
    sqlite.close()

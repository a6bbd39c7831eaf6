"""Loads many tasks of a busy SQLite hub by SQL, in the proportions of `crowd`."""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing

TASKS = """
WITH RECURSIVE series (place) AS (SELECT 1 UNION ALL SELECT place + 1 FROM series WHERE place < :tasks),
agents AS (SELECT key AS number, value AS id FROM json_each(:agents)),
planned AS (
    SELECT place, datetime('now', '-2 minutes', ((place - :tasks) * 604800.0 / :tasks) || ' seconds') AS at,
           CASE WHEN place % 100 = 0 THEN 'in_flight'
                WHEN place > :tasks - :tasks / 50 THEN 'queued' ELSE 'resolved' END AS state
    FROM series
)
INSERT INTO mailbox_task (
    uuid, sender_id, recipient_id, intent_text, duplicate_safety, idempotency_key, metadata, source, dialect,
    calls_back, state, outcome, attempt, sent_at, queued_at, resolved_at, journal_seq)
SELECT lower(hex(randomblob(16))), sender.id, recipient.id, 'Book a hotel in Lisbon for three nights, number ' || place,
       CASE WHEN place % 10 = 1 THEN 'unsafe' END, CASE WHEN place % 10 = 1 THEN 'inv-' || place END,
       '{}', 'agent', 'mailbox', 0, state, CASE WHEN state = 'resolved' THEN CASE
           WHEN place % 50 = 7 THEN 'error' WHEN place % 200 = 9 THEN 'partial' ELSE 'ok' END END,
       CASE WHEN state = 'queued' THEN 0 ELSE 1 END, at, at, CASE WHEN state = 'resolved' THEN at END,
       CASE WHEN state = 'queued' THEN 1 ELSE 4 END
FROM planned JOIN agents AS sender ON sender.number = place % :many
     JOIN agents AS recipient ON recipient.number = (place * 7 + 1) % :many ORDER BY place
"""
LEASES = """
INSERT INTO mailbox_lease (lease_id, task_id, holder_id, attempt, leased_at, last_seen_at, ended_at, "end",
                           receive_index)
SELECT lower(hex(randomblob(16))), id, recipient_id, 1, sent_at, sent_at, resolved_at,
       CASE WHEN state = 'resolved' THEN 'result' END, 0
FROM mailbox_task WHERE state <> 'queued' AND id > :after ORDER BY id
"""
RESULTS = """
INSERT INTO mailbox_result (task_id, sender_id, recipient_id, status, content, posted_by_id, posted_at, delivery,
                            delivered_at, acked_at, receive_index)
SELECT id, sender_id, recipient_id, outcome, '[]', recipient_id, resolved_at,
       CASE WHEN id % 500 = 3 THEN 'pending' ELSE 'acked' END, CASE WHEN id % 500 <> 3 THEN resolved_at END,
       CASE WHEN id % 500 <> 3 THEN resolved_at END, 0
FROM mailbox_task WHERE state = 'resolved' AND id > :after ORDER BY id
"""
JOURNAL = """
WITH life (kind, seq) AS (
    VALUES ('capability_check', NULL), ('a2a_task_sent', 1), ('a2a_task_leased', 2), ('a2a_result_posted', 3),
           ('a2a_result_delivered', 4))
INSERT INTO mailbox_auditevent (kind, actor, actor_pubkey, task_id, seq, data, at, request_id, source)
SELECT life.kind, agent.display, agent.pubkey, task.uuid, life.seq, '{"sender":"a","recipient":"b"}', task.sent_at, '',
       'api'
FROM mailbox_task AS task JOIN mailbox_agent AS agent ON agent.id = task.sender_id JOIN life
WHERE (life.seq IS NULL OR life.seq <= task.journal_seq) AND task.id > :after ORDER BY task.id
"""


def add(url: str, agents: Sequence[int], count: int) -> None:
    """Add ``count`` tasks between the agents with these primary keys."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=60)) as sqlite, sqlite:
        (after,) = sqlite.execute("SELECT coalesce(max(id), 0) FROM mailbox_task").fetchone()
        values = {"agents": json.dumps(list(agents)), "many": len(agents), "tasks": count, "after": after}
        for statement in (TASKS, LEASES, RESULTS, JOURNAL):
            sqlite.execute(statement, values)


def keys(url: str) -> list[int]:
    """Return the primary keys of all agents for load."""
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=60)) as sqlite:
        rows = sqlite.execute("SELECT id FROM mailbox_agent WHERE display LIKE '%@load' ORDER BY id")
        return [row[0] for row in rows.fetchall()]

"""Loads a week of a busy PostgreSQL hub by SQL: tasks in all states of many agents, with leases, results, journal."""

import contextlib
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg

# One task in 100 is in flight, however long ago it was sent; the newest one in 50 waits. Settled tasks have all ended,
# and their results are acknowledged. One task in 20 has four children.
TASKS = """
INSERT INTO mailbox_task (
    uuid, sender_id, recipient_id, intent_text, task_kind, parent, duplicate_safety, idempotency_key, metadata, source,
    dialect, calls_back, state, outcome, attempt, sent_at, queued_at, resolved_at, journal_seq)
SELECT md5(%(salt)s || place)::uuid, %(agents)s[1 + place %% %(many)s], %(agents)s[1 + (place * 7 + 1) %% %(many)s],
       'Book a hotel in Lisbon for three nights, number ' || place, CASE WHEN place %% 10 = 0 THEN 'book' END,
       CASE WHEN place > 20 AND place %% 20 BETWEEN 1 AND 4 THEN md5(%(salt)s || (place - place %% 20))::uuid END,
       CASE WHEN place %% 10 = 1 THEN 'unsafe' END, CASE WHEN place %% 10 = 1 THEN 'inv-' || place END,
       '{}', 'agent', 'mailbox', false, state, CASE WHEN state = 'resolved' THEN CASE
           WHEN place %% 50 = 7 THEN 'error' WHEN place %% 200 = 9 THEN 'partial' ELSE 'ok' END END,
       CASE WHEN state = 'queued' THEN 0 ELSE 1 END, at, at,
       CASE WHEN state = 'resolved' THEN at + took END, CASE WHEN state = 'queued' THEN 1 ELSE 4 END
FROM (
    SELECT place, now() - interval '2 minutes' - (%(tasks)s - place) * (interval '7 days' / %(tasks)s) AS at,
           interval '10 milliseconds' * (1 + place * 37 %% 3000) AS took,
           CASE WHEN %(settled)s THEN 'resolved' WHEN place %% 100 = 0 THEN 'in_flight'
                WHEN place > %(tasks)s - %(tasks)s / 50 THEN 'queued' ELSE 'resolved' END AS state
    FROM generate_series(1, %(tasks)s) AS place
) AS planned ORDER BY place
"""
LEASES = """
INSERT INTO mailbox_lease (lease_id, task_id, holder_id, attempt, leased_at, last_seen_at, ended_at, "end",
                           receive_index)
SELECT gen_random_uuid(), id, recipient_id, 1, sent_at + interval '5 milliseconds', sent_at, resolved_at,
       CASE WHEN state = 'resolved' THEN 'result' END, 0
FROM mailbox_task WHERE state <> 'queued' AND id > %(after)s ORDER BY id
"""
RESULTS = """
INSERT INTO mailbox_result (task_id, sender_id, recipient_id, status, content, error_message, posted_by_id, posted_at,
                            delivery, delivered_at, acked_at, receive_index)
SELECT id, sender_id, recipient_id, outcome, '[]',
       CASE WHEN outcome = 'error' THEN CASE id %% 3 WHEN 0 THEN 'Upstream timed out after ' || id || ' ms'
           WHEN 1 THEN 'No rooms left at hotel ' || id ELSE 'Rate limit exceeded' END END, recipient_id, resolved_at,
       CASE WHEN is_pending THEN 'pending' ELSE 'acked' END, CASE WHEN NOT is_pending THEN resolved_at END,
       CASE WHEN NOT is_pending THEN resolved_at END, 0
FROM (
    SELECT *, id %% 500 = 3 AND NOT %(settled)s AS is_pending FROM mailbox_task
    WHERE state = 'resolved' AND id > %(after)s
) AS ended ORDER BY resolved_at
"""
JOURNAL = """
INSERT INTO mailbox_auditevent (kind, actor, actor_pubkey, task_id, seq, data, at, request_id, source)
SELECT row.kind, agent.display, agent.pubkey, task.uuid, row.seq, '{"sender":"a","recipient":"b"}',
       task.sent_at + row.after, '', 'api'
FROM mailbox_task task JOIN mailbox_agent agent ON agent.id = task.sender_id,
     LATERAL (VALUES ('capability_check', NULL::integer, interval '0'), ('a2a_task_sent', 1, interval '0'),
                     ('a2a_task_leased', 2, interval '5 milliseconds'), ('a2a_result_posted', 3, interval '1 second'),
                     ('a2a_result_delivered', 4, interval '2 seconds')) AS row (kind, seq, after)
WHERE (row.seq IS NULL OR row.seq <= task.journal_seq) AND task.id > %(after)s ORDER BY task.id
"""
PEOPLE = """
INSERT INTO mailbox_auditevent (kind, actor, task_id, data, at, request_id, source)
SELECT 'a2a_repair_applied', 'user:ana', gen_random_uuid(), '{"action":"requeue","reason":"pod restarted"}',
       now() - place * interval '5 minutes', '', 'dashboard'
FROM generate_series(1, 2000) AS place
"""
# One callback for every 50 tasks. One of them in 40 has given up, and one in 100 is on its way.
CALLBACKS = """
INSERT INTO mailbox_pushdelivery (delivery_id, task_uuid, sender_id, url, body, created_at, state, attempts, forgiven,
                                  next_attempt_at, delivered_at)
SELECT gen_random_uuid(), uuid, sender_id, 'https://receiver.example/done', '{}', resolved_at, state, 1, 0, resolved_at,
       CASE WHEN state = 'delivered' THEN resolved_at END
FROM (
    SELECT uuid, sender_id, resolved_at,
           CASE WHEN id %% 2000 = 0 THEN 'disabled' WHEN id %% 5000 = 50 THEN 'pending' ELSE 'delivered' END AS state
    FROM mailbox_task WHERE outcome IS NOT NULL AND id %% 50 = 0
) AS told ORDER BY resolved_at
"""
ATTEMPTS = """
INSERT INTO mailbox_pushattempt (delivery_id, number, at, status, problem)
SELECT id, 1, created_at, CASE WHEN state = 'delivered' THEN 200 ELSE 503 END,
       CASE WHEN state = 'delivered' THEN '' ELSE 'the receiver answered 503' END FROM mailbox_pushdelivery
"""
DEPTHS = """
INSERT INTO mailbox_depth (agent_id, minute, queued, leased, stale)
SELECT agent, minute, 100, 50, 5
FROM generate_series(date_trunc('minute', now()) - interval '7 days', now() - interval '2 minutes',
                     interval '1 minute') AS minute,
     unnest(array_append(%(agents)s::bigint[], NULL)) AS agent
"""
# The hub's own first journal rows become older than the loaded week, so that the order of keys is the order of time.
OLDER = (
    "ALTER TABLE mailbox_auditevent DISABLE TRIGGER mailbox_auditevent_append_only",
    "UPDATE mailbox_auditevent SET at = at - interval '8 days'",
    "ALTER TABLE mailbox_auditevent ENABLE TRIGGER mailbox_auditevent_append_only",
)


FILLED = ("mailbox_task", "mailbox_lease", "mailbox_result", "mailbox_auditevent")
SECONDARY = """
SELECT pg_get_indexdef(indexrelid), indexrelid::regclass::text FROM pg_index
WHERE indrelid = ANY (%s::regclass[]) AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
"""
UNIQUE = """
SELECT format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass, conname, pg_get_constraintdef(oid)),
       format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname)
FROM pg_constraint WHERE conrelid = ANY (%s::regclass[]) AND contype = 'u'
"""
AT_ONCE = 1_000_000  # tasks in one transaction


def load(url: str, agents: Sequence[int], count: int) -> None:
    """Fill an empty hub with ``count`` tasks between the agents with these primary keys."""
    with psycopg.connect(url) as postgresql:
        postgresql.execute("SET statement_timeout = 0")
        # Rolled-up minutes of the empty hub would hide the loaded rows.
        postgresql.execute("INSERT INTO mailbox_rollupturn (id) VALUES (1) ON CONFLICT DO NOTHING")
        postgresql.execute("SELECT id FROM mailbox_rollupturn FOR UPDATE")
        postgresql.execute("DELETE FROM mailbox_rollup")
        for statement in OLDER:
            postgresql.execute(statement.encode())
        _add(postgresql, agents, count, settled=False)
        for statement in (PEOPLE, CALLBACKS, ATTEMPTS, DEPTHS):
            postgresql.execute(statement.encode(), {"agents": list(agents)})
    vacuum(url)


def add(url: str, agents: Sequence[int], count: int, *, settled: bool = False) -> None:
    """Add tasks to a hub that does not work meanwhile. Foreign keys are not checked."""
    with psycopg.connect(url, autocommit=True) as postgresql:
        postgresql.execute("SET statement_timeout = 0")
        postgresql.execute("SET session_replication_role = replica")
        postgresql.execute("SET synchronous_commit = off")
        for done in range(0, count, AT_ONCE):
            with postgresql.transaction():
                _add(postgresql, agents, min(AT_ONCE, count - done), settled=settled)


@contextlib.contextmanager
def without_indexes(url: str) -> Iterator[None]:
    """Drop the indexes of the filled tables, but the primary keys; make them again after the block."""
    with psycopg.connect(url, autocommit=True) as postgresql:
        postgresql.execute("SET statement_timeout = 0")
        postgresql.execute("SET maintenance_work_mem = '1GB'")
        unique = postgresql.execute(UNIQUE, [list(FILLED)]).fetchall()
        secondary = postgresql.execute(SECONDARY, [list(FILLED)]).fetchall()
        for drop in [*(drop for _, drop in unique), *(f"DROP INDEX {name}" for _, name in secondary)]:
            postgresql.execute(drop.encode())
        yield
        for make in [*(make for make, _ in unique), *(make for make, _ in secondary)]:
            postgresql.execute(make.encode())


def vacuum(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as postgresql:
        postgresql.execute("SET statement_timeout = 0")
        postgresql.execute("VACUUM ANALYZE")
        postgresql.execute("CHECKPOINT")


def _add(postgresql: psycopg.Connection[Any], agents: Sequence[int], count: int, *, settled: bool) -> None:
    newest = postgresql.execute("SELECT coalesce(max(id), 0) FROM mailbox_task").fetchone()
    values = {"agents": list(agents), "many": len(agents), "tasks": count, "settled": settled}
    values |= {"after": newest[0] if newest else 0, "salt": secrets.token_hex(8)}
    for statement in (TASKS, LEASES, RESULTS, JOURNAL):
        postgresql.execute(statement.encode(), values)

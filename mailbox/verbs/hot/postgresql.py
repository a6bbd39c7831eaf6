"""The plain case of each hot verb as one PostgreSQL statement: the change and its journal rows, committed by itself.

Every statement guards on what the verb decided upon and changes nothing where that no longer holds; the verb's own
form decides then. Statements are prepared on each connection, since planning them costs more than running them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from django.db import IntegrityError, connection
from django.db.models import CharField, Field, Model

from mailbox.database import prepared
from mailbox.models.lease import Lease
from mailbox.models.result import Result
from mailbox.models.task import Task

_JOURNAL = "mailbox_auditevent (kind, actor, actor_pubkey, task_id, seq, data, at, request_id, source)"
_STAMP = "%(at)s::timestamptz, %(request_id)s, %(source)s"

SEND = """
WITH recipient AS (
    SELECT id, display, pubkey FROM mailbox_agent
    WHERE display = %(display)s AND (%(pubkey)s::text IS NULL OR pubkey = %(pubkey)s::text)
), task AS (
    INSERT INTO mailbox_task ({columns}) SELECT {values} FROM recipient ON CONFLICT DO NOTHING RETURNING id, uuid
), journal AS (
    INSERT INTO {journal}
    SELECT row.kind, %(actor)s, %(actor_pubkey)s, row.task_id, row.seq, row.data, {stamp}
    FROM task, (VALUES
        ('capability_check', %(check_task)s::uuid, NULL::integer, %(check)s),
        ('a2a_task_sent', %(uuid)s::uuid, 1, %(sent)s)
    ) AS row (kind, task_id, seq, data)
)
SELECT task.id, recipient.id, recipient.display, recipient.pubkey FROM task, recipient
"""

LEASE = """
WITH head AS (
    SELECT task.id FROM mailbox_task task
    WHERE task.recipient_id = %(holder)s AND task.state = 'queued' AND task.waits_on_id IS NULL
      AND NOT EXISTS (
        SELECT 1 FROM mailbox_lease earlier
        WHERE earlier.holder_id = %(holder)s AND earlier.receive_attempt_id = %(attempt_id)s::uuid
          AND earlier.ended_at IS NULL)
    ORDER BY task.queued_at, task.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
), task AS (
    UPDATE mailbox_task task
    SET state = 'in_flight', attempt = task.attempt + 1, journal_seq = task.journal_seq + 1
    FROM head, mailbox_agent holder
    WHERE task.id = head.id AND task.state = 'queued' AND task.waits_on_id IS NULL
      AND holder.id = task.recipient_id AND holder.paused_at IS NULL
      AND (task.deadline_ms IS NULL OR task.deadline_ms > %(now_ms)s)
    RETURNING {task}
), lease AS (
    INSERT INTO mailbox_lease AS lease (lease_id, task_id, holder_id, attempt, leased_at, last_seen_at, times_out_at,
                                        receive_attempt_id, receive_index)
    SELECT %(lease_id)s::uuid, task.id, %(holder)s, task.attempt, %(at)s::timestamptz, %(at)s::timestamptz,
           %(at)s::timestamptz + NULLIF(task.work_timeout, interval '0'), %(attempt_id)s::uuid, 0
    FROM task RETURNING {lease}
), journal AS (
    INSERT INTO {journal}
    SELECT 'a2a_task_leased', %(actor)s, %(actor_pubkey)s, task.uuid, task.journal_seq,
           %(before_attempt)s::text || task.attempt || %(after_attempt)s::text, {stamp}
    FROM task
)
SELECT {task}, {lease}, sender.id, sender.display, sender.pubkey, head.id IS NOT NULL
FROM (SELECT) AS always LEFT JOIN head ON true LEFT JOIN task ON true LEFT JOIN lease ON true
LEFT JOIN mailbox_agent sender ON sender.id = task.sender_id
"""

ANSWERABLE = """
SELECT task.id, task.uuid, task.attempt, task.journal_seq, sender.id, sender.display, sender.pubkey, lease.lease_id
FROM mailbox_task task
JOIN mailbox_agent sender ON sender.id = task.sender_id
JOIN mailbox_lease lease ON lease.task_id = task.id AND lease.ended_at IS NULL
WHERE task.uuid = %(uuid)s AND task.recipient_id = %(recipient)s AND task.state = 'in_flight'
  AND task.cache_key IS NULL AND NOT task.calls_back
  AND (%(lease_id)s::uuid IS NULL OR lease.lease_id = %(lease_id)s::uuid)
  AND (lease.times_out_at IS NULL OR lease.times_out_at > %(at)s::timestamptz)
"""

# Every change of a task takes a journal number under its lock: an unmoved number means that nothing has changed.
RESULT = """
WITH task AS (
    UPDATE mailbox_task SET state = 'resolved', outcome = %(status)s::text, resolved_at = %(at)s::timestamptz,
                            journal_seq = journal_seq + 1
    WHERE id = %(task)s AND journal_seq = %(journal_seq)s AND state = 'in_flight'
    RETURNING id, uuid, sender_id, recipient_id, journal_seq
), lease AS (
    UPDATE mailbox_lease SET ended_at = %(at)s::timestamptz, "end" = 'result'
    FROM task WHERE task_id = task.id AND ended_at IS NULL
), result AS (
    INSERT INTO mailbox_result AS result (task_id, sender_id, recipient_id, status, content, error_message, posted_by_id,
                                          posted_at, delivery, receive_index)
    SELECT id, sender_id, recipient_id, %(status)s::text, %(content)s, %(error_message)s, recipient_id,
           %(at)s::timestamptz, 'pending', 0
    FROM task RETURNING {result}
), journal AS (
    INSERT INTO {journal}
    SELECT row.kind, %(actor)s, %(actor_pubkey)s, task.uuid, row.seq, row.data, {stamp}
    FROM task, LATERAL (VALUES
        ('capability_check', NULL::integer, %(check)s), ('a2a_result_posted', task.journal_seq, %(posted)s)
    ) AS row (kind, seq, data)
)
SELECT {result} FROM result
"""

# What has run out of time becomes a result of its own; looked up by time alone, not among all of the sender's.
DRAIN = """
WITH overdue AS MATERIALIZED (
    SELECT sender_id FROM mailbox_task
    WHERE state = 'queued' AND deadline_ms <= %(now_ms)s ORDER BY deadline_ms
), timed_out AS MATERIALIZED (
    SELECT task_id FROM mailbox_lease
    WHERE ended_at IS NULL AND times_out_at <= %(at)s::timestamptz ORDER BY times_out_at
), head AS (
    SELECT result.id FROM mailbox_result result JOIN mailbox_task task ON task.id = result.task_id
    WHERE result.sender_id = %(sender)s AND result.delivery = 'pending'
      AND NOT EXISTS (
        SELECT 1 FROM mailbox_result earlier
        WHERE earlier.sender_id = %(sender)s AND earlier.receive_attempt_id = %(attempt_id)s::uuid
          AND earlier.delivery = 'delivered')
    ORDER BY result.posted_at, result.id LIMIT 1 FOR NO KEY UPDATE OF task, result SKIP LOCKED
), result AS (
    UPDATE mailbox_result result SET delivery = 'delivered', delivered_at = %(at)s::timestamptz,
                                     receive_attempt_id = %(attempt_id)s::uuid, receive_index = 0
    FROM head WHERE result.id = head.id AND result.delivery = 'pending'
    RETURNING {result}
), task AS (
    UPDATE mailbox_task task SET journal_seq = task.journal_seq + 1 FROM result WHERE task.id = result.task_id
    RETURNING task.id, task.uuid, task.journal_seq
), journal AS (
    INSERT INTO {journal}
    SELECT 'a2a_result_delivered', %(actor)s, %(actor_pubkey)s, task.uuid, task.journal_seq, %(delivered)s, {stamp}
    FROM task
)
SELECT {result}, task.id, task.uuid, task.journal_seq, head.id IS NULL AND NOT EXISTS (
    SELECT 1 FROM overdue WHERE sender_id = %(sender)s
) AND NOT EXISTS (
    SELECT 1 FROM timed_out JOIN mailbox_task ON id = timed_out.task_id WHERE sender_id = %(sender)s
)
FROM (SELECT) AS always LEFT JOIN head ON true LEFT JOIN result ON true LEFT JOIN task ON true
"""


def send(task: Task, **values: object) -> tuple[Any, ...] | None:
    """Insert ``task`` for the agent named; return (task pk, recipient pk, display, pubkey), or None."""
    row = {_parameter(one): one.get_db_prep_save(getattr(task, one.attname), connection) for one in _stored(Task)}
    return _guarded(_statement("SEND"), {**row, **values, "uuid": task.uuid})


def lease(**values: object) -> tuple[Any, ...] | None:
    """Lease the recipient's oldest task; return its row, the lease's, the sender, and whether there was any task."""
    return _guarded(_statement("LEASE"), values)


def answerable(**values: object) -> tuple[Any, ...] | None:
    """Return a leased task whose time is not up, with its sender and the id of its live lease, or None."""
    return prepared.row(_statement("ANSWERABLE"), values)


def post(**values: object) -> tuple[Any, ...] | None:
    """Resolve the task as it was last seen; return its result's row, or None when it has changed."""
    return _guarded(_statement("RESULT"), values)


def drain(**values: object) -> tuple[Any, ...] | None:
    """Deliver the sender's oldest pending result; return its row, the task's (pk, uuid, journal_seq), whether none waits."""
    return _guarded(_statement("DRAIN"), values)


def _guarded(sql: str, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Run a statement; where a constraint stops it, as between racing twins, the verb's own form decides."""
    try:
        return prepared.row(sql, values)
    except IntegrityError:
        return None


@cache
def _statement(name: str) -> str:
    """Return a statement with the columns of the models written out, so that a new column needs no change here."""
    templates = {"SEND": SEND, "LEASE": LEASE, "ANSWERABLE": ANSWERABLE, "RESULT": RESULT, "DRAIN": DRAIN}
    return templates[name].format(
        columns=", ".join(f'"{field.column}"' for field in _stored(Task)),
        values=", ".join(map(_value, _stored(Task))),
        task=_columns(Task, "task"),
        lease=_columns(Lease, "lease"),
        result=_columns(Result, "result"),
        journal=_JOURNAL,
        stamp=_STAMP,
    )


def _columns(model: type[Model], alias: str) -> str:
    return ", ".join(f'{alias}."{field.column}"' for field in model._meta.concrete_fields)


def _stored(model: type[Model]) -> Sequence[Field[Any, Any]]:
    return [field for field in model._meta.concrete_fields if not field.primary_key]


def _value(field: Field[Any, Any]) -> str:
    if field.column == "recipient_id":
        return "recipient.id"
    # A cast to varchar(n) would cut a text off where an assignment refuses it.
    kind = "text" if isinstance(field, CharField) else field.db_type(connection)
    return f"%({_parameter(field)})s::{kind}"


def _parameter(field: Field[Any, Any]) -> str:
    return f"task_{field.attname}"

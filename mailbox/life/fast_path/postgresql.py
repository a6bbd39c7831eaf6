"""The plain case of each hot verb as one PostgreSQL statement: the change and its journal rows, committed by itself.

A result takes a statement more, which reads the task. If another decision has changed the task since, the second
statement changes nothing. Each connection prepares the statements, since they take longer to plan than to run.
"""

from __future__ import annotations

# ruff: noqa: S608 (only clauses and columns of our own are put into the statements)
from collections.abc import Mapping
from functools import cache
from typing import Any

from django.db import IntegrityError, connection
from django.db.models import CharField, Field

from mailbox.database import prepared
from mailbox.life.fast_path import statements
from mailbox.models.lease import Lease
from mailbox.models.result import Result
from mailbox.models.task import Task

CASTS = {"text": "::text", "uuid": "::uuid", "moment": "::timestamptz", "bigint": "::bigint"}

SEND = f"""
WITH recipient AS ({statements.RECIPIENT}
), task AS ({statements.NEW_TASK} RETURNING id, uuid, journal_seq, recipient_id
), pair AS ({statements.COUNTED_FOR_PAIR}
), sender AS ({statements.COUNTED_FOR_SENDER}
), journal AS ({statements.JOURNAL_WITH_CHECK}
)
SELECT task.id, recipient.id, recipient.display, recipient.pubkey FROM task, recipient
"""

LEASE = f"""
WITH head AS ({statements.QUEUED} FOR NO KEY UPDATE SKIP LOCKED
), task AS ({statements.TAKEN}
), lease AS ({statements.NEW_LEASE}
), journal AS ({statements.JOURNAL_OF_LEASE}
)
SELECT {{columns_of_task}}, {{columns_of_lease}}, sender.id, sender.display, sender.pubkey, head.id IS NOT NULL
FROM (SELECT) AS always LEFT JOIN head ON true LEFT JOIN task ON true LEFT JOIN lease ON true
LEFT JOIN mailbox_agent sender ON sender.id = task.sender_id
"""

RESULT = f"""
WITH task AS ({statements.RESOLVED}
), lease AS ({statements.ENDED_LEASE}
), result AS ({statements.NEW_RESULT}
), journal AS ({statements.JOURNAL_WITH_CHECK}
)
SELECT {{columns_of_result}} FROM result
"""

# Tasks out of time are looked up by time and not by sender, since a sender may have very many other tasks. They are
# looked up only if no result is pending.
DRAIN = f"""
WITH overdue AS MATERIALIZED (
    SELECT sender_id FROM mailbox_task WHERE {statements.OVERDUE} ORDER BY deadline_ms
), timed_out AS MATERIALIZED (
    SELECT task_id FROM mailbox_lease WHERE {statements.TIMED_OUT} ORDER BY times_out_at
), head AS ({statements.PENDING} FOR NO KEY UPDATE OF task, result SKIP LOCKED
), result AS ({statements.DELIVER}
), task AS ({statements.NUMBERED}
), journal AS ({statements.JOURNAL}
)
SELECT {{columns_of_result}}, task.id, task.uuid, task.journal_seq, head.id IS NULL AND NOT EXISTS (
    SELECT 1 FROM overdue WHERE sender_id = %(sender)s
) AND NOT EXISTS (
    SELECT 1 FROM timed_out WHERE (SELECT sender_id FROM mailbox_task WHERE id = task_id) = %(sender)s
)
FROM (SELECT) AS always LEFT JOIN head ON true LEFT JOIN result ON true LEFT JOIN task ON true
"""


def send(task: Task, **values: object) -> tuple[Any, ...] | None:
    """Insert ``task`` for the agent that the values name; return (task pk, recipient pk, display, pubkey), or None."""
    return _guarded("SEND", {**statements.new_task_values(task), **values})


def lease(**values: object) -> tuple[Any, ...] | None:
    """Lease the recipient's oldest task; return its row, the lease's, the sender, and whether any task is queued."""
    return _guarded("LEASE", values)


def answerable(**values: object) -> tuple[Any, ...] | None:
    """Return a leased task whose time is not up, with its sender and the id of its live lease, or None."""
    return prepared.row(statement("ANSWERABLE"), values)


def post(**values: object) -> tuple[Any, ...] | None:
    """Resolve the task if it still has the journal number given; return its result's row, or None."""
    return _guarded("RESULT", values)


def drain(**values: object) -> tuple[Any, ...] | None:
    """Deliver the sender's oldest pending result.

    Return its row, then the task's pk, uuid and journal number: all None if no result is pending. The last value is
    True if moreover no task of the sender is out of time.
    """
    return _guarded("DRAIN", values)


def _guarded(name: str, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Run a statement; return None where a constraint stops it, such as the second of two sends with the same id."""
    try:
        return prepared.row(statement(name), values)
    except IntegrityError:
        return None


@cache
def statement(name: str) -> str:
    """Return a statement as this database runs it."""
    templates = {
        "SEND": SEND,
        "LEASE": LEASE,
        "ANSWERABLE": statements.ANSWERABLE,
        "RESULT": RESULT,
        "DRAIN": DRAIN,
    }
    return statements.written(
        templates[name],
        **CASTS,
        new_values=", ".join(map(_value, statements.new_task_fields())),
        times_out_at="%(at)s::timestamptz + NULLIF(task.work_timeout, interval '0')",
        joined="JOIN mailbox_task task ON task.id = result.task_id",  # to lock the task, as every change of it does
        columns_of_task=statements.columns(Task, "task"),
        columns_of_lease=statements.columns(Lease, "lease"),
        columns_of_result=statements.columns(Result, "result"),
    )


def _value(field: Field[Any, Any]) -> str:
    if field.column == "recipient_id":
        return "recipient.id"
    # A cast to varchar(n) would cut a text off where an assignment refuses it.
    kind = "text" if isinstance(field, CharField) else field.db_type(connection)
    return f"%(task_{field.attname})s::{kind}"

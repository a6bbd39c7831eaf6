"""The plain case of each hot verb in a handful of SQLite statements: the change and its journal rows, one transaction.

The functions are those of `postgresql`, with the same answers. Whoever writes holds the only write lock, so what
keeps others waiting is the time between the first statement and the last: no model is built in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache, reduce, wraps
from typing import Any, ParamSpec
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Model

from mailbox.database import write_turns
from mailbox.models.lease import Lease
from mailbox.models.result import Result
from mailbox.models.task import Task

RECIPIENT = """
SELECT id, display, pubkey FROM mailbox_agent
WHERE display = %(display)s AND (%(pubkey)s IS NULL OR pubkey = %(pubkey)s)
"""
QUEUED = """
SELECT task.id FROM mailbox_task task
WHERE task.recipient_id = %(holder)s AND task.state = 'queued' AND task.waits_on_id IS NULL
ORDER BY task.queued_at, task.id LIMIT 1
"""
TAKE = """
UPDATE mailbox_task SET state = 'in_flight', attempt = attempt + 1, journal_seq = journal_seq + 1
WHERE id = ({queued}) AND (deadline_ms IS NULL OR deadline_ms > %(now_ms)s)
  AND EXISTS (SELECT 1 FROM mailbox_agent WHERE id = %(holder)s AND paused_at IS NULL)
  AND NOT EXISTS (
    SELECT 1 FROM mailbox_lease WHERE holder_id = %(holder)s AND receive_attempt_id = %(attempt_id)s AND ended_at IS NULL)
RETURNING {task}
"""
BEGIN = """
INSERT INTO mailbox_lease (lease_id, task_id, holder_id, attempt, leased_at, last_seen_at, times_out_at,
                           receive_attempt_id, receive_index)
VALUES (%(lease_id)s, %(task)s, %(holder)s, %(attempt)s, %(at)s, %(at)s, %(times_out_at)s,
        %(attempt_id)s, 0)
RETURNING {lease}
"""
SENDER = "SELECT id, display, pubkey FROM mailbox_agent WHERE id = %(sender)s"
ANSWERABLE = """
SELECT task.id, task.uuid, task.attempt, task.journal_seq, sender.id, sender.display, sender.pubkey, lease.lease_id
FROM mailbox_task task
JOIN mailbox_agent sender ON sender.id = task.sender_id
JOIN mailbox_lease lease ON lease.task_id = task.id AND lease.ended_at IS NULL
WHERE task.uuid = %(uuid)s AND task.recipient_id = %(recipient)s AND task.state = 'in_flight'
  AND task.cache_key IS NULL AND NOT task.calls_back
  AND (%(lease_id)s IS NULL OR lease.lease_id = %(lease_id)s)
  AND (lease.times_out_at IS NULL OR lease.times_out_at > %(at)s)
"""
FINISH = """
UPDATE mailbox_task
SET state = 'resolved', outcome = %(status)s, resolved_at = %(at)s, journal_seq = journal_seq + 1
WHERE id = %(task)s AND journal_seq = %(journal_seq)s AND state = 'in_flight'
RETURNING uuid, sender_id, recipient_id, journal_seq
"""
END = """UPDATE mailbox_lease SET ended_at = %(at)s, "end" = 'result' WHERE task_id = %(task)s AND ended_at IS NULL"""
ANSWER = """
INSERT INTO mailbox_result (task_id, sender_id, recipient_id, status, content, error_message, posted_by_id, posted_at,
                            delivery, receive_index)
VALUES (%(task)s, %(sender)s, %(recipient)s, %(status)s, %(content)s, %(error_message)s, %(recipient)s, %(at)s,
        'pending', 0)
RETURNING {result}
"""
PENDING = """
SELECT id FROM mailbox_result WHERE sender_id = %(sender)s AND delivery = 'pending'
  AND NOT EXISTS (
    SELECT 1 FROM mailbox_result
    WHERE sender_id = %(sender)s AND receive_attempt_id = %(attempt_id)s AND delivery = 'delivered')
ORDER BY posted_at, id LIMIT 1
"""
# The plus keeps the planner off the index of senders, where all that is queued would be read.
OUT_OF_TIME = """
SELECT 1 FROM mailbox_task WHERE state = 'queued' AND deadline_ms <= %(now_ms)s AND +sender_id = %(sender)s
UNION ALL
SELECT 1 FROM mailbox_lease lease JOIN mailbox_task task ON task.id = lease.task_id
WHERE lease.ended_at IS NULL AND lease.times_out_at <= %(at)s AND +task.sender_id = %(sender)s
LIMIT 1
"""
GIVE = """
UPDATE mailbox_result
SET delivery = 'delivered', delivered_at = %(at)s, receive_attempt_id = %(attempt_id)s, receive_index = 0
WHERE id = ({pending}) RETURNING {result}, task_id
"""
NUMBER = """
UPDATE mailbox_task SET journal_seq = journal_seq + 1 WHERE id = %(task)s RETURNING id, uuid, journal_seq
"""
JOURNAL = """
INSERT INTO mailbox_auditevent (kind, actor, actor_pubkey, task_id, seq, data, at, request_id, source)
VALUES (%(kind)s, %(actor)s, %(actor_pubkey)s, %(task_id)s, %(seq)s, %(data)s, %(at)s, %(request_id)s, %(source)s)
"""


Row = tuple[Any, ...]
P = ParamSpec("P")


def _unless_stopped(work: Callable[P, Row | None]) -> Callable[P, Row | None]:
    """Return ``work`` answering None, its transaction undone, where a constraint stops it, as for a compacted id."""

    @wraps(work)
    def answer(*given: P.args, **named: P.kwargs) -> Row | None:
        try:
            return work(*given, **named)
        except IntegrityError:
            return None

    return answer


@_unless_stopped
def send(task: Task, **values: Any) -> Row | None:
    """Insert ``task`` for the agent named; return (task pk, recipient pk, display, pubkey), or None."""
    with _change(values) as change:
        recipient = change.row(RECIPIENT)
        if recipient is None:
            return None
        row = {f"task_{one.attname}": _plain(getattr(task, one.attname)) for one in _stored()}
        stored = change.row(_insert(), **{**row, "task_recipient_id": recipient[0]})
        if stored is None:
            return None
        change.journal("capability_check", values["check_task"], None, values["check"])
        change.journal("a2a_task_sent", task.uuid, 1, values["sent"])
        return (*stored, *recipient)


@_unless_stopped
def lease(**values: Any) -> Row | None:
    """Lease the recipient's oldest task; return its row, the lease's, the sender, and whether there was any task."""
    nothing = (None,) * (len(_fields(Task)) + len(_fields(Lease)) + 3)
    if _read(QUEUED, values) is None:
        return *nothing, False
    with _change(values) as change:
        taken = change.row(_statement(TAKE))
        if taken is None:
            return *nothing, True
        task = dict(zip([field.attname for field in _fields(Task)], taken, strict=True))
        limit = task["work_timeout"]
        times_out_at = values["at"] + timedelta(microseconds=limit) if limit else None
        begun = change.row(
            _statement(BEGIN), task=task["id"], attempt=task["attempt"], times_out_at=_plain(times_out_at)
        )
        data = f"{values['before_attempt']}{task['attempt']}{values['after_attempt']}"
        change.journal("a2a_task_leased", task["uuid"], task["journal_seq"], data)
        sender = change.row(SENDER, sender=task["sender_id"])
        return *_loaded(Task, taken), *_loaded(Lease, begun), *(sender or ()), True


def answerable(**values: Any) -> Row | None:
    """Return a leased task whose time is not up, with its sender and the id of its live lease, or None."""
    found = _read(ANSWERABLE, values)
    return found and (found[0], UUID(found[1]), *found[2:-1], UUID(found[-1]))


@_unless_stopped
def post(**values: Any) -> Row | None:
    """Resolve the task as it was last seen; return its result's row, or None when it has changed."""
    with _change(values) as change:
        finished = change.row(FINISH)
        if finished is None:
            return None
        uuid, sender, recipient, seq = finished
        change.run(END)
        result = change.row(_statement(ANSWER), sender=sender, recipient=recipient)
        change.journal("capability_check", uuid, None, values["check"])
        change.journal("a2a_result_posted", uuid, seq, values["posted"])
        return _loaded(Result, result)


@_unless_stopped
def drain(**values: Any) -> Row | None:
    """Deliver the sender's oldest pending result; return its row, the task's (pk, uuid, journal_seq), whether none waits."""
    nothing = (None,) * (len(_fields(Result)) + 3)
    if _read(PENDING, values) is None:
        return *nothing, _read(OUT_OF_TIME, values) is None
    with _change(values) as change:
        given = change.row(_statement(GIVE))
        if given is None:
            return *nothing, False
        *result, task = given
        pk, uuid, seq = change.row(NUMBER, task=task) or ()
        change.journal("a2a_result_delivered", uuid, seq, values["delivered"])
        return *_loaded(Result, result), pk, UUID(uuid), seq, False


class Change:
    """The statements of one transaction, with the values they share."""

    def __init__(self, cursor: Any, values: Mapping[str, Any]) -> None:
        self.cursor = cursor
        self.values = {name: _plain(value) for name, value in values.items()}

    def run(self, sql: str, **more: Any) -> Any:
        return self.cursor.execute(sql, {**self.values, **more})

    def row(self, sql: str, **more: Any) -> Row | None:
        found: Row | None = self.run(sql, **more).fetchone()
        return found

    def journal(self, kind: str, task_id: Any, seq: int | None, data: str) -> None:
        self.run(JOURNAL, kind=kind, task_id=_plain(task_id), seq=seq, data=data)


@contextmanager
def _change(values: Mapping[str, Any]) -> Iterator[Change]:
    """Run the block as one transaction."""
    with write_turns.turn(), transaction.atomic(durable=True), connection.cursor() as cursor:
        yield Change(cursor, values)


def _read(sql: str, values: Mapping[str, Any]) -> Row | None:
    with connection.cursor() as cursor:
        return Change(cursor, values).row(sql)


def _plain(value: Any) -> Any:
    """Return ``value`` as Django stores it in SQLite."""
    match value:
        case UUID():
            return value.hex
        case datetime():
            return connection.ops.adapt_datetimefield_value(value)
        case timedelta():
            return value // timedelta(microseconds=1)
    return value


def _loaded(model: type[Model], row: Iterable[Any] | None) -> Row:
    """Return a row of ``model`` as Django reads it from SQLite."""
    return tuple(
        reduce(lambda read, convert: convert(read, column, connection), converters, value)
        for value, (column, converters) in zip(row or (), _converters(model), strict=True)
    )


@cache
def _converters(model: type[Model]) -> Sequence[tuple[Any, Sequence[Any]]]:
    columns = [field.get_col(model._meta.db_table) for field in _fields(model)]
    return [(one, [*connection.ops.get_db_converters(one), *one.get_db_converters(connection)]) for one in columns]


def _fields(model: type[Model]) -> Sequence[Any]:
    return model._meta.concrete_fields


def _stored() -> Sequence[Any]:
    return [field for field in _fields(Task) if not field.primary_key]


@cache
def _insert() -> str:
    columns = ", ".join(f'"{field.column}"' for field in _stored())
    values = ", ".join(f"%(task_{field.attname})s" for field in _stored())
    return f"INSERT INTO mailbox_task ({columns}) VALUES ({values}) ON CONFLICT DO NOTHING RETURNING id"  # noqa: S608


@cache
def _statement(template: str) -> str:
    """Return a statement with the columns of the models written out, so that a new column needs no change here."""
    columns = {model: ", ".join(f'"{field.column}"' for field in _fields(model)) for model in (Task, Lease, Result)}
    parts = {"task": columns[Task], "lease": columns[Lease], "result": columns[Result]}
    return template.format(queued=QUEUED, pending=PENDING, **parts)

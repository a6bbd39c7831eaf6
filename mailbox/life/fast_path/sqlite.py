"""The plain case of each hot verb as a few statements in one SQLite transaction: the change and its journal rows.

The functions are those of `postgresql`, with the same answers. A writer holds the only write lock from its first
statement to its last. To keep other writers waiting no longer, no model is built in between, and verbs of several
threads share a transaction.
"""

# ruff: noqa: S608 (only clauses and columns of our own are put into the statements)

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Model

from mailbox.database import managers, write_turns
from mailbox.life.fast_path import statements
from mailbox.models.lease import Lease
from mailbox.models.result import Result
from mailbox.models.task import Task

CASTS = {"text": "", "uuid": "", "moment": "", "bigint": ""}


def _reading(name: str, *columns: str) -> str:
    """Return the start of a statement whose clause reads one row as ``name``, with parameters such as ``task_id``."""
    return f"WITH {name} AS (SELECT {', '.join(f'%({name}_{column})s AS {column}' for column in columns)})"


def agent(column: str) -> str:
    """Return the query of an agent's pk, display and pubkey, where ``column`` of a task's row holds the pk."""
    own = (f"(SELECT {name} FROM mailbox_agent WHERE mailbox_agent.id = {column})" for name in ("display", "pubkey"))
    return ", ".join([column, *own])


SEND = f"WITH recipient AS ({statements.RECIPIENT}) {statements.NEW_TASK} RETURNING id, {agent('recipient_id')}"
SENT = _reading("task", "uuid", "journal_seq") + statements.JOURNAL_WITH_CHECK

FOR_PAIR = _reading("task", "recipient_id") + statements.COUNTED_FOR_PAIR
FOR_SENDER = _reading("pair", "sender_id") + statements.COUNTED_FOR_SENDER

TAKE = f"WITH head AS ({statements.QUEUED}) {statements.TAKEN}, {agent('sender_id')}"
BEGIN = _reading("task", "id", "attempt", "times_out_at") + statements.NEW_LEASE
LEASED = _reading("task", "uuid", "attempt", "journal_seq") + statements.JOURNAL_OF_LEASE

END = _reading("task", "id") + statements.ENDED_LEASE
ANSWER = _reading("task", "id", "sender_id", "recipient_id", "reads_result") + statements.NEW_RESULT
POSTED = _reading("task", "uuid", "journal_seq") + statements.JOURNAL_WITH_CHECK

# The plus keeps the planner off the index of senders: a sender may have very many tasks that are not out of time.
OUT_OF_TIME = f"""
SELECT 1 FROM mailbox_task WHERE {statements.OVERDUE} AND +sender_id = %(sender)s
UNION ALL
SELECT 1 FROM mailbox_lease lease JOIN mailbox_task task ON task.id = lease.task_id
WHERE {statements.TIMED_OUT} AND +task.sender_id = %(sender)s
LIMIT 1
"""
GIVE = f"WITH head AS ({statements.PENDING}) {statements.DELIVER}"
NUMBER = _reading("result", "task_id") + statements.NUMBERED
DELIVERED = _reading("task", "uuid", "journal_seq") + statements.JOURNAL


_AS_THEY_ARE = {str, int, bool}
_TASK_OF_RESULT = [field.attname for field in Result._meta.concrete_fields].index("task_id")

Row = tuple[Any, ...]
P = ParamSpec("P")
Answer = TypeVar("Answer")


def unless_stopped(work: Callable[P, Answer]) -> Callable[P, Answer | None]:
    """Let ``work`` return None where a constraint stops it, such as the journal's for the id of a compacted task."""

    @wraps(work)
    def answer(*args: P.args, **kwargs: P.kwargs) -> Answer | None:
        try:
            return work(*args, **kwargs)
        except IntegrityError:
            return None

    return answer


@unless_stopped
def send(task: Task, **values: Any) -> Row | None:
    """Insert ``task`` for the agent that the values name; return (task pk, recipient pk, display, pubkey), or None."""

    def write(session: Session) -> Row | None:
        stored = session.row(SEND)
        if stored is not None:
            session.give(task_recipient_id=stored[1], pair_sender_id=task.sender_id)
            session.row(FOR_PAIR)
            session.run(FOR_SENDER)
            session.run(SENT)
        return stored

    return _committed({**statements.new_task_values(task), **values}, write)


@unless_stopped
def lease(**values: Any) -> Row | None:
    """Lease the recipient's oldest task; return its row, the lease's, the sender, and whether any task is queued."""
    nothing = (None,) * (len(_fields(Task)) + len(_fields(Lease)) + 3)
    if _read(statements.QUEUED, values) is None:
        return *nothing, False

    def write(session: Session) -> Row:
        row = session.row(TAKE)
        if row is None:
            return *nothing, True
        taken, sender = row[:-3], row[-3:]
        task = dict(zip([field.attname for field in _fields(Task)], taken, strict=True))
        limit = task["work_timeout"]
        times_out_at = values["at"] + timedelta(microseconds=limit) if limit else None
        session.give(
            task_id=task["id"],
            task_uuid=task["uuid"],
            task_attempt=task["attempt"],
            task_journal_seq=task["journal_seq"],
            task_times_out_at=stored(times_out_at),
        )
        begun = session.row(BEGIN)
        session.run(LEASED)
        return *loaded(Task, taken), *loaded(Lease, begun), *sender, True

    return _committed(values, write)


def answerable(**values: Any) -> Row | None:
    """Return a leased task whose time is not up, with its sender and the id of its live lease, or None."""
    row = _read(statements.ANSWERABLE, values)
    return row and (row[0], UUID(row[1]), *row[2:-1], UUID(row[-1]))


@unless_stopped
def post(**values: Any) -> Row | None:
    """Resolve the task if it still has the journal number given; return its result's row, or None."""

    def write(session: Session) -> Row | None:
        resolved = session.row(statements.RESOLVED)
        if resolved is None:
            return None
        columns = ("id", "uuid", "sender_id", "recipient_id", "journal_seq", "reads_result")
        session.give(**{f"task_{column}": value for column, value in zip(columns, resolved, strict=True)})
        session.run(END)
        result = session.row(ANSWER)
        session.run(POSTED)
        return loaded(Result, result)

    return _committed(values, write)


@unless_stopped
def drain(**values: Any) -> Row | None:
    """Deliver the sender's oldest pending result.

    Return its row, then the task's pk, uuid and journal number: all None if no result is pending. The last value is
    True if moreover no task of the sender is out of time.
    """
    nothing = (None,) * (len(_fields(Result)) + 3)
    if _read(statements.PENDING, values) is None:
        return *nothing, _read(OUT_OF_TIME, values) is None

    def write(session: Session) -> Row:
        result = session.row(GIVE)
        if result is None:
            return *nothing, False
        session.give(result_task_id=result[_TASK_OF_RESULT])
        pk, uuid, seq = session.row(NUMBER) or ()
        session.give(task_uuid=uuid, task_journal_seq=seq)
        session.run(DELIVERED)
        return *loaded(Result, result), pk, UUID(uuid), seq, False

    return _committed(values, write)


class Session:
    """Runs statements with the parameters that they share."""

    def __init__(self, cursor: Any, values: Mapping[str, Any], written: Callable[[str], str]) -> None:
        """``written`` fills the slots of a statement."""
        self.cursor, self.written = cursor, written
        self.values = {
            name: value if value is None or type(value) in _AS_THEY_ARE else stored(value)
            for name, value in values.items()
        }

    def give(self, **values: Any) -> None:
        """Add parameters for the statements that follow, as SQLite stores them."""
        self.values.update(values)

    def run(self, sql: str) -> None:
        self.cursor.execute(self.written(sql), self.values)

    def row(self, sql: str) -> Row | None:
        return next(iter(self.rows(sql)), None)

    def rows(self, sql: str) -> Sequence[Row]:
        self.run(sql)
        return list(self.cursor.fetchall())  # by Django's cursor, whose errors are Django's


@contextmanager
def deciding(values: Mapping[str, Any], written: Callable[[str], str]) -> Iterator[Session]:
    """Run the block as one transaction, in turn with other writers."""
    with write_turns.turn(), transaction.atomic(durable=True), managers.open_named() as cursor:
        yield Session(cursor, values, written)


def _committed(values: Mapping[str, Any], write: Callable[[Session], Answer]) -> Answer:
    """Return what ``write`` returns in a committed transaction, which writes of other threads may share."""
    return write_turns.run_shared(lambda cursor: write(Session(cursor, values, statement)))


def _read(sql: str, values: Mapping[str, Any]) -> Row | None:
    with managers.open_named() as cursor:
        return Session(cursor, values, statement).row(sql)


def stored(value: Any) -> Any:
    """Return ``value`` as Django stores it in SQLite."""
    match value:
        case UUID():
            return value.hex
        case datetime():
            return str(value.astimezone(UTC).replace(tzinfo=None))
        case timedelta():
            return value // timedelta(microseconds=1)
    return value


def loaded(model: type[Model], row: Iterable[Any] | None) -> Row:
    """Return a row of ``model`` as Django reads it from SQLite."""
    values = list(row or ())
    for place, column, convert in _converters(model):
        values[place] = convert(values[place], column, connection)
    return tuple(values)


@cache
def _converters(model: type[Model]) -> Sequence[tuple[int, Any, Callable[..., Any]]]:
    """Return each conversion with its column and the place of the column in a row."""
    columns = [field.get_col(model._meta.db_table) for field in _fields(model)]
    return [
        (place, column, convert)
        for place, column in enumerate(columns)
        for convert in (*connection.ops.get_db_converters(column), *column.get_db_converters(connection))
    ]


def _fields(model: type[Model]) -> Sequence[Any]:
    return model._meta.concrete_fields


@cache
def statement(text: str) -> str:
    """Return a statement as this database runs it."""
    fields = statements.new_task_fields()
    values = ["recipient.id" if field.column == "recipient_id" else f"%(task_{field.attname})s" for field in fields]
    return statements.written(text, **CASTS, new_values=", ".join(values), times_out_at="task.times_out_at", joined="")

"""The plain case of each verb of batches as one SQLite transaction, whose number of statements is fixed.

The functions are those of `postgresql`, with the same answers.
"""

# ruff: noqa: S608 (only clauses and columns of our own are put into the statements)

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection

from mailbox.life.fast_path import sqlite as single_sqlite
from mailbox.life.fast_path import statements as single
from mailbox.life.fast_path.batches import statements
from mailbox.life.fast_path.sqlite import stored
from mailbox.models.lease import Lease
from mailbox.models.result import Result
from mailbox.models.task import Task
from mailbox.words import json_text

Items = Sequence[Mapping[str, Any]]


def _reading(name: str, columns: Mapping[str, str] | Sequence[str]) -> str:
    """Return the start of a statement that reads the items of the parameter ``name`` as its rows."""
    read = ", ".join(f"value ->> '{column}' AS {column}" for column in columns)
    return f"WITH {name} AS MATERIALIZED (SELECT {read} FROM json_each(%({name})s))"


ANSWERABLE = _reading("given", statements.ANSWER_COLUMNS) + statements.answerable("mailbox_task")

_TO_SEND = [*statements.TO_SEND, *(f"task_{field.attname}" for field in single.new_task_fields())]
SEND = f"""{_reading("given", _TO_SEND)}
INSERT INTO mailbox_task ({{new_columns}}) SELECT {{new_values}}
FROM given WHERE true ORDER BY place ON CONFLICT DO NOTHING RETURNING uuid, id, recipient_id"""
FOR_PAIRS = statements.counted_for_pairs(
    "SELECT CAST(key AS INTEGER) AS recipient_id, value AS number FROM json_each(%(pairs)s)"
)
FOR_SENDER = statements.counted_for_sender("SELECT %(number)s AS number, %(size)s AS size")
SENT = _reading("given", _TO_SEND) + statements.checks_and_changes("change", "given", "task_uuid", "task_journal_seq")

RESOLVE = f"{_reading('given', statements.ANSWERS)} {statements.RESOLVED} RETURNING id"
END = _reading("answered", statements.ANSWERS) + statements.ENDED
ANSWER = _reading("answered", statements.ANSWERS) + statements.NEW_RESULTS
POSTED = _reading("answered", statements.ANSWERS) + statements.checks_and_changes(
    "posted", "answered", "uuid", "journal_seq + 1"
)

OLDEST_TASKS = f"SELECT task.id, task.deadline_ms, task.size {single.IN_THE_QUEUE} LIMIT %(most)s"
OLDEST = f"WITH head AS MATERIALIZED ({statements.up_to_the_most(OLDEST_TASKS)})"
WAITING = f"{OLDEST} SELECT (SELECT count(*) FROM head), {statements.LEASED_BEFORE}"
TAKE = f"{OLDEST} {statements.TAKEN}, {single_sqlite.agent('sender_id')}"
_TAKEN = ("place", "id", "uuid", "attempt", "journal_seq", "times_out_at", "lease_id", "data")
BEGIN = _reading("taken", _TAKEN) + statements.NEW_LEASES
LEASED = f"""{_reading("taken", _TAKEN)} {single.EVENT}
{statements.event("change", "uuid", "journal_seq", "data")} FROM taken WHERE true ORDER BY place"""

SIZE = "length(CAST(result.content AS BLOB)) + length(CAST(COALESCE(result.error_message, '') AS BLOB))"
OLDEST_RESULTS = f"SELECT result.id, {SIZE} AS size {single.PENDING_IN_ORDER} LIMIT %(most)s"
DUE = f"WITH head AS MATERIALIZED ({statements.up_to_the_most(OLDEST_RESULTS)})"
SEEN = f"{DUE} SELECT (SELECT count(*) FROM head), {statements.DRAINED_BEFORE}"
NAMED = """WITH named AS MATERIALIZED (
    SELECT task.id, task.uuid FROM json_each(%(acks)s) AS ack CROSS JOIN mailbox_task task
    WHERE task.uuid = ack.value AND task.sender_id = %(sender)s AND task.state = {resolved})"""
KNOWN = f"{NAMED} SELECT uuid FROM named"
ACK = NAMED + statements.ACKED
GIVE = f"{DUE} {statements.DELIVER} RETURNING {{result_columns}}"
NUMBER = _reading("result", ("task_id",)) + statements.numbered("result")
_CHANGED = ("place", "uuid", "journal_seq", "data")
CHANGE_EVENT = f"""{_reading("task", _CHANGED)} {single.EVENT}
{statements.event("acked", "uuid", "journal_seq", "data")} FROM task WHERE true ORDER BY place"""
DELIVERED = CHANGE_EVENT.replace("acked_kind", "change_kind")

_TASK_OF_LEASE = [field.attname for field in Lease._meta.concrete_fields].index("task_id")
_TASK = [field.attname for field in Task._meta.concrete_fields]
_OF_RESULT = {field.attname: number for number, field in enumerate(Result._meta.concrete_fields)}


@single_sqlite.unless_stopped
def send(items: Items, **values: Any) -> Sequence[single_sqlite.Row]:
    """Insert the tasks; return (uuid, pk) of each that was inserted."""
    with single_sqlite.deciding({"given": json_text.dumps(items), **values}, statement) as session:
        rows = session.rows(SEND)
        if rows:
            stored = {row[0] for row in rows}
            sent = [item for item in items if item["task_uuid"] in stored]
            session.give(
                given=json_text.dumps(sent),
                pairs=json_text.dumps(Counter(row[2] for row in rows)),
                number=len(sent),
                size=sum(item["task_size"] for item in sent),
            )
            for statement_ in (FOR_PAIRS, FOR_SENDER, SENT):
                session.run(statement_)
    return [(UUID(row[0]), row[1]) for row in rows]


def answerable(items: Items, **values: Any) -> Sequence[single_sqlite.Row]:
    """Return each leased task whose time is not up, behind the place of its item, with its sender and lease id."""
    rows = _reads(ANSWERABLE, {"given": json_text.dumps(items), **values})
    return [(*row[:2], UUID(row[2]), *row[3:5], bool(row[5]), *row[6:-1], UUID(row[-1])) for row in rows]


@single_sqlite.unless_stopped
def work(
    answers: Items, lease_ids: Sequence[UUID], **values: Any
) -> tuple[Sequence[single_sqlite.Row], int, bool, Sequence[single_sqlite.Row]]:
    """Resolve the tasks that still have the journal numbers given, then lease the recipient's oldest tasks.

    Return (task pk, result pk) of each result, how many tasks were the oldest, and whether this attempt leased before.
    The rows of the leased tasks come last, each with those of its lease and of its sender.
    """
    ((number, before),) = _reads(WAITING, values)
    if not number and not answers:
        return [], number, bool(before), []
    with single_sqlite.deciding(values, statement) as session:
        posted = _post(session, answers) if answers else []
        taken = _take(session, lease_ids, values) if number else []
    return posted, number, bool(before), [_loaded(*row) for row in taken]


def _post(session: single_sqlite.Session, answers: Items) -> Sequence[single_sqlite.Row]:
    session.give(given=json_text.dumps(answers))
    resolved = {pk for (pk,) in session.rows(RESOLVE)}
    if not resolved:
        return []
    session.give(answered=json_text.dumps([answer for answer in answers if answer["task_id"] in resolved]))
    session.run(END)
    posted = session.rows(ANSWER)
    session.run(POSTED)
    return posted


def _take(
    session: single_sqlite.Session, lease_ids: Sequence[UUID], values: Mapping[str, Any]
) -> Sequence[tuple[single_sqlite.Row, single_sqlite.Row, single_sqlite.Row]]:
    """Return the rows of the tasks, leases and senders."""
    queued = [(dict(zip(_TASK, row, strict=False)), row) for row in session.rows(TAKE)]
    if not queued:
        return []
    queued.sort(key=lambda both: (both[0]["queued_at"], both[0]["id"]))
    numbered = enumerate(zip(queued, lease_ids, strict=False), 1)
    begun = [_begun(place, task, lease_id, lease_ids[0], values) for place, ((task, _), lease_id) in numbered]
    session.give(taken=json_text.dumps(begun))
    leases = {row[_TASK_OF_LEASE]: row for row in session.rows(BEGIN)}
    session.run(LEASED)
    return [(row[: len(_TASK)], leases[task["id"]], row[len(_TASK) :]) for task, row in queued]


def _begun(
    place: int, task: Mapping[str, Any], lease_id: UUID, first: UUID, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the item of one lease. The journal row of the batch names the lease ``first``, and no attempt yet."""
    limit = task["work_timeout"]
    attempt = f'"attempt":{single.ATTEMPT_TO_COME}', f'"attempt":{task["attempt"]}'
    return {
        "place": place,
        **{name: task[name] for name in ("id", "uuid", "attempt", "journal_seq")},
        "times_out_at": stored(values["at"] + timedelta(microseconds=limit)) if limit else None,
        "lease_id": lease_id.hex,
        "data": values["change_data"].replace(str(first), str(lease_id)).replace(*attempt),
    }


def _loaded(task: single_sqlite.Row, lease: single_sqlite.Row, sender: single_sqlite.Row) -> single_sqlite.Row:
    return *single_sqlite.loaded(Task, task), *single_sqlite.loaded(Lease, lease), *sender


@single_sqlite.unless_stopped
def drain(acks: Sequence[UUID], **values: Any) -> tuple[Sequence[UUID], bool, bool, Sequence[single_sqlite.Row]]:
    """Acknowledge results, then deliver the sender's oldest pending results.

    Return the ids of the tasks whose results are acknowledged, whether the case is plain, and whether this attempt got
    results before. The rows of the results come last, each with its task's pk, uuid and journal number.
    """
    if not acks:
        with connection.cursor() as cursor:
            number, before, is_plain = _due(single_sqlite.Session(cursor, values, statement))
        if not (number and is_plain):
            return [], is_plain, before, []
        with single_sqlite.deciding(values, statement) as session:
            delivered = _give(session, values)
        return [], bool(delivered), before, delivered
    with single_sqlite.deciding({"acks": json_text.dumps([ack.hex for ack in acks]), **values}, statement) as session:
        acked = _acknowledge(session, values)
        number, before, is_plain = _due(session)
        delivered = _give(session, values) if number and is_plain else []
    return acked, is_plain and bool(delivered or not number), before, delivered


def _due(session: single_sqlite.Session) -> tuple[int, bool, bool]:
    """Return how many results are due, whether this attempt got results before, and whether the case is plain."""
    ((number, before),) = session.rows(SEEN)
    is_plain = number == session.values["most"] or not session.rows(single_sqlite.OUT_OF_TIME)
    return number, bool(before), is_plain


def _acknowledge(session: single_sqlite.Session, values: Mapping[str, Any]) -> Sequence[UUID]:
    """Return the ids of the tasks whose results are acknowledged now, or were before."""
    known = [UUID(row[0]) for row in session.rows(KNOWN)]
    if changed := sorted(session.rows(ACK)):
        _tell(session, changed, values["acked_data"], CHANGE_EVENT)
    return known


def _give(session: single_sqlite.Session, values: Mapping[str, Any]) -> Sequence[single_sqlite.Row]:
    rows = sorted(session.rows(GIVE), key=lambda row: row[_OF_RESULT["receive_index"]])
    if not rows:
        return []
    tasks = _tell(session, [(row[_OF_RESULT["task_id"]],) for row in rows], values["change_data"], DELIVERED)
    return [
        (*single_sqlite.loaded(Result, row), pk, UUID(uuid), seq)
        for row, (pk, uuid, seq) in zip(rows, tasks, strict=True)
    ]


def _tell(
    session: single_sqlite.Session, changed: Sequence[single_sqlite.Row], data: str, event: str
) -> Sequence[single_sqlite.Row]:
    """Journal one change of each task whose pk ``changed`` holds; return its pk, uuid and number."""
    session.give(result=json_text.dumps([{"task_id": pk} for (pk,) in changed]))
    by_pk = {row[0]: row for row in session.rows(NUMBER)}
    tasks = [by_pk[pk] for (pk,) in changed]
    items = [
        {"place": place, "uuid": uuid, "journal_seq": seq, "data": data} for place, (_, uuid, seq) in enumerate(tasks)
    ]
    session.give(task=json_text.dumps(items))
    session.run(event)
    return tasks


def _reads(sql: str, values: Mapping[str, Any]) -> Sequence[single_sqlite.Row]:
    with connection.cursor() as cursor:
        return single_sqlite.Session(cursor, values, statement).rows(sql)


@cache
def statement(text: str) -> str:
    """Return a statement as this database runs it."""
    values = ", ".join(f"task_{field.attname}" for field in single.new_task_fields())
    return single.written(text, **single_sqlite.CASTS, new_values=values, times_out_at="times_out_at", joined="")

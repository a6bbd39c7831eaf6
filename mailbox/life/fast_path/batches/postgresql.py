"""The plain case of each verb of batches as one PostgreSQL statement, committed by itself.

Results take a statement more, which reads their tasks. Rows are locked in one order: results by task, then the stocks
of recipients, then that of the sender. Leases and drains skip locked rows, and lock theirs last.

The planner takes `given` and `head` for one row, because of their conditions on `place`. So it reads every row of the
large tables by its index, also while a table is small or its statistics are old.
"""

# ruff: noqa: S608 (only clauses and columns of our own are put into the statements)

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.db import IntegrityError, OperationalError, connection
from django.db.models import CharField

from mailbox.database import prepared
from mailbox.life.fast_path import statements as single
from mailbox.life.fast_path.batches import statements
from mailbox.life.fast_path.postgresql import CASTS
from mailbox.models.lease import Lease
from mailbox.models.result import Result
from mailbox.models.task import Task
from mailbox.words import json_text

Row = tuple[Any, ...]
Items = Sequence[Mapping[str, Any]]

MOST_AT_ONCE = 100
DEADLOCK = "40P01"


def _items(columns: Mapping[str, str], order: str) -> str:
    """Return the query of the items of a batch."""
    shape = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    items = f"json_to_recordset(%(items)s::json) AS item({shape})"
    return f"SELECT * FROM {items} WHERE place BETWEEN 1 AND %(number)s ORDER BY {order}"


def _agent_of(column: str) -> str:
    """Return the join of the agent with the primary key in ``column``, as ``party``."""
    return f"""
LEFT JOIN LATERAL (SELECT id, display, pubkey FROM mailbox_agent WHERE id = {column} OFFSET 0) AS party ON true"""


LOCKED = f"LIMIT {MOST_AT_ONCE} FOR NO KEY UPDATE OF task"
OLDEST_TASKS = f"SELECT task.id, task.deadline_ms, task.size {single.IN_THE_QUEUE} {LOCKED} SKIP LOCKED"
SIZE = "octet_length(result.content) + COALESCE(octet_length(result.error_message), 0)"
OLDEST_RESULTS = f"SELECT result.id, {SIZE} AS size {single.PENDING_IN_ORDER} {LOCKED}, result SKIP LOCKED"

# Without the OFFSET, the planner may read all tasks of the sender or of the recipient for each item.
NAMED_TASK = "LATERAL (SELECT {task_columns} FROM mailbox_task WHERE uuid = given.uuid OFFSET 0)"
ANSWERABLE = (
    f"WITH given AS MATERIALIZED ({_items(statements.ANSWER_COLUMNS, 'place')}) {statements.answerable(NAMED_TASK)}"
)

PAIRS = "SELECT recipient_id, count(*) AS number FROM task GROUP BY recipient_id"
# The pairs are counted so that their rows are locked before that of the sender.
SENT = "SELECT count(*) AS number, sum(size) AS size FROM task WHERE (SELECT count(*) FROM pair) > 0"
SEND = f"""
WITH given AS MATERIALIZED ({{items}}
), task AS (
    INSERT INTO mailbox_task ({{new_columns}}) SELECT {{new_values}}
    FROM given ORDER BY place
    ON CONFLICT DO NOTHING RETURNING id, uuid, recipient_id, size
), pair AS ({statements.counted_for_pairs(PAIRS)} RETURNING sender_id
), sender AS ({statements.counted_for_sender(SENT)}
), stored AS MATERIALIZED (
    SELECT * FROM given WHERE (task_uuid IN (SELECT uuid FROM task)) IS TRUE
), journal AS ({statements.checks_and_changes("change", "stored", "task_uuid", "task_journal_seq")}
)
SELECT uuid, id FROM task
"""

LEASE_DATA = f"""replace(replace(%(change_data)s::text, (%(lease_ids)s::uuid[])[1]::text, lease_id::text),
               '"attempt":{single.ATTEMPT_TO_COME}', '"attempt":' || attempt)"""
# A lease is taken after the results have locked their tasks, and waits for no lock.
WORK = f"""
WITH given AS MATERIALIZED ({_items(statements.ANSWERS, "task_id")}
), answered AS ({statements.RESOLVED} RETURNING given.*
), ended AS ({statements.ENDED}
), result AS ({statements.NEW_RESULTS}
), told AS ({statements.checks_and_changes("posted", "answered", "uuid", "journal_seq + 1")} RETURNING id
), head AS MATERIALIZED ({statements.up_to_the_most(OLDEST_TASKS)} AND (SELECT count(*) FROM answered) >= 0
), task AS ({statements.TAKEN}
), placed AS MATERIALIZED (SELECT *, row_number() OVER (ORDER BY queued_at, id)::int AS place FROM task
), taken AS MATERIALIZED (SELECT *, (%(lease_ids)s::uuid[])[place] AS lease_id FROM placed
), lease AS ({statements.NEW_LEASES}
), journal AS (
    {single.EVENT} {statements.event("change", "uuid", "journal_seq", LEASE_DATA)} FROM taken
    WHERE (SELECT count(*) FROM told) >= 0 ORDER BY place
)
SELECT (SELECT count(*) FROM head), {statements.LEASED_BEFORE},
       CASE WHEN COALESCE(place, 1) = 1 THEN ARRAY(SELECT ARRAY[task_id, id] FROM result) END,
       {{columns_of_task}}, {{columns_of_lease}}, party.id, party.display, party.pubkey
FROM (SELECT) AS always LEFT JOIN (taken JOIN lease ON lease.task_id = taken.id) ON true
{_agent_of("taken.sender_id")} ORDER BY place
"""

# Acknowledgements wait for the locks of their tasks, in order. The results that are delivered are others.
DRAIN = f"""
WITH overdue AS MATERIALIZED (
    SELECT sender_id FROM mailbox_task WHERE {single.OVERDUE} ORDER BY deadline_ms
), timed_out AS MATERIALIZED (
    SELECT task_id FROM mailbox_lease WHERE {single.TIMED_OUT} ORDER BY times_out_at
), named AS MATERIALIZED (
    SELECT task.id, task.uuid FROM unnest(%(acks)s::uuid[]) WITH ORDINALITY AS given(uuid, place)
    CROSS JOIN {NAMED_TASK} AS known JOIN mailbox_task task ON task.id = known.id
    WHERE place BETWEEN 1 AND %(number)s AND known.sender_id = %(sender)s AND known.state = {{resolved}}
    ORDER BY task.id FOR NO KEY UPDATE OF task
), acked AS ({statements.ACKED}
), changed AS ({statements.numbered("acked")}
), told AS (
    {single.EVENT} {statements.event("acked", "uuid", "journal_seq", "%(acked_data)s")} FROM changed ORDER BY id
    RETURNING id
), head AS MATERIALIZED ({statements.up_to_the_most(OLDEST_RESULTS)}
), seen AS MATERIALIZED (
    SELECT count(*) AS number, CASE WHEN count(*) = %(most)s THEN true ELSE NOT EXISTS (
        SELECT 1 FROM overdue WHERE sender_id = %(sender)s
    ) AND NOT EXISTS (
        SELECT 1 FROM timed_out WHERE (SELECT sender_id FROM mailbox_task WHERE id = task_id) = %(sender)s
    ) END AS is_plain FROM head
), result AS ({statements.DELIVER} AND (SELECT is_plain FROM seen) RETURNING {{columns_of_mailbox_result}}
), task AS ({statements.numbered("result")}
), journal AS ({single.EVENT} {statements.event("change", "task.uuid", "task.journal_seq", "%(change_data)s")}
    FROM task JOIN result ON result.task_id = task.id
    WHERE (SELECT count(*) FROM told) >= 0 ORDER BY receive_index
)
SELECT seen.is_plain AND (seen.number = 0 OR result.id IS NOT NULL), {statements.DRAINED_BEFORE},
       CASE WHEN COALESCE(receive_index, 0) = 0 THEN ARRAY(SELECT uuid FROM named) END,
       {{columns_of_result}}, task.id, task.uuid, task.journal_seq
FROM seen LEFT JOIN (result JOIN task ON task.id = result.task_id) ON true ORDER BY receive_index
"""


def send(items: Items, **values: object) -> Sequence[Row] | None:
    """Insert the tasks; return (uuid, pk) of each that was inserted."""
    return _guarded("SEND", {**_parameters(items), **values})


def answerable(items: Items, **values: object) -> Sequence[Row]:
    """Return each leased task whose time is not up, behind the place of its item, with its sender and lease id."""
    return prepared.rows(statement("ANSWERABLE"), {**_parameters(items), **values})


def work(answers: Items, **values: object) -> tuple[Sequence[Row], int, bool, Sequence[Row]] | None:
    """Resolve the tasks that still have the journal numbers given, then lease the recipient's oldest tasks.

    Return (task pk, result pk) of each result, how many tasks were the oldest, and whether this attempt leased before.
    The rows of the leased tasks come last, each with those of its lease and of its sender.
    """
    rows = _guarded("WORK", {**_parameters(answers), **values})
    if rows is None:
        return None
    number, before, posted = rows[0][:3]
    return posted, number, before, [row[3:] for row in rows if row[3] is not None]


def drain(acks: Sequence[UUID], **values: object) -> tuple[Sequence[UUID], bool, bool, Sequence[Row]] | None:
    """Acknowledge results, then deliver the sender's oldest pending results.

    Return the ids of the tasks whose results are acknowledged, whether the case is plain, and whether this attempt got
    results before. The rows of the results come last, each with its task's pk, uuid and journal number.
    """
    rows = _guarded("DRAIN", {"acks": acks, "number": len(acks), **values})
    if rows is None:
        return None
    is_plain, before, acked = rows[0][:3]
    return acked, is_plain, before, [row[3:] for row in rows if row[3] is not None]


def stored(value: object) -> object:
    """Return a value of a field as JSON that the database reads as the field's value."""
    match value:
        case UUID():
            return str(value)
        case datetime():
            return value.isoformat()
        case timedelta():
            return f"{value.days} days {value.seconds} seconds {value.microseconds} microseconds"
    return value


def _parameters(items: Items) -> dict[str, object]:
    return {"items": json_text.dumps(items), "number": len(items)}


def _guarded(name: str, values: Mapping[str, Any]) -> Sequence[Row] | None:
    """Run a statement; return None where a constraint stops it, or a transaction that waits for its locks."""
    try:
        return prepared.rows(statement(name), values)
    except IntegrityError:
        return None
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) != DEADLOCK:
            raise
        return None


@cache
def statement(name: str) -> str:
    """Return a statement as this database runs it."""
    templates = {"ANSWERABLE": ANSWERABLE, "SEND": SEND, "WORK": WORK, "DRAIN": DRAIN}
    fields = single.new_task_fields()
    # A cast to varchar(n) would cut a text off where an assignment refuses it.
    kinds = {one: "text" if isinstance(one, CharField) else str(one.db_type(connection)) for one in fields}
    columns = {f"task_{field.attname}": kind for field, kind in kinds.items()}
    return single.written(
        templates[name],
        **CASTS,
        items=_items({**statements.TO_SEND, **columns}, "place"),
        new_values=", ".join(columns),
        times_out_at="%(at)s::timestamptz + NULLIF(work_timeout, interval '0')",
        joined="JOIN mailbox_task task ON task.id = result.task_id AND task.id NOT IN (SELECT id FROM named)",
        columns_of_task=single.columns(Task, "taken"),
        columns_of_lease=single.columns(Lease, "lease"),
        columns_of_result=single.columns(Result, "result"),
        columns_of_mailbox_result=single.columns(Result, "mailbox_result"),
    )

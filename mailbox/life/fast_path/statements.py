"""The clauses of the hot verbs' statements, written once for both databases.

A clause reads the rows of earlier clauses as `recipient`, `head`, `task` and `result`. `postgresql` joins the clauses
of a verb into one statement. `sqlite` runs them one after another, and gives the rows to each as parameters.

`written` fills the slots in braces. A slot holds columns, a state, a cast, or SQL that differs between the databases.
"""

from __future__ import annotations

# ruff: noqa: S608 (only clauses of our own are put into the statements)
from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db.models import Field, Model

from mailbox.models.lease import Lease
from mailbox.models.result import Result
from mailbox.models.task import Task

# The states are literals, since SQLite uses no index with a condition on a state that is a parameter.
STATES = {
    name: f"'{state}'"
    for name, state in {
        "queued": Task.State.QUEUED,
        "in_flight": Task.State.IN_FLIGHT,
        "interrupted": Task.State.INTERRUPTED,
        "resolved": Task.State.RESOLVED,
        "pending": Result.Delivery.PENDING,
        "delivered": Result.Delivery.DELIVERED,
        "acked": Result.Delivery.ACKED,
        "by_result": Lease.End.RESULT,
    }.items()
}

RECIPIENT = """
SELECT id, display, pubkey FROM mailbox_agent
WHERE display = %(display)s AND (%(pubkey)s{text} IS NULL OR pubkey = %(pubkey)s{text})"""

# Without the WHERE, SQLite reads ON as the condition of a join.
NEW_TASK = """
INSERT INTO mailbox_task ({new_columns}) SELECT {new_values} FROM recipient WHERE true ON CONFLICT DO NOTHING"""

# A count beyond its quota is stored as -1, which a constraint of the table refuses. So the whole statement is undone.
COUNTED_FOR_PAIR = """
INSERT INTO mailbox_pairstock (sender_id, recipient_id, queued)
SELECT %(task_sender_id)s{bigint}, task.recipient_id, 1 FROM task WHERE true
ON CONFLICT (sender_id, recipient_id) DO UPDATE
SET queued = CASE WHEN mailbox_pairstock.queued < COALESCE(mailbox_pairstock.max_queued, %(most_queued_to_one)s{bigint})
                  THEN mailbox_pairstock.queued + 1 ELSE -1 END
RETURNING sender_id"""

COUNTED_FOR_SENDER = """
INSERT INTO mailbox_senderstock (agent_id, queued, size, callbacks)
SELECT pair.sender_id, 1,
       CASE WHEN %(task_size)s{bigint} <= %(most_bytes)s{bigint} THEN %(task_size)s{bigint} ELSE -1 END, 0
FROM pair WHERE true
ON CONFLICT (agent_id) DO UPDATE
SET queued = CASE WHEN mailbox_senderstock.queued < COALESCE(mailbox_senderstock.max_queued, %(most_queued)s{bigint})
                  THEN mailbox_senderstock.queued + 1 ELSE -1 END,
    size = CASE WHEN mailbox_senderstock.size + %(task_size)s{bigint}
                     <= COALESCE(mailbox_senderstock.max_size, %(most_bytes)s{bigint})
                THEN mailbox_senderstock.size + %(task_size)s{bigint} ELSE -1 END"""

# A receive attempt that took a task takes no other task, also after its lease has ended. A paused agent takes none.
IN_THE_QUEUE = """
FROM mailbox_task task
WHERE task.recipient_id = %(holder)s AND task.state = {queued} AND task.waits_on_id IS NULL
  AND EXISTS (SELECT 1 FROM mailbox_agent WHERE id = %(holder)s AND paused_at IS NULL)
  AND NOT EXISTS (
    SELECT 1 FROM mailbox_lease
    WHERE holder_id = %(holder)s AND receive_attempt_id = %(attempt_id)s{uuid})
ORDER BY task.queued_at, task.id"""

QUEUED = f"SELECT task.id {IN_THE_QUEUE} LIMIT 1"

# A waiting request presented its key long ago. A revoked key takes no task and no result.
KEY_IS_LIVE = """(%(credential)s{text} = '' OR EXISTS (
    SELECT 1 FROM mailbox_apikey WHERE public_id = %(credential)s{text} AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > %(at)s{moment})))
  AND (%(signing_key)s{text} IS NULL OR EXISTS (
    SELECT 1 FROM mailbox_signingkey WHERE pubkey = %(signing_key)s{text} AND retired_at IS NULL))"""

TAKEN = """
UPDATE mailbox_task SET state = {in_flight}, attempt = attempt + 1, journal_seq = journal_seq + 1,
                        status_at = %(at)s{moment}
WHERE id = (SELECT id FROM head) AND (deadline_ms IS NULL OR deadline_ms > %(now_ms)s) AND {key_is_live}
RETURNING {task_columns}"""

NEW_LEASE = """
INSERT INTO mailbox_lease (lease_id, task_id, holder_id, attempt, leased_at, last_seen_at, times_out_at,
                           receive_attempt_id, receive_index)
SELECT %(lease_id)s{uuid}, task.id, %(holder)s, task.attempt, %(at)s{moment}, %(at)s{moment}, {times_out_at},
       %(attempt_id)s{uuid}, 0
FROM task RETURNING {lease_columns}"""

# Only a task in flight has a live lease. A task has artifacts only if its journal has more than a send and a lease.
ANSWERED_BY_ITS_HOLDER = """
JOIN mailbox_agent sender ON sender.id = task.sender_id
JOIN mailbox_lease lease ON lease.task_id = task.id AND lease.ended_at IS NULL
WHERE task.uuid = %(uuid)s AND task.recipient_id = %(recipient)s AND task.cache_key IS NULL AND NOT task.calls_back
  AND (task.journal_seq <= 2 OR NOT EXISTS (SELECT 1 FROM mailbox_artifact WHERE task_id = task.id))
  AND (%(lease_id)s{uuid} IS NULL OR lease.lease_id = %(lease_id)s{uuid})
  AND (lease.times_out_at IS NULL OR lease.times_out_at > %(at)s{moment})"""

ANSWERABLE = f"""
SELECT task.id, task.uuid, task.attempt, task.journal_seq, sender.id, sender.display, sender.pubkey, lease.lease_id
FROM mailbox_task task {ANSWERED_BY_ITS_HOLDER}"""

# Each change of a task takes a journal number under the task's lock. The same number means that nothing has changed.
RESOLVED = """
UPDATE mailbox_task SET state = {resolved}, outcome = %(status)s{text}, resolved_at = %(at)s{moment},
                        journal_seq = journal_seq + 1, size = size + %(result_size)s{bigint},
                        status_at = %(at)s{moment}
WHERE id = %(task_id)s AND journal_seq = %(journal_seq)s
RETURNING id, uuid, sender_id, recipient_id, journal_seq, reads_result"""

ENDED_LEASE = """
UPDATE mailbox_lease SET ended_at = %(at)s{moment}, "end" = {by_result}
WHERE task_id = (SELECT id FROM task) AND ended_at IS NULL"""

NEW_RESULT = """
INSERT INTO mailbox_result (task_id, sender_id, recipient_id, status, content, error_message, posted_by_id, posted_at,
                            delivery, delivered_at, receive_index)
SELECT id, sender_id, recipient_id, %(status)s{text}, %(content)s, %(error_message)s, recipient_id, %(at)s{moment},
       CASE WHEN reads_result THEN {delivered} ELSE {pending} END, CASE WHEN reads_result THEN %(at)s{moment} END, 0
FROM task RETURNING {result_columns}"""

# A receive attempt that got a result gets no other result, also after its result was acknowledged.
PENDING_IN_ORDER = """
FROM mailbox_result result {joined}
WHERE result.sender_id = %(sender)s AND result.delivery = {pending}
  AND NOT EXISTS (
    SELECT 1 FROM mailbox_result
    WHERE sender_id = %(sender)s AND receive_attempt_id = %(attempt_id)s{uuid})
ORDER BY result.posted_at, result.id"""

PENDING = f"SELECT result.id {PENDING_IN_ORDER} LIMIT 1"

DELIVER = """
UPDATE mailbox_result SET delivery = {delivered}, delivered_at = %(at)s{moment},
                          receive_attempt_id = %(attempt_id)s{uuid}, receive_index = 0
WHERE id = (SELECT id FROM head) AND {key_is_live}
RETURNING {result_columns}"""

NUMBERED = """
UPDATE mailbox_task SET journal_seq = journal_seq + 1 WHERE id = (SELECT task_id FROM result)
RETURNING id, uuid, journal_seq"""

# The whole form of a drain ends the sender's tasks that are out of time, if no result is pending.
OVERDUE = "state IN ({queued}, {interrupted}) AND deadline_ms <= %(now_ms)s"
TIMED_OUT = "ended_at IS NULL AND times_out_at <= %(at)s{moment}"

EVENT = """
INSERT INTO mailbox_auditevent (kind, actor, actor_pubkey, task_id, seq, data, at, request_id, source, address)"""
STAMP = "%(at)s{moment}, %(request_id)s, %(source)s, %(address)s"
_STAMPED = f"{STAMP} FROM task"
_CHECK = f"""
SELECT %(check_kind)s, %(actor)s, %(actor_pubkey)s, %(check_task_id)s{{uuid}}, NULL, %(check_data)s, {_STAMPED}"""
_CHANGE = """
SELECT %(change_kind)s, %(actor)s, %(actor_pubkey)s, task.uuid, task.journal_seq, {data}, """
_DATA = "%(change_data)s{text}"
# The journal entry of a lease holds this number until the statement replaces it by the attempt that it counted.
ATTEMPT_TO_COME = 0
_LEASE_DATA = f"""replace({_DATA}, '"attempt":{ATTEMPT_TO_COME}', '"attempt":' || task.attempt)"""

JOURNAL = EVENT + _CHANGE.format(data=_DATA) + _STAMPED
JOURNAL_OF_LEASE = EVENT + _CHANGE.format(data=_LEASE_DATA) + _STAMPED
JOURNAL_WITH_CHECK = f"{EVENT}{_CHECK} UNION ALL {_CHANGE.format(data=_DATA)}{_STAMPED}"


def written(text: str, /, **slots: str) -> str:
    """Return the statement with its slots filled. Its columns are those of the models, so a new one needs no change."""
    return text.format(
        task_columns=columns(Task),
        lease_columns=columns(Lease),
        result_columns=columns(Result),
        new_columns=", ".join(f'"{field.column}"' for field in new_task_fields()),
        key_is_live=KEY_IS_LIVE.format(**slots),
        **STATES,
        **slots,
    )


def columns(model: type[Model], table: str = "") -> str:
    """Return the columns of ``model`` in its order, each behind the name of ``table`` if one is given."""
    return ", ".join(f'{table and f"{table}."}"{field.column}"' for field in model._meta.concrete_fields)


@cache
def new_task_fields() -> Sequence[Field[Any, Any]]:
    """Return the fields that an insert of a task sets: all but the primary key."""
    return [field for field in Task._meta.concrete_fields if not field.primary_key]


def new_task_values(task: Task) -> dict[str, Any]:
    """Return the values of these fields by the names of their parameters."""
    return {parameter: getattr(task, name) for parameter, name in _parameters()}


@cache
def _parameters() -> Sequence[tuple[str, str]]:
    return [(f"task_{field.attname}", field.attname) for field in new_task_fields()]

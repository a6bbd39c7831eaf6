"""The clauses of the statements of batches, written once for both databases, as those of `fast_path.statements`.

A clause reads the items of the batch as `given`, and the rows of earlier clauses by their names. `written` of
`fast_path.statements` fills the slots in braces.
"""

# ruff: noqa: S608 (only clauses and columns of our own are put into the statements)

from mailbox.life.fast_path import statements

# The columns of the items, with their types on PostgreSQL. A task to send has those of its row besides.
ANSWER_COLUMNS = {"place": "int", "uuid": "uuid", "lease_id": "uuid"}
CHECKED = {"check_task_id": "uuid", "check_data": "text", "change_data": "text"}
TO_SEND = {"place": "int", **CHECKED}
ANSWERS = {
    "place": "int",
    "task_id": "bigint",
    "uuid": "uuid",
    "journal_seq": "int",
    "sender_id": "bigint",
    "status": "text",
    "content": "text",
    "error_message": "text",
    "size": "bigint",
    "reads_result": "boolean",
    **CHECKED,
}


def counted_for_pairs(numbers: str) -> str:
    """Return the clause that counts tasks for their recipients. ``numbers`` is a query of recipient_id and number.

    A count beyond its quota is stored as -1, which a constraint of the table refuses. So the whole batch is undone.
    """
    return f"""
INSERT INTO mailbox_pairstock (sender_id, recipient_id, queued)
SELECT %(sender)s{{bigint}}, recipient_id, CASE WHEN number <= %(most_queued_to_one)s{{bigint}} THEN number ELSE -1 END
FROM ({numbers}) AS sent WHERE true ORDER BY recipient_id
ON CONFLICT (sender_id, recipient_id) DO UPDATE
SET queued = CASE WHEN mailbox_pairstock.queued + excluded.queued
                       <= COALESCE(mailbox_pairstock.max_queued, %(most_queued_to_one)s{{bigint}})
                  THEN mailbox_pairstock.queued + excluded.queued ELSE -1 END"""


def counted_for_sender(numbers: str) -> str:
    """Return the clause that counts tasks for their sender. ``numbers`` is a query of number and size."""
    return f"""
INSERT INTO mailbox_senderstock (agent_id, queued, size, callbacks)
SELECT %(sender)s{{bigint}}, CASE WHEN number <= %(most_queued)s{{bigint}} THEN number ELSE -1 END,
       CASE WHEN size <= %(most_bytes)s{{bigint}} THEN size ELSE -1 END, 0
FROM ({numbers}) AS sent WHERE number > 0
ON CONFLICT (agent_id) DO UPDATE
SET queued = CASE WHEN mailbox_senderstock.queued + excluded.queued
                       <= COALESCE(mailbox_senderstock.max_queued, %(most_queued)s{{bigint}})
                  THEN mailbox_senderstock.queued + excluded.queued ELSE -1 END,
    size = CASE WHEN mailbox_senderstock.size + excluded.size
                     <= COALESCE(mailbox_senderstock.max_size, %(most_bytes)s{{bigint}})
                THEN mailbox_senderstock.size + excluded.size ELSE -1 END"""


_HELD = statements.ANSWERED_BY_ITS_HOLDER.replace("%(uuid)s", "given.uuid")


def answerable(tasks: str) -> str:
    """Return the same look as for one result. ``tasks`` is the source of the task that each item of `given` names."""
    return f"""
SELECT given.place, task.id, task.uuid, task.attempt, task.journal_seq, task.reads_result,
       sender.id, sender.display, sender.pubkey, lease.lease_id
FROM given CROSS JOIN {tasks} AS task {_HELD.replace("%(lease_id)s{uuid}", "given.lease_id")}"""


# Each change of a task takes a journal number under the task's lock. The same number means that nothing has changed.
RESOLVED = """
UPDATE mailbox_task SET state = {resolved}, outcome = given.status, resolved_at = %(at)s{moment},
                        journal_seq = mailbox_task.journal_seq + 1, size = mailbox_task.size + given.size,
                        status_at = %(at)s{moment}
FROM given WHERE mailbox_task.id = given.task_id AND mailbox_task.journal_seq = given.journal_seq"""

ENDED = """
UPDATE mailbox_lease SET ended_at = %(at)s{moment}, "end" = {by_result}
WHERE task_id IN (SELECT task_id FROM answered) AND ended_at IS NULL"""

NEW_RESULTS = """
INSERT INTO mailbox_result (task_id, sender_id, recipient_id, status, content, error_message, posted_by_id, posted_at,
                            delivery, delivered_at, receive_index)
SELECT task_id, sender_id, %(holder)s, status, content, error_message, %(holder)s, %(at)s{moment},
       CASE WHEN reads_result THEN {delivered} ELSE {pending} END, CASE WHEN reads_result THEN %(at)s{moment} END, 0
FROM answered WHERE true ORDER BY place RETURNING task_id, id"""


def up_to_the_most(rows: str) -> str:
    """Return the query of the first of ``rows``, by number and by the bytes of one answer. The first may be larger."""
    return f"""
SELECT * FROM (
    SELECT *, row_number() OVER () AS place, sum(size) OVER (ROWS UNBOUNDED PRECEDING) AS bytes
    FROM (SELECT * FROM ({rows}) AS oldest LIMIT %(most)s) AS ordered
) AS counted WHERE place BETWEEN 1 AND %(most)s AND (place = 1 OR bytes <= %(budget)s)"""


TAKEN = """
UPDATE mailbox_task SET state = {in_flight}, attempt = attempt + 1, journal_seq = journal_seq + 1,
                        status_at = %(at)s{moment}
WHERE id IN (SELECT id FROM head) AND NOT EXISTS (SELECT 1 FROM head WHERE deadline_ms <= %(now_ms)s)
  AND {key_is_live}
RETURNING {task_columns}"""

NEW_LEASES = """
INSERT INTO mailbox_lease (lease_id, task_id, holder_id, attempt, leased_at, last_seen_at, times_out_at,
                           receive_attempt_id, receive_index)
SELECT lease_id, id, %(holder)s, attempt, %(at)s{moment}, %(at)s{moment}, {times_out_at}, %(attempt_id)s{uuid},
       place - 1
FROM taken WHERE true ORDER BY place RETURNING {lease_columns}"""

# Whether an earlier call of this attempt leased a task, or got a result.
LEASED_BEFORE = """EXISTS (
    SELECT 1 FROM mailbox_lease WHERE holder_id = %(holder)s AND receive_attempt_id = %(attempt_id)s{uuid})"""
DRAINED_BEFORE = """EXISTS (
    SELECT 1 FROM mailbox_result WHERE sender_id = %(sender)s AND receive_attempt_id = %(attempt_id)s{uuid})"""

ACKED = """
UPDATE mailbox_result SET delivery = {acked}, acked_at = %(at)s{moment}
WHERE task_id IN (SELECT id FROM named) AND delivery <> {acked} RETURNING task_id"""

DELIVER = """
UPDATE mailbox_result SET delivery = {delivered}, delivered_at = %(at)s{moment},
                          receive_attempt_id = %(attempt_id)s{uuid}, receive_index = head.place - 1
FROM head WHERE mailbox_result.id = head.id AND {key_is_live}"""


def numbered(source: str) -> str:
    """Return the clause that numbers a change of each task that ``source`` holds."""
    return f"""
UPDATE mailbox_task SET journal_seq = journal_seq + 1 WHERE id IN (SELECT task_id FROM {source})
RETURNING id, uuid, journal_seq"""


def event(kind: str, task_id: str, seq: str, data: str) -> str:
    """Return the start of the query of a journal row for each change, up to its FROM."""
    return f"SELECT %({kind}_kind)s, %(actor)s, %(actor_pubkey)s, {task_id}, {seq}, {data}, {statements.STAMP}"


def checks_and_changes(kind: str, source: str, task_id: str, seq: str) -> str:
    """Return the clause that writes two journal rows for each item of ``source``: its check, then its change."""
    return f"""{statements.EVENT}
SELECT CASE half WHEN 1 THEN %(check_kind)s{{text}} ELSE %({kind}_kind)s{{text}} END, %(actor)s, %(actor_pubkey)s,
       CASE half WHEN 1 THEN check_task_id ELSE {task_id} END, CASE half WHEN 2 THEN {seq} END,
       CASE half WHEN 1 THEN check_data ELSE change_data END, {statements.STAMP}
FROM {source} CROSS JOIN (SELECT 1 AS half UNION ALL SELECT 2) AS halves WHERE true ORDER BY place, half"""

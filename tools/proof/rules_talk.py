"""Rules of conversations: open questions, one order of messages and artifacts, and whole artifacts."""

from collections import Counter
from collections.abc import Iterator

from tools.proof.evidence import Evidence, Violation, of_kind
from tools.proof.rows import Row

SPOKEN = ("a2a_message_sent", "a2a_task_asked", "a2a_task_updated")


def questions(evidence: Evidence) -> Iterator[Violation]:
    """An interrupted task has no live lease and one open question, and no other task has one (C1)."""
    live = {row["task__uuid"] for row in evidence.leases if row["ended_at"] is None}
    for task_id, task in evidence.tasks.items():
        is_interrupted = task["state"] == "interrupted"
        if is_interrupted and task_id in live:
            yield Violation("question_beside_a_lease", task_id)
        if is_interrupted != bool(task["awaits"]):
            yield Violation("state_without_its_question", task_id, f"{task['state']} awaits {task['awaits']}")


def order(evidence: Evidence) -> Iterator[Violation]:
    """Each message and artifact stands under the number of its own journal row, and each such row has one (C2)."""
    rows = [(row["task__uuid"], row["seq"]) for row in (*evidence.messages, *evidence.artifacts)]
    journalled = {
        (event["task_id"], event["seq"])
        for events in evidence.by_request.values()
        for event in of_kind(events, *SPOKEN)
        if event["task_id"] in evidence.tasks
    }
    for task_id, seq in journalled - set(rows):
        yield Violation("said_but_not_stored", task_id, f"row {seq}")
    for task_id, seq in set(rows) - journalled:
        yield Violation("stored_but_not_journalled", task_id, f"row {seq}")
    if len(set(rows)) != len(rows):
        yield Violation("two_rows_of_one_number", "", str(len(rows) - len(set(rows))))


def turns(evidence: Evidence) -> Iterator[Violation]:
    """A task counts the messages of its sender, of which the task itself is the first."""
    said = Counter(row["task__uuid"] for row in evidence.messages if row["role"] == "user")
    for task_id, task in evidence.tasks.items():
        if task["turn"] != said[task_id] + 1:
            yield Violation("turns_not_counted", task_id, f"{task['turn']} turns, {said[task_id]} further messages")


def artifacts(evidence: Evidence) -> Iterator[Violation]:
    """No chunk is added to an artifact that the task does not have (C3)."""
    placed: set[tuple[str, str]] = set()
    for row in evidence.artifacts:
        if row["append"] and _name(row) not in placed:
            yield Violation("chunk_without_its_artifact", row["task__uuid"], row["artifact_id"])
        placed.add(_name(row))


def _name(row: Row) -> tuple[str, str]:
    return row["task__uuid"], row["artifact_id"]

"""The numbered rows of a task's life, from its send to the acknowledgement of its result."""

import hashlib
from typing import Annotated, NotRequired, TypedDict
from uuid import UUID

from mailbox.words.kinds import Kind, LifeEntry


class TaskSentData(TypedDict):
    sender: Annotated[str, "display of the sender"]
    recipient: Annotated[str, "display of the recipient"]
    waits_on: NotRequired[Annotated[str, "id of the unresolved task whose result this duplicate takes"]]
    imported: NotRequired[Annotated[bool, "true for a task that was imported from another system"]]
    copy_of: NotRequired[Annotated[str, "id of the task of which a person sent this copy"]]


def task_sent(
    sender: str,
    recipient: str,
    *,
    waits_on: UUID | None = None,
    is_imported: bool = False,
    copy_of: UUID | None = None,
) -> LifeEntry[TaskSentData]:
    """Record that a task was stored for its recipient."""
    data = TaskSentData(sender=sender, recipient=recipient)
    if waits_on is not None:
        data["waits_on"] = str(waits_on)
    if is_imported:
        data["imported"] = True
    if copy_of is not None:
        data["copy_of"] = str(copy_of)
    return LifeEntry(Kind.TASK_SENT, data)


class TaskLeasedData(TypedDict):
    lease_id: Annotated[str, "id of the new lease"]
    attempt: Annotated[int, "number of the lease, from 1"]
    holder: Annotated[str, "display of the agent that holds the lease"]


def task_leased(lease_id: UUID, attempt: int, holder: str) -> LifeEntry[TaskLeasedData]:
    """Record that an agent leased the task."""
    return LifeEntry(Kind.TASK_LEASED, TaskLeasedData(lease_id=str(lease_id), attempt=attempt, holder=holder))


class TaskReleasedData(TypedDict):
    lease_id: Annotated[str, "id of the lease that ended"]
    attempt: Annotated[int, "number of that lease"]
    reason: Annotated[str, "why the holder released the task"]


def task_released(lease_id: UUID, attempt: int, reason: str) -> LifeEntry[TaskReleasedData]:
    """Record that the holder handed its lease back, and the task went to the back of the queue."""
    return LifeEntry(Kind.TASK_RELEASED, TaskReleasedData(lease_id=str(lease_id), attempt=attempt, reason=reason))


class ArtifactData(TypedDict):
    """An artifact or a chunk of one. The journal names it; its row holds the content, which compaction deletes."""

    artifact_id: Annotated[str, "id of the artifact within its task"]
    append: Annotated[bool, "whether the blocks were added to an artifact"]
    last_chunk: Annotated[bool, "whether the artifact was complete with these blocks"]
    blocks: Annotated[int, "number of content blocks"]
    bytes: Annotated[int, "bytes of their JSON text"]


class TaskUpdatedData(TypedDict):
    lease_id: Annotated[str | None, "id of the holder's lease; null for an artifact of a cached result"]
    message_number: NotRequired[Annotated[int, "number of the message in its task, which is the row's own"]]
    message_bytes: NotRequired[Annotated[int, "bytes of the message's JSON text, with its note"]]
    message_sha256: NotRequired[Annotated[str, "SHA-256 of that text; compaction deletes the text itself"]]
    progress: NotRequired[Annotated[float, "share of the work that is done, 0 to 1"]]
    artifact: NotRequired[
        Annotated[ArtifactData, "artifact_id, append, last_chunk, number of blocks, bytes; left out for a message"]
    ]


def task_updated(
    lease_id: UUID | None, posted: ArtifactData | str, *, number: int, progress: float | None = None
) -> LifeEntry[TaskUpdatedData]:
    """Record that the holder posted a message, its progress, or both, or an artifact.

    ``posted`` is the JSON text of the message as it is stored, or the artifact. ``lease_id`` None: the artifact is
    part of a cached result.
    """
    data = TaskUpdatedData(lease_id=None if lease_id is None else str(lease_id))
    if not isinstance(posted, str):
        data["artifact"] = posted
        return LifeEntry(Kind.TASK_UPDATED, data)
    text = posted.encode()
    data["message_number"] = number
    data["message_bytes"] = len(text)
    data["message_sha256"] = hashlib.sha256(text).hexdigest()
    if progress is not None:
        data["progress"] = progress
    return LifeEntry(Kind.TASK_UPDATED, data)


class TaskAskedData(TypedDict):
    lease_id: Annotated[str, "id of the lease that the question ended"]
    awaits: Annotated[str, "what the task waits for: input or authorization"]


def task_asked(lease_id: UUID, awaits: str) -> LifeEntry[TaskAskedData]:
    """Record that the holder put a question to the sender, which interrupted the task and ended the lease."""
    return LifeEntry(Kind.TASK_ASKED, TaskAskedData(lease_id=str(lease_id), awaits=awaits))


class MessageSentData(TypedDict):
    turn: Annotated[int, "number of the message among those of the sender; the task itself is 1"]
    message_id: Annotated[str, "id of the message, as the sender named it; empty without one"]
    answers: NotRequired[Annotated[str, "what the task waited for: input or authorization; left out if for nothing"]]


def message_sent(turn: int, message_id: str, *, answers: str | None = None) -> LifeEntry[MessageSentData]:
    """Record a further message of the sender. An interrupted task waited for ``answers``, and is queued again."""
    data = MessageSentData(turn=turn, message_id=message_id)
    if answers is not None:
        data["answers"] = answers
    return LifeEntry(Kind.MESSAGE_SENT, data)


class TaskCancelledData(TypedDict):
    reason: Annotated[str, "why the sender cancelled the task; empty without a reason"]


def task_cancelled(reason: str) -> LifeEntry[TaskCancelledData]:
    """Record that the sender cancelled the task, which resolved it."""
    return LifeEntry(Kind.TASK_CANCELLED, TaskCancelledData(reason=reason))


class TaskExpiredData(TypedDict):
    reason: Annotated[str, "the error message of the task's result"]
    deadline_ms: NotRequired[Annotated[int, "the deadline that passed in the queue, in Unix milliseconds"]]
    lease_id: NotRequired[Annotated[str, "id of the lease that outlasted the task's work timeout"]]
    attempt: NotRequired[Annotated[int, "number of that lease"]]


def task_expired(
    reason: str, *, deadline_ms: int | None = None, lease_id: UUID | None = None, attempt: int | None = None
) -> LifeEntry[TaskExpiredData]:
    """Record that a task expired: it was queued past its deadline, or its lease outlasted the work timeout."""
    data = TaskExpiredData(reason=reason)
    if deadline_ms is not None:
        data["deadline_ms"] = deadline_ms
    if lease_id is not None:
        data["lease_id"] = str(lease_id)
    if attempt is not None:
        data["attempt"] = attempt
    return LifeEntry(Kind.TASK_EXPIRED, data)


class TaskWokenData(TypedDict):
    waited_on: Annotated[str, "id of the task that ended without a result to share"]


def task_woken(waited_on: UUID) -> LifeEntry[TaskWokenData]:
    """Record that a duplicate stopped waiting for another task's result and can be leased."""
    return LifeEntry(Kind.TASK_WOKEN, TaskWokenData(waited_on=str(waited_on)))


class ResultPostedData(TypedDict):
    status: Annotated[str, "status of the result: ok, partial, error or rejected"]
    lease_id: Annotated[str | None, "id of the lease that the result ended; null without a live lease"]
    attempt: Annotated[int, "number of the task's newest lease; 0 for a task that was never leased"]
    late_result: Annotated[bool, "whether no lease was live when the result came"]
    imported: NotRequired[Annotated[bool, "true for a result that was imported from another system"]]


def result_posted(
    status: str, *, lease_id: UUID | None, attempt: int, is_imported: bool = False
) -> LifeEntry[ResultPostedData]:
    """Record that the recipient posted a result, which resolved the task."""
    data = ResultPostedData(
        status=status,
        lease_id=None if lease_id is None else str(lease_id),
        attempt=attempt,
        late_result=lease_id is None,
    )
    if is_imported:
        data["imported"] = True
    return LifeEntry(Kind.RESULT_POSTED, data)


class ResultReplayedData(TypedDict):
    source_task_id: Annotated[str, "id of the task whose cached result was used"]
    status: Annotated[str, "status of the result"]


def result_replayed(source_task_id: UUID, status: str) -> LifeEntry[ResultReplayedData]:
    """Record that the hub resolved the task with a cached result."""
    return LifeEntry(Kind.RESULT_REPLAYED, ResultReplayedData(source_task_id=str(source_task_id), status=status))


class ResultDeliveredData(TypedDict):
    attempt_id: Annotated[str | None, "the sender's id of the receive call; null without one"]


def result_delivered(attempt_id: UUID | None) -> LifeEntry[ResultDeliveredData]:
    """Record that the sender received the result."""
    return LifeEntry(
        Kind.RESULT_DELIVERED, ResultDeliveredData(attempt_id=None if attempt_id is None else str(attempt_id))
    )


class ResultAckedData(TypedDict):
    pass


def result_acked() -> LifeEntry[ResultAckedData]:
    """Record that the sender acknowledged the result."""
    return LifeEntry(Kind.RESULT_ACKED, ResultAckedData())


class RepairAppliedData(TypedDict):
    task_id: Annotated[str, "id of the task"]
    action: Annotated[str, "requeue, auto_requeue or force_error"]
    reason: Annotated[str, "why the lease was repaired"]
    lease_id: Annotated[str | None, "id of the lease that the request named; null without one"]
    duplicate_risk: Annotated[str | None, "idempotent or operator_accepted; null for force_error"]
    attempt: Annotated[int, "number of the lease that ended"]


def repair_applied(
    task_id: UUID,
    action: str,
    *,
    reason: str,
    lease_id: UUID | None,
    duplicate_risk: str | None,
    attempt: int,
) -> LifeEntry[RepairAppliedData]:
    """Record that a lease was ended by a person, an agent that may repair, or the retry gate."""
    data = RepairAppliedData(
        task_id=str(task_id),
        action=action,
        reason=reason,
        lease_id=None if lease_id is None else str(lease_id),
        duplicate_risk=duplicate_risk,
        attempt=attempt,
    )
    return LifeEntry(Kind.REPAIR_APPLIED, data)

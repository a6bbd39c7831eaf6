"""The numbered rows of a task's life, from its send to the acknowledgement of its result, and others about tasks."""

import hashlib
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Annotated, Self, TypedDict
from uuid import UUID

from mailbox.words.kinds import Entry, Kind, LifeEntry


class TaskSentEntry(LifeEntry, kind=Kind.TASK_SENT):
    """A task was stored for its recipient."""

    sender: Annotated[str, "display of the sender"]
    recipient: Annotated[str, "display of the recipient"]
    waits_on: Annotated[UUID | None, "id of the unresolved task whose result this duplicate takes"] = None
    imported: Annotated[bool, "true for a task that was imported from another system"] = False
    copy_of: Annotated[UUID | None, "id of the task of which a person sent this copy"] = None


class TaskLeasedEntry(LifeEntry, kind=Kind.TASK_LEASED):
    """An agent leased the task."""

    lease_id: Annotated[UUID, "id of the new lease"]
    attempt: Annotated[int, "number of the lease, from 1"]
    holder: Annotated[str, "display of the agent that holds the lease"]


class TaskReleasedEntry(LifeEntry, kind=Kind.TASK_RELEASED):
    """The holder handed its lease back, and the task went to the back of the queue."""

    lease_id: Annotated[UUID, "id of the lease that ended"]
    attempt: Annotated[int, "number of that lease"]
    reason: Annotated[str, "why the holder released the task"]


class ArtifactData(TypedDict):
    """An artifact or a chunk of one. The journal names it; its row holds the content, which compaction deletes."""

    artifact_id: Annotated[str, "id of the artifact within its task"]
    append: Annotated[bool, "whether the blocks were added to an artifact"]
    last_chunk: Annotated[bool, "whether the artifact was complete with these blocks"]
    blocks: Annotated[int, "number of content blocks"]
    bytes: Annotated[int, "bytes of their JSON text"]


class TaskUpdatedEntry(LifeEntry, kind=Kind.TASK_UPDATED):
    """The holder posted a message, its progress, or both, or an artifact."""

    lease_id: Annotated[UUID | None, "id of the holder's lease; null for an artifact of a cached result"]
    message_number: Annotated[int | None, "number of the message in its task, which is the row's own"] = None
    message_bytes: Annotated[int | None, "bytes of the message's JSON text, with its note"] = None
    message_sha256: Annotated[str | None, "SHA-256 of that text; compaction deletes the text itself"] = None
    progress: Annotated[float | None, "share of the work that is done, 0 to 1"] = None
    artifact: Annotated[
        ArtifactData | None, "artifact_id, append, last_chunk, number of blocks, bytes; left out for a message"
    ] = None

    @classmethod
    def of_message(cls, lease_id: UUID, content: str, *, number: int, progress: float | None) -> Self:
        """Return the row of a message. ``content`` is its JSON text as it is stored."""
        text = content.encode()
        return cls(
            lease_id,
            message_number=number,
            message_bytes=len(text),
            message_sha256=hashlib.sha256(text).hexdigest(),
            progress=progress,
        )


class TaskAskedEntry(LifeEntry, kind=Kind.TASK_ASKED):
    """The holder put a question to the sender, which interrupted the task and ended the lease."""

    lease_id: Annotated[UUID, "id of the lease that the question ended"]
    awaits: Annotated[str, "what the task waits for: input or authorization"]


class MessageSentEntry(LifeEntry, kind=Kind.MESSAGE_SENT):
    """The sender sent a further message. An interrupted task waited for ``answers``, and is queued again."""

    turn: Annotated[int, "number of the message among those of the sender; the task itself is 1"]
    message_id: Annotated[str, "id of the message, as the sender named it; empty without one"]
    answers: Annotated[str | None, "what the task waited for: input or authorization; left out if for nothing"] = None


class TaskCancelledEntry(LifeEntry, kind=Kind.TASK_CANCELLED):
    """The sender cancelled the task, which resolved it."""

    reason: Annotated[str, "why the sender cancelled the task; empty without a reason"]


class TaskExpiredEntry(LifeEntry, kind=Kind.TASK_EXPIRED):
    """A task expired: it was queued past its deadline, or its lease outlasted the work timeout."""

    reason: Annotated[str, "the error message of the task's result"]
    deadline_ms: Annotated[int | None, "the deadline that passed in the queue, in Unix milliseconds"] = None
    lease_id: Annotated[UUID | None, "id of the lease that outlasted the task's work timeout"] = None
    attempt: Annotated[int | None, "number of that lease"] = None


class TaskWokenEntry(LifeEntry, kind=Kind.TASK_WOKEN):
    """A duplicate stopped waiting for another task's result and can be leased."""

    waited_on: Annotated[UUID, "id of the task that ended without a result to share"]


class ResultPostedEntry(LifeEntry, kind=Kind.RESULT_POSTED):
    """The recipient posted a result, which resolved the task."""

    status: Annotated[str, "status of the result: ok, partial, error or rejected"]
    lease_id: Annotated[UUID | None, "id of the lease that the result ended; null without a live lease"]
    attempt: Annotated[int, "number of the task's newest lease; 0 for a task that was never leased"]
    late_result: Annotated[bool, "whether no lease was live when the result came"] = field(init=False)
    imported: Annotated[bool, "true for a result that was imported from another system"] = False

    def __post_init__(self) -> None:
        self.late_result = self.lease_id is None


class ResultReplayedEntry(LifeEntry, kind=Kind.RESULT_REPLAYED):
    """The hub resolved the task with a cached result."""

    source_task_id: Annotated[UUID, "id of the task whose cached result was used"]
    status: Annotated[str, "status of the result"]


class ResultDeliveredEntry(LifeEntry, kind=Kind.RESULT_DELIVERED):
    """The sender received the result."""

    attempt_id: Annotated[UUID | None, "the sender's id of the receive call; null without one"]


class ResultAckedEntry(LifeEntry, kind=Kind.RESULT_ACKED):
    """The sender acknowledged the result."""


class RepairAppliedEntry(LifeEntry, kind=Kind.REPAIR_APPLIED):
    """A lease was ended by a person, an agent that may repair, or the retry gate."""

    task_id: Annotated[UUID, "id of the task"]
    action: Annotated[str, "requeue, auto_requeue or force_error"]
    reason: Annotated[str, "why the lease was repaired"]
    lease_id: Annotated[UUID | None, "id of the lease that the request named; null without one"]
    duplicate_risk: Annotated[str | None, "idempotent or operator_accepted; null for force_error"]
    attempt: Annotated[int, "number of the lease that ended"]


class SenderMismatchEntry(Entry, kind=Kind.SENDER_MISMATCH):
    """A send was refused because it named another agent as its sender."""

    peer_display: Annotated[str, "display of the caller"]
    claimed_sender_display: Annotated[str, "the sender that the request named"]


class ResultRejectedEntry(Entry, kind=Kind.RESULT_REJECTED):
    """A result was refused for the state of its task, or because its task is unknown to the caller."""

    reason: Annotated[str, "code of the error"]


class TasksCompactedEntry(Entry, kind=Kind.TASKS_COMPACTED):
    """A finished task was deleted with its leases, messages and result.

    With the digests the hub recognises a repeated send or result. Rows of the first versions have the reason alone.
    """

    reason: Annotated[str, "retention, cap, or cleared for a request to delete all finished tasks of a dialect"]
    sender: Annotated[str, "public key of the sender"]
    recipient: Annotated[str, "public key of the recipient"]
    outcome: Annotated[str, "how the task ended"]
    attempt: Annotated[int, "number of its leases"]
    context_id: Annotated[str | None, "its conversation; null without one"]
    sent_at: Annotated[datetime, "time of the send, in ISO 8601"]
    resolved_at: Annotated[datetime, "time of its end, in ISO 8601"]
    request_digest: Annotated[str | None, "keyed digest of its content; null if a callback's secret was unreadable"]
    result_digest: Annotated[str, "keyed digest of its result"]


class ReplayDroppedEntry(Entry, kind=Kind.REPLAY_DROPPED):
    """A cached result was deleted."""

    id: Annotated[int, "number of the cache entry"]
    key: Annotated[str, "idempotency key of the cached work"]
    source_task_id: Annotated[UUID, "id of the task that earned the result"]
    reason: Annotated[str, "why an operator deleted it; expired at the end of its time to live"]

    def __post_init__(self) -> None:
        self.task_id = self.source_task_id


class PushConfigSetEntry(Entry, kind=Kind.PUSH_CONFIG_SET):
    """The sender of a task set a webhook for it, or replaced one."""

    config_id: Annotated[str, "id of the webhook within its task"]
    receiver: Annotated[str, "scheme, host and port of its URL"]


class PushConfigDeletedEntry(Entry, kind=Kind.PUSH_CONFIG_DELETED):
    """The sender of a task deleted a webhook of it."""

    config_id: Annotated[str, "id of the webhook within its task"]
    receiver: Annotated[str, "scheme, host and port of its URL"]


class PushResentEntry(Entry, kind=Kind.PUSH_RESENT):
    """A callback, or an event of a webhook, was made due again."""

    delivery_id: Annotated[UUID, "id of the delivery"]
    reason: Annotated[str, "why an operator sent it again"]


class RepairRefusedEntry(Entry, kind=Kind.REPAIR_REFUSED):
    """A repair was refused for another reason than a missing capability."""

    action: Annotated[str, "requeue or force_error"]
    reason: Annotated[str, "code of the error"]
    given_reason: Annotated[str | None, "why the caller wanted the repair; absent in rows of version 1.0"] = None
    lease_id: Annotated[UUID | None, "lease that the caller saw; absent without one, and in rows of version 1.0"] = None


class RepairPlanMadeEntry(Entry, kind=Kind.REPAIR_PLAN_MADE):
    """A person planned a repair of many leases."""

    plan: Annotated[int, "number of the plan"]
    action: Annotated[str, "requeue, force_error or send_again"]
    leases: Annotated[int, "number of leases or failed tasks in the plan"]
    query: Annotated[str, "search that chose the leases"]
    among: Annotated[str, "search of the list from which a person picked the leases by hand"]


class RepairPlanAppliedEntry(Entry, kind=Kind.REPAIR_PLAN_APPLIED):
    """A person decided to carry out a plan; each lease then has a row of its own."""

    plan: Annotated[int, "number of the plan"]
    action: Annotated[str, "requeue, force_error or send_again"]
    leases: Annotated[int, "number of leases to repair, or of tasks to send again"]
    reason: Annotated[str, "why the leases are repaired"]
    with_unsafe: Annotated[bool, "whether leases of work that is not safe to repeat are repaired too"]


class RepairPlanDiscardedEntry(Entry, kind=Kind.REPAIR_PLAN_DISCARDED):
    """A person discarded a plan."""

    plan: Annotated[int, "number of the plan"]
    action: Annotated[str, "requeue, force_error or send_again"]


class AutoRetryScanEntry(Entry, kind=Kind.AUTO_RETRY_SCAN):
    """The retry gate ran once, on its timer or by hand. Each requeue has a row of its own."""

    enabled: Annotated[bool, "false for a dry run, which changes nothing"]
    considered: Annotated[int, "number of leases that the pass examined"]
    requeued: Annotated[int, "number of tasks that it requeued"]
    skipped: Annotated[int, "number of leases that it left alone"]
    skipped_by_reason: Annotated[Mapping[str, int], "number of leases left alone, by reason"]
    min_lease_age_ms: Annotated[int, "bound: least age of a lease, in milliseconds"]
    max_attempts: Annotated[
        int, "bound: a task with this many leases is left alone; leases that ended with a question do not count"
    ]
    max_requeues: Annotated[int, "bound: requeues in one pass"]
    scan_limit: Annotated[int, "bound: leases examined in one pass"]
    error: Annotated[str | None, "why the pass failed; null for a pass that succeeded"]
    reason: Annotated[str | None, "why a person ran the pass; absent for a pass of the scheduler"] = None


class SweepFailedEntry(Entry, kind=Kind.SWEEP_FAILED):
    """A step of the sweep failed; the next sweep tries it again."""

    step: Annotated[str, "name of the step"]
    error: Annotated[str, "message of the error"]

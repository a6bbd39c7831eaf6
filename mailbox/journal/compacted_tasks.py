"""The facts that the journal keeps of a compacted task. They answer repeated sends and results after its deletion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from mailbox.journal import task_entries
from mailbox.models import Agent, AuditEvent, Result, Task
from mailbox.words import digests, json_text
from mailbox.words.envelopes import ResultEnvelope
from mailbox.words.kinds import Entry, Kind

RESULT_DELETED = "The hub has deleted this result, because its task was compacted."

Callback = tuple[str | None, str | None]  # its URL and its secret, each None if there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedTask:
    """A task without rows: its parties, its end, and digests of its request and its result.

    ``request_digest`` is None if the secret of the task's callback was unreadable: then no send repeats the task.
    """

    task_id: UUID
    sender: Agent
    recipient: Agent
    outcome: Task.Outcome
    attempt: int
    context_id: str | None
    sent_at: datetime
    resolved_at: datetime
    request_digest: str | None
    result_digest: str

    def was_sent_as(self, repeat: Task, callback: Callback) -> bool:
        """Whether ``repeat`` and its callback have the parties and the content of this task."""
        if (repeat.sender, repeat.recipient) != (self.sender, self.recipient) or self.request_digest is None:
            return False
        return digests.fits(_request(repeat, callback), self.request_digest)

    def was_answered_with(self, envelope: ResultEnvelope) -> bool:
        """Whether ``envelope`` repeats the task's result."""
        return digests.fits(envelope.compared_values(), self.result_digest)

    def has_posted_result(self) -> bool:
        """Whether the recipient posted the task's result. Otherwise the hub made it."""
        return AuditEvent.objects.of_task(self.task_id).filter(kind=Kind.RESULT_POSTED).exists()

    def as_task(self, repeat: Task | None = None) -> Task:
        """Return the resolved task as an object without a row. ``repeat`` has its content; None: it has none.

        The error message of its result says that the result was deleted.
        """
        task = repeat or Task(uuid=self.task_id, sender=self.sender, recipient=self.recipient, intent_text="")
        task.state, task.outcome, task.attempt = Task.State.RESOLVED, self.outcome, self.attempt
        task.sent_at = task.queued_at = self.sent_at
        task.resolved_at = task.status_at = self.resolved_at
        task.context_id = self.context_id
        self._result(task, content="[]", error_message=RESULT_DELETED)
        return task

    def as_result(self, envelope: ResultEnvelope) -> Result:
        """Return the result that ``envelope`` repeats as an object without a row. Its task has no content."""
        content = json_text.dumps([dict(block) for block in envelope.content])
        return self._result(self.as_task(), content=content, error_message=envelope.error_message)

    def _result(self, task: Task, *, content: str, error_message: str | None) -> Result:
        return Result(
            task=task,
            sender=self.sender,
            recipient=self.recipient,
            status=Result.Status.of(self.outcome),
            content=content,
            error_message=error_message,
            posted_at=self.resolved_at,
            delivery=Result.Delivery.DELIVERED,
        )


def kept(task: Task, callback: Callback | None, reason: str, closing: Sequence[Mapping[str, Any]] = ()) -> Entry:
    """Return the journal row of the compaction of a resolved task, which was read with its parties and its result.

    ``callback`` None: the secret of the task's callback is unreadable. ``closing`` are the closing words of the result.
    """
    return task_entries.TasksCompactedEntry(
        reason,
        task_id=task.uuid,
        sender=task.sender.pubkey,
        recipient=task.recipient.pubkey,
        outcome=task.outcome or "",
        attempt=task.attempt,
        context_id=task.context_id,
        sent_at=task.sent_at,
        resolved_at=task.resolved_at or task.sent_at,
        request_digest=None if callback is None else digests.digest(_request(task, callback)),
        result_digest=digests.digest(task.result.compared_values(closing)),
    )


def find(task_id: UUID) -> RememberedTask | None:
    """Return a compacted task; None for any other id, and for a row of a version that kept no digests."""
    row = AuditEvent.objects.compaction_of(task_id).first()
    data: Mapping[str, Any] = row.fields if row else {}
    if "result_digest" not in data:
        return None
    parties = {agent.pubkey: agent for agent in Agent.objects.filter(pubkey__in=[data["sender"], data["recipient"]])}
    if not {data["sender"], data["recipient"]} <= parties.keys():
        return None
    return RememberedTask(
        task_id=task_id,
        sender=parties[data["sender"]],
        recipient=parties[data["recipient"]],
        outcome=Task.Outcome(data["outcome"]),
        attempt=data["attempt"],
        context_id=data["context_id"],
        sent_at=datetime.fromisoformat(data["sent_at"]),
        resolved_at=datetime.fromisoformat(data["resolved_at"]),
        request_digest=data["request_digest"],
        result_digest=data["result_digest"],
    )


def _request(task: Task, callback: Callback) -> list[object]:
    return [*task.compared_values(), *callback]

"""The arguments of the tools. Pure: no queries, no clock. Their descriptions are for language models."""

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AwareDatetime, Field, model_validator

from mailbox.dialects.base.bodies import AgentField, Blocks, Exact, Integer, Number, Text
from mailbox.words import envelopes, times
from mailbox.words.conversation import RESULT, ArtifactUpdate, Update, UpdateStatus

DIALECT = "mcp"
USUAL_WAIT_MS = 30_000

Content = Annotated[Blocks, Field(description="Text, or a list of content blocks: text, json, image, audio, resource.")]
TaskId = Annotated[UUID, Field(description="The id of the task.")]
LeaseId = Annotated[
    UUID, Field(description="The lease_id that receive_task gave you. It proves that you hold the task.")
]
AttemptId = Annotated[
    UUID | None,
    Field(description="A new UUID of your own for this call. Repeat the call with it if the answer got lost."),
]
Limit = Annotated[Integer, Field(ge=1, le=100, description="How many entries the page has at most.")]
Cursor = Annotated[Text | None, Field(description="The next_cursor of the page before.")]


def _wait(usual: int) -> Any:
    words = "How many milliseconds to wait; 0 looks once. The hub may answer sooner. Then call again."
    return Field(usual, ge=0, le=times.LONGEST_WAIT_MS, description=words)


class NoArguments(Exact):
    pass


class ListAgents(Exact):
    limit: Limit = 50
    cursor: Cursor = None


class SendTask(Exact):
    recipient: AgentField = Field(description="The agent that gets the task, such as painter or painter@local.")
    text: Text = Field(description="The work. The agent sees nothing else of this conversation.")
    id: UUID | None = Field(
        None,
        description="A new UUID of your own. Send again with the same id if the answer got lost: it is stored once.",
    )
    kind: Text | None = Field(None, description="A word for this kind of work, if the agent distinguishes kinds.")
    parent: UUID | None = Field(None, description="The id of the task that this task is a part of.")
    deadline: AwareDatetime | None = Field(
        None,
        description="ISO 8601 time with an offset. A task that no agent has begun by then expires.",
    )
    work_timeout_ms: Integer | None = Field(
        None, ge=1, le=times.MOST_MS, description="How long the agent may work on the task, in milliseconds."
    )
    idempotency_key: Text | None = Field(
        None,
        max_length=envelopes.KEY_MAX_LENGTH,
        description="Names the work: two tasks with one key ask for the same work.",
    )
    duplicate_safety: Literal["unsafe", "idempotent"] = Field(
        "unsafe",
        description="Whether the work may be done twice. Idempotent work may be answered by its last result.",
    )

    @model_validator(mode="after")
    def _safety_needs_a_key(self) -> Self:
        if self.duplicate_safety == "idempotent" and self.idempotency_key is None:
            raise ValueError("duplicate_safety needs an idempotency_key")
        return self

    def envelope(self) -> envelopes.TaskEnvelope:
        key = self.idempotency_key
        return envelopes.TaskEnvelope(
            id=self.id,
            recipient=self.recipient,
            intent_text=self.text,
            task_kind=self.kind,
            parent=self.parent,
            deadline_ms=None if self.deadline is None else times.epoch_ms(self.deadline),
            idempotency=None
            if key is None
            else envelopes.Idempotency(duplicate_safety=envelopes.DuplicateSafety(self.duplicate_safety), key=key),
            work_timeout=times.from_ms(self.work_timeout_ms),
            dialect=DIALECT,
            reads_result=True,
        )


class WaitForResult(Exact):
    task_id: TaskId
    wait_ms: Integer = _wait(USUAL_WAIT_MS)


class ReadTask(Exact):
    task_id: TaskId
    timeline_cursor: Text | None = Field(None, description="The timeline_next_cursor of the answer before.")


class ListTasks(Exact):
    side: Literal["any", "sent", "received"] = Field("any", description="Tasks that you sent, received, or both.")
    state: Literal["queued", "in_flight", "interrupted", "resolved"] | None = Field(
        None, description="Only tasks in this state. Interrupted tasks wait for an answer of their sender."
    )
    limit: Limit = 20
    cursor: Cursor = None


class CancelTask(Exact):
    task_id: TaskId
    reason: Text = Field("", description="Why. The agent can read it.")


class Say(Exact):
    task_id: TaskId
    content: Content
    attempt_id: AttemptId = None


class ReceiveTask(Exact):
    wait_ms: Integer = _wait(0)
    attempt_id: AttemptId = None


class HeldTasks(Exact):
    limit: Limit = 20
    cursor: Cursor = None


class OfLease(Exact):
    task_id: TaskId
    lease_id: LeaseId


class AnswerTask(OfLease):
    content: Content = []
    status: Literal["ok", "partial", "error", "rejected"] = Field(
        "ok", description="How the work ended. rejected: you will not do it. All of these are final."
    )
    error_message: Text | None = Field(None, description="The failure, or why you reject the task.")
    message: Annotated[Blocks, Field(description="Closing words beside the content.")] = []

    def envelope(self) -> envelopes.ResultEnvelope:
        return envelopes.ResultEnvelope(**{**dict(self), "status": envelopes.ResultStatus(self.status)})


class ProducedArtifact(Exact):
    artifact_id: Text = Field(RESULT, description="Names the artifact within its task.")
    name: Text | None = None
    description: Text | None = None
    content: Content
    append: bool = Field(False, strict=True, description="Add to the artifact of this id instead of replacing it.")
    last_chunk: bool = Field(False, strict=True, description="The artifact is complete with this.")

    def update(self) -> ArtifactUpdate:
        return ArtifactUpdate(**dict(self))


class ReportProgress(OfLease):
    fraction: Number | None = Field(None, ge=0, le=1, description="How much of the work is done, from 0 to 1.")
    note: Text = Field("", description="The present step. It needs a fraction.")
    message: Content | None = None
    artifact: ProducedArtifact | None = Field(None, description="A part of the work to hand over before the result.")
    attempt_id: AttemptId = None

    @model_validator(mode="after")
    def _a_note_needs_a_fraction(self) -> Self:
        if self.note and self.fraction is None:
            raise ValueError("a note needs a fraction")
        return self

    def updates(self) -> list[Update | ArtifactUpdate]:
        """Return what is to be recorded. An empty list is a mere heartbeat."""
        parts: list[Update | ArtifactUpdate] = []
        if self.message is not None or self.fraction is not None:
            parts.append(Update(message=self.message or (), progress=self.fraction, note=self.note))
        return parts if self.artifact is None else [*parts, self.artifact.update()]


class AskSender(OfLease):
    question: Content
    needs: Literal["input", "authorization"] = Field("input", description="What you ask for.")
    attempt_id: AttemptId = None

    def update(self) -> Update:
        status = UpdateStatus.INPUT_REQUIRED if self.needs == "input" else UpdateStatus.AUTH_REQUIRED
        return Update(message=self.question, status=status)


class ReleaseTask(OfLease):
    reason: Text = Field(description="Why you hand the task back. Another attempt may follow.")

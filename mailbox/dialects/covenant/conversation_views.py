"""Conversations over HTTP: lease a task by its id, say more, read messages and artifacts. Source: A2A."""

from typing import Any, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from mailbox.access.limits import waits
from mailbox.dialects.base.bodies import Blocks, Exact, Number, QueryInteger, Text
from mailbox.dialects.base.openapi import operation
from mailbox.dialects.covenant import conversation_wire as wire
from mailbox.dialects.covenant.requests import ListQuery
from mailbox.dialects.covenant.views import MailboxView
from mailbox.inspection import conversation
from mailbox.life import expiry, leasing, updates
from mailbox.life.conversation import say
from mailbox.life.updates import MAX_UPDATES
from mailbox.words.conversation import RESULT, ArtifactUpdate, Update, UpdateStatus, Words
from mailbox.words.times import LONGEST_WAIT_MS


class LeaseTaskBody(Exact):
    """The same ``attempt_id`` gets the same lease again while that lease is live."""

    attempt_id: UUID | None = None


class SayBody(Exact):
    """A further message of the task's sender. ``content`` is text or content blocks.

    The same ``attempt_id`` with the same message stores it once.
    """

    content: Blocks
    message_id: Text | None = None
    metadata: dict[str, Any] | None = None
    extensions: list[Text] = []
    reference_task_ids: list[Text] = []
    attempt_id: UUID | None = None

    def words(self) -> Words:
        return Words(
            content=self.content,
            message_id=self.message_id or "",
            metadata=self.metadata,
            extensions=tuple(self.extensions),
            reference_task_ids=tuple(self.reference_task_ids),
        )


class ProgressBody(Exact):
    """How much of the work is done, from 0 to 1, and a note on what is happening."""

    fraction: Number = Field(ge=0, le=1)
    note: Text = ""


class ArtifactBody(Exact):
    """An artifact of the task, or a chunk of it. ``content`` is text or content blocks."""

    artifact_id: Text = RESULT
    name: Text | None = None
    description: Text | None = None
    content: Blocks
    metadata: dict[str, Any] | None = None
    extensions: list[Text] = []


class UpdateBody(Exact):
    """Exactly one of ``message`` (text or content blocks), ``progress``, ``artifact`` and ``status``.

    The statuses ``input_required`` and ``auth_required`` put a question to the task's sender: they end the lease, and
    the sender's answer brings a new one. Such an update is the last of its request. It may have a ``message``, and
    ``auth_required`` must have one. ``message_id`` and ``metadata`` belong to the message. ``append`` adds the blocks
    to the artifact of that id and replaces the fields that it names. Without ``append`` the artifact is replaced. With
    ``last_chunk`` the artifact is complete.
    """

    message: Blocks | None = None
    message_id: Text | None = None
    metadata: dict[str, Any] | None = None
    progress: ProgressBody | None = None
    artifact: ArtifactBody | None = None
    append: bool = Field(False, strict=True)
    last_chunk: bool = Field(False, strict=True)
    status: Literal["working", "input_required", "auth_required"] | None = None

    @model_validator(mode="after")
    def _names_a_single_kind(self) -> Self:
        kinds = [name for name in ("message", "progress", "artifact", "status") if getattr(self, name) is not None]
        if len(kinds) != 1 and kinds != ["message", "status"]:
            raise ValueError("must have exactly one of message, progress, artifact and status")
        if "message" not in kinds and (self.message_id is not None or self.metadata is not None):
            raise ValueError("message_id and metadata need a message")
        if "artifact" not in kinds and (self.append or self.last_chunk):
            raise ValueError("append and last_chunk need an artifact")
        return self

    def update(self) -> Update | ArtifactUpdate:
        if (made := self.artifact) is not None:
            return ArtifactUpdate(
                content=made.content,
                artifact_id=made.artifact_id,
                name=made.name,
                description=made.description,
                metadata=made.metadata,
                extensions=tuple(made.extensions),
                append=self.append,
                last_chunk=self.last_chunk,
            )
        return Update(
            message=self.message or (),
            progress=self.progress.fraction if self.progress else None,
            note=self.progress.note if self.progress else "",
            message_id=self.message_id or "",
            metadata=self.metadata,
            status=UpdateStatus(self.status) if self.status else None,
        )


class UpdatesBody(Exact):
    """Updates of the lease's holder, in order. The same ``attempt_id`` with the same updates gets the same answer."""

    updates: list[UpdateBody] = Field(min_length=1, max_length=MAX_UPDATES)
    lease_id: UUID | None = None
    attempt_id: UUID | None = None


class MessagesQuery(Exact):
    """The messages after the number ``after``. With ``wait_ms`` the hub holds the request until there is one.

    By default the hub holds it for at most 50 seconds.
    """

    after: QueryInteger = Field(0, ge=0, le=2**31 - 1)
    limit: QueryInteger = Field(100, ge=1, le=1000)
    wait_ms: QueryInteger = Field(0, ge=0, le=LONGEST_WAIT_MS)


class ArtifactsQuery(ListQuery):
    """``limit`` counts chunks: an artifact of several chunks may continue on the next page."""

    limit: QueryInteger = Field(100, ge=1, le=1000)


class LeaseTaskView(MailboxView):
    @operation("lease_task", errors=(403, 404, 409))
    def post(self, task_id: UUID, body: LeaseTaskBody) -> wire.TaskLeased:
        lease = leasing.lease_task(self.caller, task_id, attempt_id=body.attempt_id)
        newest = conversation.newest_of_senders([lease.task])
        return {"kind": "a2a_task_leased", **wire.leased(lease, newest)}


class MessagesView(MailboxView):
    @operation("read_messages", errors=(404,))
    def get(self, task_id: UUID, query: MessagesQuery) -> wire.ListedMessages:
        read = expiry.read(
            self.caller,
            task_id,
            lambda _: conversation.read(self.caller, task_id, after=query.after, limit=query.limit),
            wait=waits.span(query.wait_ms),
        )
        return wire.messages(read)

    @operation("say", errors=(403, 404, 409, 413))
    def post(self, task_id: UUID, body: SayBody) -> wire.MessageSent:
        return wire.sent(say(self.caller, task_id, body.words(), attempt_id=body.attempt_id))


class ArtifactsView(MailboxView):
    @operation("read_artifacts", errors=(404,))
    def get(self, task_id: UUID, query: ArtifactsQuery) -> wire.ListedArtifacts:
        page = conversation.artifacts(self.caller, task_id, limit=query.limit, cursor=query.cursor)
        return wire.artifacts(task_id, page)


class UpdatesView(MailboxView):
    @operation("post_updates", errors=(404, 409, 413))
    def post(self, task_id: UUID, body: UpdatesBody) -> wire.TaskUpdated:
        parts = [update.update() for update in body.updates]
        posted = updates.post_updates(self.caller, task_id, parts, lease_id=body.lease_id, attempt_id=body.attempt_id)
        return {"kind": "a2a_task_updated", "task_id": task_id, "seq": posted.seq, "turn": posted.turn}

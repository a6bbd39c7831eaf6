"""Conversations over HTTP: lease a task by its id, say more, read messages and artifacts. Source: A2A."""

from typing import Any, Literal, Self
from uuid import UUID

from pydantic import Field, model_validator
from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access.limits import waits
from mailbox.dialects.base.bodies import Blocks, Exact, Number, QueryInteger, Text
from mailbox.dialects.base.openapi import describe
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
    @describe(
        summary="Lease this task, queued or interrupted, before older tasks",
        tag="one task",
        body=LeaseTaskBody,
        answer=wire.TaskLeased,
        errors=(403, 404, 409),
        operation_id="lease_task",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        lease = leasing.lease_task(self.caller, task_id, attempt_id=self.body(LeaseTaskBody).attempt_id)
        newest = conversation.newest_of_senders([lease.task])
        return Response(wire.TaskLeased(kind="a2a_task_leased", **wire.leased(lease, newest)))


class MessagesView(MailboxView):
    @describe(
        summary="Read the messages of a task, and wait for more",
        tag="one task",
        query=MessagesQuery,
        answer=wire.ListedMessages,
        errors=(404,),
        operation_id="read_messages",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        query = self.query(MessagesQuery)
        read = expiry.read(
            self.caller,
            task_id,
            lambda _: conversation.read(self.caller, task_id, after=query.after, limit=query.limit),
            wait=waits.span(query.wait_ms),
        )
        return Response(wire.messages(read))

    @describe(
        summary="Send a further message to the agent of a task you sent",
        tag="one task",
        body=SayBody,
        answer=wire.MessageSent,
        errors=(403, 404, 409, 413),
        operation_id="say",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        body = self.body(SayBody)
        sent = say(self.caller, task_id, body.words(), attempt_id=body.attempt_id)
        return Response(wire.sent(sent))


class ArtifactsView(MailboxView):
    @describe(
        summary="Read the artifacts of a task",
        tag="one task",
        query=ArtifactsQuery,
        answer=wire.ListedArtifacts,
        errors=(404,),
        operation_id="read_artifacts",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        query = self.query(ArtifactsQuery)
        page = conversation.artifacts(self.caller, task_id, limit=query.limit, cursor=query.cursor)
        return Response(wire.artifacts(task_id, page))


class UpdatesView(MailboxView):
    @describe(
        summary="Post updates of your lease: messages, progress, artifacts, questions",
        tag="one task",
        body=UpdatesBody,
        answer=wire.TaskUpdated,
        errors=(404, 409, 413),
        operation_id="post_updates",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        body = self.body(UpdatesBody)
        parts = [update.update() for update in body.updates]
        posted = updates.post_updates(self.caller, task_id, parts, lease_id=body.lease_id, attempt_id=body.attempt_id)
        return Response(wire.TaskUpdated(kind="a2a_task_updated", task_id=task_id, seq=posted.seq, turn=posted.turn))

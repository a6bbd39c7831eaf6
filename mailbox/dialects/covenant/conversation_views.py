"""Conversations over HTTP: lease a task by its id, say more, read messages and artifacts. Source: A2A."""

from __future__ import annotations

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access.limits import waits
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.covenant import conversation_answers as answers
from mailbox.dialects.covenant import conversation_requests as requests
from mailbox.dialects.covenant import conversation_wire as wire
from mailbox.dialects.covenant import lease_answers
from mailbox.dialects.covenant.views import MailboxView
from mailbox.inspection import conversation
from mailbox.life import expiry, leasing, updates
from mailbox.life.conversation import say


class LeaseTaskView(MailboxView):
    @describe(
        summary="Lease this task, queued or interrupted, before older tasks",
        tag="one task",
        body=requests.LeaseTaskBody,
        answer=lease_answers.TaskLeased,
        errors=(403, 404, 409),
        operation_id="lease_task",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        lease = leasing.lease_task(self.caller, task_id, attempt_id=self.body(requests.LeaseTaskBody).attempt_id)
        newest = conversation.newest_of_senders([lease.task])
        return Response({"kind": "a2a_task_leased", **wire.leased(lease, newest)})


class MessagesView(MailboxView):
    @describe(
        summary="Read the messages of a task, and wait for more",
        tag="one task",
        query=requests.MessagesQuery,
        answer=answers.ListedMessages,
        errors=(404,),
        operation_id="read_messages",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        query = self.query(requests.MessagesQuery)
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
        body=requests.SayBody,
        answer=answers.MessageSent,
        errors=(403, 404, 409, 413),
        operation_id="say",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        body = self.body(requests.SayBody)
        sent = say(self.caller, task_id, body.words(), attempt_id=body.attempt_id)
        return Response(wire.sent(sent))


class ArtifactsView(MailboxView):
    @describe(
        summary="Read the artifacts of a task",
        tag="one task",
        query=requests.ArtifactsQuery,
        answer=answers.ListedArtifacts,
        errors=(404,),
        operation_id="read_artifacts",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        query = self.query(requests.ArtifactsQuery)
        page = conversation.artifacts(self.caller, task_id, limit=query.limit, cursor=query.cursor)
        return Response(wire.artifacts(task_id, page))


class UpdatesView(MailboxView):
    @describe(
        summary="Post updates of your lease: messages, progress, artifacts, questions",
        tag="one task",
        body=requests.UpdatesBody,
        answer=answers.TaskUpdated,
        errors=(404, 409, 413),
        operation_id="post_updates",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        body = self.body(requests.UpdatesBody)
        parts = [update.update() for update in body.updates]
        posted = updates.post_updates(self.caller, task_id, parts, lease_id=body.lease_id, attempt_id=body.attempt_id)
        return Response({"kind": "a2a_task_updated", "task_id": task_id, "seq": posted.seq, "turn": posted.turn})

"""The mailbox over HTTP: tasks, results, conversations and the journal. Source: Covenant A2A; A2A, messages."""

import re
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from rest_framework.response import Response

from mailbox.access.limits import waits
from mailbox.dialects.base.bodies import moment
from mailbox.dialects.base.http_errors import STATUS
from mailbox.dialects.base.openapi import ATTEMPT_HEADER, operation
from mailbox.dialects.base.view import DialectView
from mailbox.dialects.covenant import conversation_wire, journal_wire, requests, wire
from mailbox.inspection import answers as whole
from mailbox.inspection import conversation, lists, trees
from mailbox.inspection import tasks as tasks_
from mailbox.inspection.tasks import QueueEntry
from mailbox.life import conversation as life_conversation
from mailbox.life import expiry, leasing, results, sending, updates
from mailbox.upkeep import verification
from mailbox.words.errors import SHOWN, InvalidRequestError, NotSealedError, WrongPartyError

_NUMBER = re.compile(r"[0-9]{1,18}")
receive = partial(operation, headers=(ATTEMPT_HEADER,))


class MailboxView(DialectView):
    error_status = STATUS


class TasksView(MailboxView):
    @operation("list_tasks")
    def get(self, query: requests.TasksQuery) -> wire.TaskEntries:
        if query.id_prefix is None:
            page = lists.all_tasks(self.caller, limit=query.limit, cursor=query.cursor)
        else:
            page = lists.tasks_beginning_with(self.caller, query.id_prefix, limit=query.limit, cursor=query.cursor)
        rendered = [wire.task_entry(entry, self.caller.agent) for entry in page.items]
        return {"kind": "a2a_task_entries", "entries": rendered, "next_cursor": page.next_cursor}

    @operation("send_task", errors=(403, 404, 409))
    def post(self, body: requests.TaskBody) -> wire.TaskQueued:
        return wire.queued(sending.send_task(self.caller, body.envelope()))


class RecentTasksView(MailboxView):
    @operation("list_queued_tasks")
    def get(self, query: requests.ListQuery) -> wire.ListedTasks:
        page = lists.recent_tasks(self.caller, limit=query.limit, cursor=query.cursor)
        return {"kind": "a2a_tasks", "tasks": [wire.task(task) for task in page.items], "next_cursor": page.next_cursor}


class ResultsView(MailboxView):
    @operation("post_result", errors=(403, 404, 409))
    def post(self, body: requests.ResultBody) -> wire.ResultPosted:
        return wire.posted(results.post_result(self.caller, body.envelope()))


class AckView(MailboxView):
    @operation("ack_results", errors=(403, 404))
    def post(self, body: requests.AckBody) -> wire.ResultsAcked:
        done = results.ack_results(self.caller, body.task_ids)
        return {"kind": "a2a_results_acked", "task_ids": list(done.acked), "unknown": list(done.unknown)}


class RecentResultsView(MailboxView):
    @operation("list_recent_results")
    def get(self, query: requests.ListQuery) -> wire.ListedResults:
        page = lists.recent_results(self.caller, limit=query.limit, cursor=query.cursor)
        beside = whole.beside(page.items)
        rendered = [wire.result(result, beside) for result in page.items]
        return {"kind": "a2a_results", "results": rendered, "next_cursor": page.next_cursor}


class DeliveredResultsView(MailboxView):
    @operation("list_delivered_results")
    def get(self, query: requests.ListQuery) -> wire.DeliveredResults:
        page = lists.delivered_results(self.caller, limit=query.limit, cursor=query.cursor)
        return wire.delivered_page(page, whole.beside(page.items))


class QueueView(MailboxView):
    @operation("read_queue")
    def get(self, query: requests.QueueQuery) -> wire.Queue:
        page = lists.queue(self.caller, query.filter(), limit=query.limit, cursor=query.cursor)
        pending = lists.recent_results(self.caller, limit=query.limit)
        beside = whole.beside(pending.items)
        return {
            "kind": "a2a_queue",
            "tasks": [wire.queue_entry(entry) for entry in page.items],
            "results": [wire.result(result, beside) for result in pending.items],
            "next_cursor": page.next_cursor,
        }


class StatusView(MailboxView):
    @operation("read_status", answer=wire.Status)
    def get(self, query: requests.QueueQuery) -> Response:
        page = lists.queue(self.caller, query.filter(), limit=query.limit, cursor=query.cursor)
        pending = lists.recent_results(self.caller, limit=query.limit)
        beside = whole.beside(pending.items)
        response = Response(wire.status(page.items, pending.items, beside, **query.model_dump(exclude={"cursor"})))
        if page.next_cursor is not None:
            further = query.model_copy(update={"cursor": page.next_cursor}).model_dump(exclude_none=True)
            response["Link"] = f'<{settings.PUBLIC_URL}/a2a/status?{urlencode(further)}>; rel="next"'
        return response


class LeasesView(MailboxView):
    @operation("list_leases")
    def get(self, query: requests.ListQuery) -> conversation_wire.ListedLeases:
        page = lists.leases(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [conversation_wire.held(lease) for lease in page.items]
        return {"kind": "a2a_leases", "leases": rendered, "next_cursor": page.next_cursor}


class EntryView(MailboxView):
    @operation("read_task_entry", errors=(404,))
    def get(self, task_id: UUID, query: requests.NoQuery) -> wire.TaskEntryAnswer:
        entry = QueueEntry.of(expiry.current(self.caller, task_id))
        return {"kind": "a2a_task_entry", "entry": wire.task_entry(entry, self.caller.agent)}


class TaskResultView(MailboxView):
    @operation("read_task_result", errors=(404,))
    def get(self, task_id: UUID, query: requests.WaitQuery) -> wire.ResultOpt:
        wait = waits.span(query.wait_ms)
        result = expiry.read(self.caller, task_id, lambda task: task.result_or_none, wait=wait)
        return wire.next_result(result, whole.beside([result] if result else ()))


class TreeView(MailboxView):
    @operation("read_tree", errors=(404,))
    def get(self, task_id: UUID, query: requests.TreeQuery) -> wire.Tree:
        page = trees.tree(self.caller, task_id, cursor=query.cursor)
        beside = whole.beside(node.result for node in page.items if node.result)
        nodes = [wire.node(node, beside) for node in page.items]
        return {"kind": "a2a_tree", "root": task_id, "nodes": nodes, "next_cursor": page.next_cursor}


class TimelineView(MailboxView):
    @operation("read_timeline", errors=(404,))
    def get(self, task_id: UUID, query: requests.TimelineQuery) -> journal_wire.Timeline:
        page = tasks_.timeline(self.caller, task_id, limit=query.limit, cursor=query.cursor)
        events = [journal_wire.event(event, self.caller) for event in page.items]
        return {"kind": "a2a_timeline", "task_id": task_id, "events": events, "next_cursor": page.next_cursor}


class ReleaseView(MailboxView):
    @operation("release_task", errors=(404, 409))
    def post(self, task_id: UUID, body: requests.ReleaseBody) -> conversation_wire.TaskReleased:
        lease = leasing.release(self.caller, task_id, reason=body.reason, lease_id=body.lease_id)
        return {"kind": "a2a_task_released", "task_id": task_id, "attempt": lease.attempt}


class HeartbeatView(MailboxView):
    @operation("heartbeat_task", errors=(404, 409))
    def post(self, task_id: UUID, body: requests.HeartbeatBody) -> conversation_wire.LeaseAnswer:
        lease = leasing.heartbeat(self.caller, task_id, lease_id=body.lease_id)
        turn = lease.task.turn
        return {"kind": "a2a_lease", "task_id": task_id, "lease": conversation_wire.lease(lease), "turn": turn}


class CancelView(MailboxView):
    @operation("cancel_task", errors=(404, 409))
    def post(self, task_id: UUID, body: requests.CancelBody) -> wire.TaskCancelled:
        sending.cancel(self.caller, task_id, reason=body.reason)
        return {"kind": "a2a_task_cancelled", "task_id": task_id}


class ReceivingView(MailboxView):
    # A HEAD request would lease or drain without an answer that shows what.
    http_method_names: tuple[str, ...] = ("get", "post")

    def received(self, shape: type[requests.NextTask]) -> Any:
        """Return the request's fields from the query, the body of a POST and the header of the attempt id.

        Raises `InvalidRequestError` for a field with two values, since the hub must not guess which value counts.
        """
        self.must_be_agent()
        parts = [self.query(shape)]
        if self.request.method == "POST":
            parts.append(self.body(shape))
        if (attempt := self.attempt_of_header()) is not None:
            parts.append(shape.model_validate({"attempt_id": attempt}))
        how: dict[str, Any] = {}
        for part in parts:
            for name in part.model_fields_set:
                if how.setdefault(name, getattr(part, name)) != getattr(part, name):
                    raise twice_named(name)
        return shape.model_validate(how)

    def must_be_agent(self) -> None:
        """Raise `WrongPartyError` for people."""
        if self.caller.agent is None:
            raise WrongPartyError("Only agents receive. People read /a2a/queue.")

    def attempt_of_header(self) -> UUID | None:
        header = self.request.headers.get("A2A-Receive-Attempt-Id")
        try:
            return None if header is None else UUID(header)
        except ValueError as error:
            raise InvalidRequestError({"A2A-Receive-Attempt-Id": "must be a UUID"}) from error


def twice_named(name: str) -> InvalidRequestError:
    return InvalidRequestError({name: "is given twice, with two values"})


def _next_task(view: ReceivingView) -> conversation_wire.TaskOpt:
    how = view.received(requests.NextTask)
    lease = leasing.next_task(view.caller, attempt_id=how.attempt_id, wait=waits.span(how.wait_ms))
    spent = lease is None and leasing.is_spent(view.caller, how.attempt_id)
    newest = conversation.newest_of_senders([lease.task] if lease else ())
    leased = conversation_wire.leased(lease, newest) if lease else None
    return conversation_wire.next_task(leased, spent=spent)


def _next_result(view: ReceivingView) -> wire.ResultOpt:
    how = view.received(requests.NextResult)
    wait = waits.span(how.wait_ms)
    result = results.next_result(view.caller, attempt_id=how.attempt_id, ack=how.ack, wait=wait)
    spent = result is None and results.is_spent(view.caller, how.attempt_id)
    return wire.next_result(result, whole.beside([result] if result else ()), spent=spent)


class NextTaskView(ReceivingView):
    get = receive("next_task", query=requests.NextTask, errors=(403,))(_next_task)
    post = receive("lease_next_task", query=requests.NextTask, body=requests.NextTask, errors=(403,))(_next_task)


class NextResultView(ReceivingView):
    get = receive("next_result", query=requests.NextResult, errors=(403, 404))(_next_result)
    post = receive("drain_next_result", query=requests.NextResult, body=requests.NextResult, errors=(403, 404))(
        _next_result
    )


class LeaseTaskView(MailboxView):
    @operation("lease_task", errors=(403, 404, 409))
    def post(self, task_id: UUID, body: requests.LeaseTaskBody) -> conversation_wire.TaskLeased:
        lease = leasing.lease_task(self.caller, task_id, attempt_id=body.attempt_id)
        newest = conversation.newest_of_senders([lease.task])
        return {"kind": "a2a_task_leased", **conversation_wire.leased(lease, newest)}


class MessagesView(MailboxView):
    @operation("read_messages", errors=(404,))
    def get(self, task_id: UUID, query: requests.MessagesQuery) -> conversation_wire.ListedMessages:
        read = expiry.read(
            self.caller,
            task_id,
            lambda _: conversation.read(self.caller, task_id, after=query.after, limit=query.limit),
            wait=waits.span(query.wait_ms),
        )
        return conversation_wire.messages(read)

    @operation("say", errors=(403, 404, 409, 413))
    def post(self, task_id: UUID, body: requests.SayBody) -> conversation_wire.MessageSent:
        return conversation_wire.sent(
            life_conversation.say(self.caller, task_id, body.words(), attempt_id=body.attempt_id)
        )


class ArtifactsView(MailboxView):
    @operation("read_artifacts", errors=(404,))
    def get(self, task_id: UUID, query: requests.ArtifactsQuery) -> conversation_wire.ListedArtifacts:
        page = conversation.artifacts(self.caller, task_id, limit=query.limit, cursor=query.cursor)
        return conversation_wire.artifacts(task_id, page)


class UpdatesView(MailboxView):
    @operation("post_updates", errors=(404, 409, 413))
    def post(self, task_id: UUID, body: requests.UpdatesBody) -> conversation_wire.TaskUpdated:
        parts = [update.update() for update in body.updates]
        posted = updates.post_updates(self.caller, task_id, parts, lease_id=body.lease_id, attempt_id=body.attempt_id)
        return {"kind": "a2a_task_updated", "task_id": task_id, "seq": posted.seq, "turn": posted.turn}


class AuditView(MailboxView):
    @operation("list_journal")
    def get(self, query: requests.AuditQuery) -> journal_wire.AuditEvents:
        page = lists.recent_events(self.caller, limit=query.limit, cursor=query.cursor, since=moment(query.since_ms))
        events = [journal_wire.event(event, self.caller) for event in page.items]
        return {"kind": "audit_events", "events": events, "next_cursor": page.next_cursor}


class VerifyView(MailboxView):
    @operation("verify_journal", errors=(403,))
    def get(self, query: requests.VerifyQuery) -> journal_wire.AuditVerification:
        verification.admit(self.caller)
        verified = verification.verify(
            first=query.from_row, last=query.to_row, after=query.after, blocks=query.blocks, head=query.head
        )
        return journal_wire.verification(verified)


class ProofView(MailboxView):
    @operation("prove_row", errors=(403, 404))
    def get(self, row_id: str) -> journal_wire.AuditProof:
        verification.admit(self.caller)
        if not _NUMBER.fullmatch(row_id):
            raise NotSealedError("A row of the journal is named by its number.", row=row_id[:SHOWN])
        return journal_wire.proof(verification.prove(int(row_id)))

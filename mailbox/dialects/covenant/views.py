"""The mailbox over HTTP. Source: Covenant A2A, "Daemon-mediated flow"."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access.limits import waits
from mailbox.dialects.base.http_errors import STATUS
from mailbox.dialects.base.openapi import ATTEMPT_HEADER, describe
from mailbox.dialects.base.view import DialectView
from mailbox.dialects.covenant import conversation_wire, journal_wire, requests, wire
from mailbox.inspection import answers as whole
from mailbox.inspection import conversation, lists, trees
from mailbox.inspection import tasks as tasks_
from mailbox.inspection.tasks import QueueEntry
from mailbox.life import expiry, leasing, results, sending
from mailbox.words.errors import InvalidRequestError, WrongPartyError


class MailboxView(DialectView):
    error_status = STATUS


class TasksView(MailboxView):
    @describe(
        summary="List tasks in any state, newest first",
        tag="tasks",
        query=requests.TasksQuery,
        answer=wire.TaskEntries,
        operation_id="list_tasks",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.TasksQuery)
        if query.id_prefix is None:
            page = lists.all_tasks(self.caller, limit=query.limit, cursor=query.cursor)
        else:
            page = lists.tasks_beginning_with(self.caller, query.id_prefix, limit=query.limit, cursor=query.cursor)
        rendered = [wire.task_entry(entry) for entry in page.items]
        return Response(wire.TaskEntries(kind="a2a_task_entries", entries=rendered, next_cursor=page.next_cursor))

    @describe(
        summary="Send a task",
        tag="tasks",
        body=requests.TaskBody,
        answer=wire.TaskQueued,
        errors=(403, 404, 409),
        operation_id="send_task",
    )
    def post(self, request: Request) -> Response:
        envelope = self.body(requests.TaskBody).envelope()
        sent = sending.send_task(self.caller, envelope)
        return Response(wire.queued(sent))


class RecentTasksView(MailboxView):
    @describe(
        summary="List queued tasks",
        tag="tasks",
        query=requests.ListQuery,
        answer=wire.ListedTasks,
        operation_id="list_queued_tasks",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.recent_tasks(self.caller, limit=query.limit, cursor=query.cursor)
        tasks = [wire.task(task) for task in page.items]
        return Response(wire.ListedTasks(kind="a2a_tasks", tasks=tasks, next_cursor=page.next_cursor))


class ResultsView(MailboxView):
    @describe(
        summary="Post a result",
        tag="results",
        body=requests.ResultBody,
        answer=wire.ResultPosted,
        errors=(403, 404, 409),
        operation_id="post_result",
    )
    def post(self, request: Request) -> Response:
        posted = results.post_result(self.caller, self.body(requests.ResultBody).envelope())
        return Response(wire.posted(posted))


class AckView(MailboxView):
    @describe(
        summary="Acknowledge results",
        tag="results",
        body=requests.AckBody,
        answer=wire.ResultsAcked,
        errors=(403, 404),
        operation_id="ack_results",
    )
    def post(self, request: Request) -> Response:
        done = results.ack_results(self.caller, self.body(requests.AckBody).task_ids)
        return Response(
            wire.ResultsAcked(kind="a2a_results_acked", task_ids=list(done.acked), unknown=list(done.unknown))
        )


class RecentResultsView(MailboxView):
    @describe(
        summary="List pending results without draining them",
        tag="results",
        query=requests.ListQuery,
        answer=wire.ListedResults,
        operation_id="list_recent_results",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.recent_results(self.caller, limit=query.limit, cursor=query.cursor)
        beside = whole.beside(page.items)
        rendered = [wire.result(result, beside) for result in page.items]
        return Response(wire.ListedResults(kind="a2a_results", results=rendered, next_cursor=page.next_cursor))


class DeliveredResultsView(MailboxView):
    @describe(
        summary="List results that you received and did not acknowledge",
        tag="results",
        query=requests.ListQuery,
        answer=wire.DeliveredResults,
        operation_id="list_delivered_results",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.delivered_results(self.caller, limit=query.limit, cursor=query.cursor)
        return Response(wire.delivered_page(page, whole.beside(page.items)))


class QueueView(MailboxView):
    @describe(
        summary="List queued tasks, live leases and pending results",
        tag="queue",
        query=requests.QueueQuery,
        answer=wire.Queue,
        operation_id="read_queue",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.QueueQuery)
        page = lists.queue(self.caller, query.filter(), limit=query.limit, cursor=query.cursor)
        pending = lists.recent_results(self.caller, limit=query.limit)
        beside = whole.beside(pending.items)
        return Response(
            wire.Queue(
                kind="a2a_queue",
                tasks=[wire.queue_entry(entry) for entry in page.items],
                results=[wire.result(result, beside) for result in pending.items],
                next_cursor=page.next_cursor,
            )
        )


class StatusView(MailboxView):
    @describe(
        summary="Read the queue as the command line prints it",
        tag="queue",
        query=requests.QueueQuery,
        answer=wire.Status,
        operation_id="read_status",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.QueueQuery)
        page = lists.queue(self.caller, query.filter(), limit=query.limit, cursor=query.cursor)
        pending = lists.recent_results(self.caller, limit=query.limit)
        beside = whole.beside(pending.items)
        response = Response(wire.status(page.items, pending.items, beside, **query.model_dump(exclude={"cursor"})))
        if page.next_cursor is not None:
            further = query.model_copy(update={"cursor": page.next_cursor}).model_dump(exclude_none=True)
            response["Link"] = f'<{settings.PUBLIC_URL}/a2a/status?{urlencode(further)}>; rel="next"'
        return response


class LeasesView(MailboxView):
    @describe(
        summary="List your own live leases",
        tag="queue",
        query=requests.ListQuery,
        answer=conversation_wire.ListedLeases,
        operation_id="list_leases",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.leases(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [conversation_wire.held(lease) for lease in page.items]
        return Response(
            conversation_wire.ListedLeases(kind="a2a_leases", leases=rendered, next_cursor=page.next_cursor)
        )


class EntryView(MailboxView):
    @describe(
        summary="Read one task with its state and lease",
        tag="one task",
        answer=wire.TaskEntryAnswer,
        errors=(404,),
        operation_id="read_task_entry",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        self.query(requests.NoQuery)
        entry = QueueEntry.of(expiry.current(self.caller, task_id))
        return Response(wire.TaskEntryAnswer(kind="a2a_task_entry", entry=wire.task_entry(entry)))


class TaskResultView(MailboxView):
    @describe(
        summary="Read a task's result without draining it, and wait for it",
        tag="one task",
        query=requests.WaitQuery,
        answer=wire.ResultOpt,
        errors=(404,),
        operation_id="read_task_result",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        wait = waits.span(self.query(requests.WaitQuery).wait_ms)
        result = expiry.read(self.caller, task_id, lambda task: task.result_or_none, wait=wait)
        return Response(wire.next_result(result, whole.beside([result] if result else ())))


class TreeView(MailboxView):
    @describe(
        summary="Read the tree of a task",
        tag="one task",
        query=requests.TreeQuery,
        answer=wire.Tree,
        errors=(404,),
        operation_id="read_tree",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        page = trees.tree(self.caller, task_id, cursor=self.query(requests.TreeQuery).cursor)
        beside = whole.beside(node.result for node in page.items if node.result)
        nodes = [wire.node(node, beside) for node in page.items]
        return Response(wire.Tree(kind="a2a_tree", root=task_id, nodes=nodes, next_cursor=page.next_cursor))


class TimelineView(MailboxView):
    @describe(
        summary="Read the journal of a task",
        tag="one task",
        query=requests.TimelineQuery,
        answer=journal_wire.Timeline,
        errors=(404,),
        operation_id="read_timeline",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        query = self.query(requests.TimelineQuery)
        page = tasks_.timeline(self.caller, task_id, limit=query.limit, cursor=query.cursor)
        events = [journal_wire.event(event, self.caller) for event in page.items]
        return Response(
            journal_wire.Timeline(kind="a2a_timeline", task_id=task_id, events=events, next_cursor=page.next_cursor)
        )


class ReleaseView(MailboxView):
    @describe(
        summary="Release your lease",
        tag="one task",
        body=requests.ReleaseBody,
        answer=conversation_wire.TaskReleased,
        errors=(404, 409),
        operation_id="release_task",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        body = self.body(requests.ReleaseBody)
        lease = leasing.release(self.caller, task_id, reason=body.reason, lease_id=body.lease_id)
        return Response(
            conversation_wire.TaskReleased(kind="a2a_task_released", task_id=task_id, attempt=lease.attempt)
        )


class HeartbeatView(MailboxView):
    @describe(
        summary="Send a heartbeat for your lease",
        tag="one task",
        body=requests.HeartbeatBody,
        answer=conversation_wire.LeaseAnswer,
        errors=(404, 409),
        operation_id="heartbeat_task",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        lease = leasing.heartbeat(self.caller, task_id, lease_id=self.body(requests.HeartbeatBody).lease_id)
        turn = lease.task.turn
        return Response(
            conversation_wire.LeaseAnswer(
                kind="a2a_lease", task_id=task_id, lease=conversation_wire.lease(lease), turn=turn
            )
        )


class CancelView(MailboxView):
    @describe(
        summary="Cancel a task you sent",
        tag="one task",
        body=requests.CancelBody,
        answer=wire.TaskCancelled,
        errors=(404, 409),
        operation_id="cancel_task",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        sending.cancel(self.caller, task_id, reason=self.body(requests.CancelBody).reason)
        return Response(wire.TaskCancelled(kind="a2a_task_cancelled", task_id=task_id))


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


class NextTaskView(ReceivingView):
    @describe(
        summary="Lease the next task",
        tag="tasks",
        query=requests.NextTask,
        headers=(ATTEMPT_HEADER,),
        answer=conversation_wire.TaskOpt,
        errors=(403,),
        operation_id="next_task",
    )
    def get(self, request: Request) -> Response:
        how = self.received(requests.NextTask)
        wait = waits.span(how.wait_ms)
        lease = leasing.next_task(self.caller, attempt_id=how.attempt_id, wait=wait)
        spent = lease is None and leasing.is_spent(self.caller, how.attempt_id)
        newest = conversation.newest_of_senders([lease.task] if lease else ())
        leased = conversation_wire.leased(lease, newest) if lease else None
        return Response(conversation_wire.next_task(leased, spent=spent))

    @describe(
        summary="Lease the next task",
        tag="tasks",
        query=requests.NextTask,
        body=requests.NextTask,
        headers=(ATTEMPT_HEADER,),
        answer=conversation_wire.TaskOpt,
        errors=(403,),
        operation_id="lease_next_task",
    )
    def post(self, request: Request) -> Response:
        return self.get(request)


class NextResultView(ReceivingView):
    @describe(
        summary="Drain the next result",
        tag="results",
        query=requests.NextResult,
        headers=(ATTEMPT_HEADER,),
        answer=wire.ResultOpt,
        errors=(403, 404),
        operation_id="next_result",
    )
    def get(self, request: Request) -> Response:
        how = self.received(requests.NextResult)
        wait = waits.span(how.wait_ms)
        result = results.next_result(self.caller, attempt_id=how.attempt_id, ack=how.ack, wait=wait)
        spent = result is None and results.is_spent(self.caller, how.attempt_id)
        return Response(wire.next_result(result, whole.beside([result] if result else ()), spent=spent))

    @describe(
        summary="Drain the next result",
        tag="results",
        query=requests.NextResult,
        body=requests.NextResult,
        headers=(ATTEMPT_HEADER,),
        answer=wire.ResultOpt,
        errors=(403, 404),
        operation_id="drain_next_result",
    )
    def post(self, request: Request) -> Response:
        return self.get(request)

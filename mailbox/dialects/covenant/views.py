"""The mailbox over HTTP. Source: Covenant A2A, "Daemon-mediated flow"."""

from __future__ import annotations

from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access.limits import waits
from mailbox.dialects.base.http_errors import STATUS
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.base.view import DialectView
from mailbox.dialects.covenant import answers, requests, wire
from mailbox.inspection import answers as whole
from mailbox.inspection import lists, trees
from mailbox.inspection import tasks as tasks_
from mailbox.inspection.tasks import QueueEntry
from mailbox.life import expiry, leasing, results, sending


class MailboxView(DialectView):
    error_status = STATUS


class TasksView(MailboxView):
    @describe(
        summary="List tasks in any state, newest first",
        tag="tasks",
        query=requests.TasksQuery,
        answer=answers.TaskEntries,
        operation_id="list_tasks",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.TasksQuery)
        if query.id_prefix is None:
            page = lists.all_tasks(self.caller, limit=query.limit, cursor=query.cursor)
        else:
            page = lists.tasks_beginning_with(self.caller, query.id_prefix, limit=query.limit, cursor=query.cursor)
        rendered = [wire.task_entry(entry) for entry in page.items]
        return Response({"kind": "a2a_task_entries", "entries": rendered, "next_cursor": page.next_cursor})

    @describe(
        summary="Send a task",
        tag="tasks",
        body=requests.TaskBody,
        answer=answers.TaskQueued,
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
        answer=answers.ListedTasks,
        operation_id="list_queued_tasks",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.recent_tasks(self.caller, limit=query.limit, cursor=query.cursor)
        tasks = [wire.task(task) for task in page.items]
        return Response({"kind": "a2a_tasks", "tasks": tasks, "next_cursor": page.next_cursor})


class ResultsView(MailboxView):
    @describe(
        summary="Post a result",
        tag="results",
        body=requests.ResultBody,
        answer=answers.ResultPosted,
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
        answer=answers.ResultsAcked,
        errors=(403, 404),
        operation_id="ack_results",
    )
    def post(self, request: Request) -> Response:
        done = results.ack_results(self.caller, self.body(requests.AckBody).task_ids)
        return Response({"kind": "a2a_results_acked", "task_ids": done.acked, "unknown": done.unknown})


class RecentResultsView(MailboxView):
    @describe(
        summary="List pending results without draining them",
        tag="results",
        query=requests.ListQuery,
        answer=answers.ListedResults,
        operation_id="list_recent_results",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.recent_results(self.caller, limit=query.limit, cursor=query.cursor)
        beside = whole.beside(page.items)
        rendered = [wire.result(result, beside) for result in page.items]
        return Response({"kind": "a2a_results", "results": rendered, "next_cursor": page.next_cursor})


class DeliveredResultsView(MailboxView):
    @describe(
        summary="List results that you received and did not acknowledge",
        tag="results",
        query=requests.ListQuery,
        answer=answers.DeliveredResults,
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
        answer=answers.Queue,
        operation_id="read_queue",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.QueueQuery)
        page = lists.queue(self.caller, query.filter(), limit=query.limit, cursor=query.cursor)
        pending = lists.recent_results(self.caller, limit=query.limit)
        beside = whole.beside(pending.items)
        return Response(
            {
                "kind": "a2a_queue",
                "tasks": [wire.queue_entry(entry) for entry in page.items],
                "results": [wire.result(result, beside) for result in pending.items],
                "next_cursor": page.next_cursor,
            }
        )


class StatusView(MailboxView):
    @describe(
        summary="Read the queue as the command line prints it",
        tag="queue",
        query=requests.QueueQuery,
        answer=answers.Status,
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
        answer=answers.ListedLeases,
        operation_id="list_leases",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.leases(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [wire.held(lease) for lease in page.items]
        return Response({"kind": "a2a_leases", "leases": rendered, "next_cursor": page.next_cursor})


class EntryView(MailboxView):
    @describe(
        summary="Read one task with its state and lease",
        tag="one task",
        answer=answers.TaskEntryAnswer,
        errors=(404,),
        operation_id="read_task_entry",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        self.query(requests.NoQuery)
        entry = QueueEntry.of(expiry.current(self.caller, task_id))
        return Response({"kind": "a2a_task_entry", "entry": wire.task_entry(entry)})


class TaskResultView(MailboxView):
    @describe(
        summary="Read a task's result without draining it, and wait for it",
        tag="one task",
        query=requests.WaitQuery,
        answer=answers.ResultOpt,
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
        answer=answers.Tree,
        errors=(404,),
        operation_id="read_tree",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        page = trees.tree(self.caller, task_id, cursor=self.query(requests.TreeQuery).cursor)
        beside = whole.beside(node.result for node in page.items if node.result)
        nodes = [wire.node(node, beside) for node in page.items]
        return Response({"kind": "a2a_tree", "root": task_id, "nodes": nodes, "next_cursor": page.next_cursor})


class TimelineView(MailboxView):
    @describe(
        summary="Read the journal of a task",
        tag="one task",
        query=requests.TimelineQuery,
        answer=answers.Timeline,
        errors=(404,),
        operation_id="read_timeline",
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        query = self.query(requests.TimelineQuery)
        page = tasks_.timeline(self.caller, task_id, limit=query.limit, cursor=query.cursor)
        events = [wire.event(event, self.caller) for event in page.items]
        return Response({"kind": "a2a_timeline", "task_id": task_id, "events": events, "next_cursor": page.next_cursor})


class ReleaseView(MailboxView):
    @describe(
        summary="Release your lease",
        tag="one task",
        body=requests.ReleaseBody,
        answer=answers.TaskReleased,
        errors=(404, 409),
        operation_id="release_task",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        body = self.body(requests.ReleaseBody)
        lease = leasing.release(self.caller, task_id, reason=body.reason, lease_id=body.lease_id)
        return Response({"kind": "a2a_task_released", "task_id": task_id, "attempt": lease.attempt})


class HeartbeatView(MailboxView):
    @describe(
        summary="Send a heartbeat for your lease",
        tag="one task",
        body=requests.HeartbeatBody,
        answer=answers.LeaseAnswer,
        errors=(404, 409),
        operation_id="heartbeat_task",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        lease = leasing.heartbeat(self.caller, task_id, lease_id=self.body(requests.HeartbeatBody).lease_id)
        turn = lease.task.turn
        return Response({"kind": "a2a_lease", "task_id": task_id, "lease": wire.lease(lease), "turn": turn})


class CancelView(MailboxView):
    @describe(
        summary="Cancel a task you sent",
        tag="one task",
        body=requests.CancelBody,
        answer=answers.TaskCancelled,
        errors=(404, 409),
        operation_id="cancel_task",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        sending.cancel(self.caller, task_id, reason=self.body(requests.CancelBody).reason)
        return Response({"kind": "a2a_task_cancelled", "task_id": task_id})

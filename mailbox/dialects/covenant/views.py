"""The mailbox over HTTP. Source: Covenant A2A, "Daemon-mediated flow"."""

from __future__ import annotations

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from mailbox import courier, delivery, expiry, inspection, leasing, results, updates
from mailbox.dialects.base import DialectView
from mailbox.dialects.covenant import answers, shapes, wire
from mailbox.dialects.openapi import describe
from mailbox.dialects.statuses import STATUS


class MailboxView(DialectView):
    error_status = STATUS


class TasksView(MailboxView):
    @describe(
        summary="Send a task",
        tag="tasks",
        body=shapes.TaskBody,
        answer=answers.TaskQueued,
        errors=(403, 404, 409),
        operation_id="send_task",
    )
    def post(self, request: Request) -> Response:
        envelope = self.body(shapes.TaskBody).envelope()
        courier.judge(envelope.callback_url)
        sent = delivery.send_task(self.caller, envelope)
        return Response({"kind": "a2a_task_queued", "task_id": sent.uuid})


class RecentTasksView(MailboxView):
    @describe(summary="List queued tasks", tag="tasks", query=shapes.ListQuery, answer=answers.Tasks)
    def get(self, request: Request) -> Response:
        asked = self.query(shapes.ListQuery)
        page = inspection.recent_tasks(self.caller, limit=asked.limit, cursor=asked.cursor)
        tasks = [wire.task(task) for task in page.items]
        return Response({"kind": "a2a_tasks", "tasks": tasks, "next_cursor": page.next_cursor})


class ResultsView(MailboxView):
    @describe(
        summary="Post a result",
        tag="results",
        body=shapes.ResultBody,
        answer=answers.ResultPosted,
        errors=(403, 404, 409),
        operation_id="post_result",
    )
    def post(self, request: Request) -> Response:
        posted = results.post_result(self.caller, self.body(shapes.ResultBody).envelope())
        return Response({"kind": "a2a_result_posted", "task_id": posted.task.uuid})


class AckView(MailboxView):
    @describe(
        summary="Acknowledge results",
        tag="results",
        body=shapes.AckBody,
        answer=answers.ResultsAcked,
        errors=(403, 404),
        operation_id="ack_results",
    )
    def post(self, request: Request) -> Response:
        acked = results.ack_results(self.caller, self.body(shapes.AckBody).task_ids)
        return Response({"kind": "a2a_results_acked", "task_ids": acked})


class RecentResultsView(MailboxView):
    @describe(
        summary="List results that wait to be drained", tag="results", query=shapes.ListQuery, answer=answers.Results
    )
    def get(self, request: Request) -> Response:
        asked = self.query(shapes.ListQuery)
        page = inspection.recent_results(self.caller, limit=asked.limit, cursor=asked.cursor)
        found = [wire.result(result) for result in page.items]
        return Response({"kind": "a2a_results", "results": found, "next_cursor": page.next_cursor})


class QueueView(MailboxView):
    @describe(
        summary="See queued tasks, live leases and pending results",
        tag="queue",
        query=shapes.QueueQuery,
        answer=answers.Queue,
    )
    def get(self, request: Request) -> Response:
        asked = self.query(shapes.QueueQuery)
        page = inspection.queue(self.caller, asked.filter(), limit=asked.limit, cursor=asked.cursor)
        pending = inspection.recent_results(self.caller, limit=asked.limit)
        return Response(
            {
                "kind": "a2a_queue",
                "tasks": [wire.queue_entry(entry) for entry in page.items],
                "results": [wire.result(result) for result in pending.items],
                "next_cursor": page.next_cursor,
            }
        )


class StatusView(MailboxView):
    @describe(
        summary="See the queue as the command line does", tag="queue", query=shapes.QueueQuery, answer=answers.Status
    )
    def get(self, request: Request) -> Response:
        asked = self.query(shapes.QueueQuery)
        page = inspection.queue(self.caller, asked.filter(), limit=asked.limit, cursor=asked.cursor)
        pending = inspection.recent_results(self.caller, limit=asked.limit)
        return Response(wire.status(asked, page.items, pending.items))


class LeasesView(MailboxView):
    @describe(summary="List your own live leases", tag="queue", query=shapes.ListQuery, answer=answers.Leases)
    def get(self, request: Request) -> Response:
        asked = self.query(shapes.ListQuery)
        page = inspection.leases(self.caller, limit=asked.limit, cursor=asked.cursor)
        found = [wire.held(lease) for lease in page.items]
        return Response({"kind": "a2a_leases", "leases": found, "next_cursor": page.next_cursor})


class EntryView(MailboxView):
    @describe(summary="See one task", tag="task", answer=answers.TaskEntryAnswer, errors=(404,))
    def get(self, request: Request, task_id: UUID) -> Response:
        expiry.expire_if_due(self.caller, task_id)
        entry = inspection.task(self.caller, task_id)
        return Response({"kind": "a2a_task_entry", "entry": wire.task_entry(entry)})


class TaskResultView(MailboxView):
    @describe(summary="Read a task's result without draining it", tag="task", answer=answers.ResultOpt, errors=(404,))
    def get(self, request: Request, task_id: UUID) -> Response:
        expiry.expire_if_due(self.caller, task_id)
        found = inspection.result(self.caller, task_id)
        return Response({"kind": "a2a_result_opt", "result": wire.result(found) if found else None})


class TreeView(MailboxView):
    @describe(summary="See a task and all below it", tag="task", answer=answers.Tree, errors=(404,))
    def get(self, request: Request, task_id: UUID) -> Response:
        nodes = inspection.tree(self.caller, task_id)
        return Response({"kind": "a2a_tree", "root": task_id, "nodes": [wire.node(node) for node in nodes]})


class TimelineView(MailboxView):
    @describe(
        summary="Read the journal of a task",
        tag="task",
        query=shapes.TimelineQuery,
        answer=answers.Timeline,
        errors=(404,),
    )
    def get(self, request: Request, task_id: UUID) -> Response:
        asked = self.query(shapes.TimelineQuery)
        page = inspection.timeline(self.caller, task_id, limit=asked.limit, cursor=asked.cursor)
        events = [wire.event(event) for event in page.items]
        return Response({"kind": "a2a_timeline", "task_id": task_id, "events": events, "next_cursor": page.next_cursor})


class ReleaseView(MailboxView):
    @describe(
        summary="Hand your lease back",
        tag="task",
        body=shapes.ReleaseBody,
        answer=answers.TaskReleased,
        errors=(404, 409),
        operation_id="release_task",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        body = self.body(shapes.ReleaseBody)
        lease = leasing.release(self.caller, task_id, reason=body.reason, lease_id=body.lease_id)
        return Response({"kind": "a2a_task_released", "task_id": task_id, "attempt": lease.attempt})


class HeartbeatView(MailboxView):
    @describe(
        summary="Say that you are still at work",
        tag="task",
        body=shapes.HeartbeatBody,
        answer=answers.LeaseAnswer,
        errors=(404, 409),
        operation_id="heartbeat_task",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        lease = leasing.heartbeat(self.caller, task_id, lease_id=self.body(shapes.HeartbeatBody).lease_id)
        return Response({"kind": "a2a_lease", "task_id": task_id, "lease": wire.lease(lease)})


class UpdatesView(MailboxView):
    @describe(
        summary="Say what you are doing, as the holder",
        tag="task",
        body=shapes.UpdatesBody,
        answer=answers.TaskUpdated,
        errors=(404, 409),
        operation_id="post_updates",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        body = self.body(shapes.UpdatesBody)
        said = [update.update() for update in body.updates]
        seq = updates.post_updates(self.caller, task_id, said, lease_id=body.lease_id, attempt_id=body.attempt_id)
        return Response({"kind": "a2a_task_updated", "task_id": task_id, "seq": seq})


class CancelView(MailboxView):
    @describe(
        summary="Cancel a task you sent",
        tag="task",
        body=shapes.CancelBody,
        answer=answers.TaskCancelled,
        errors=(404, 409),
        operation_id="cancel_task",
    )
    def post(self, request: Request, task_id: UUID) -> Response:
        delivery.cancel(self.caller, task_id, reason=self.body(shapes.CancelBody).reason)
        return Response({"kind": "a2a_task_cancelled", "task_id": task_id})

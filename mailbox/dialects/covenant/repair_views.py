"""Repair, retry, compaction, cached results and callbacks over HTTP."""

from __future__ import annotations

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from mailbox.access.callers import Caller
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.covenant import repair_answers, repair_wire, requests
from mailbox.dialects.covenant.views import MailboxView
from mailbox.inspection import lists
from mailbox.life import callbacks, replay
from mailbox.repairs import repair, retry
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention


class RepairView(MailboxView):
    @describe(
        summary="Requeue a leased task or force it to an error",
        tag="repair",
        body=requests.RepairBody,
        answer=repair_answers.Repaired,
        errors=(403, 404, 409),
        operation_id="repair_task",
    )
    def post(self, request: Request) -> Response:
        outcome = _repair(self.caller, self.body(requests.RepairBody))
        return Response({"kind": "a2a_repaired", "outcome": outcome})


class RetryStaleView(MailboxView):
    @describe(
        summary="Requeue stale idempotent leases; a dry run unless enabled",
        tag="repair",
        body=requests.PolicyBody,
        answer=repair_answers.AutoRetried,
        errors=(403,),
        operation_id="retry_stale",
    )
    def post(self, request: Request) -> Response:
        report = retry.retry_stale(self.caller, self.body(requests.PolicyBody).policy())
        return Response({"kind": "a2a_auto_retry", "report": repair_wire.retry_report(report)})


class CompactView(MailboxView):
    @describe(
        summary="Delete finished tasks older than the retention period",
        tag="repair",
        body=requests.CompactBody,
        answer=repair_answers.Compacted,
        errors=(403,),
        operation_id="compact",
    )
    def post(self, request: Request) -> Response:
        self.body(requests.CompactBody)
        dropped = compaction.compact(self.caller, Retention.from_settings())
        return Response({"kind": "a2a_compacted", "dropped": dropped})


class ReplayEntriesView(MailboxView):
    @describe(
        summary="List cached results, newest first",
        tag="replay",
        query=requests.ListQuery,
        answer=repair_answers.ReplayEntries,
        operation_id="list_replay_entries",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.replay_entries(self.caller, limit=query.limit, cursor=query.cursor)
        entries = [repair_wire.replay_entry(entry) for entry in page.items]
        return Response({"kind": "a2a_replay_entries", "entries": entries, "next_cursor": page.next_cursor})


class DropReplayView(MailboxView):
    @describe(
        summary="Drop a cached result; the next duplicate is then done again",
        tag="replay",
        body=requests.DropReplayBody,
        answer=repair_answers.ReplayDropped,
        errors=(403, 404),
        operation_id="drop_replay_entry",
    )
    def post(self, request: Request) -> Response:
        body = self.body(requests.DropReplayBody)
        replay.drop(self.caller, body.id, reason=body.reason, source_task_id=body.source_task_id)
        return Response({"kind": "a2a_replay_dropped", "id": body.id})


class DeliveriesView(MailboxView):
    @describe(
        summary="List callbacks with their attempts, newest first",
        tag="callbacks",
        query=requests.ListQuery,
        answer=repair_answers.ListedDeliveries,
        operation_id="list_deliveries",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.deliveries(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [repair_wire.delivery(delivery, self.caller) for delivery in page.items]
        return Response({"kind": "a2a_deliveries", "deliveries": rendered, "next_cursor": page.next_cursor})


class ResendView(MailboxView):
    @describe(
        summary="Send a callback again",
        tag="callbacks",
        body=requests.ResendBody,
        answer=repair_answers.Resent,
        errors=(403, 404),
        operation_id="resend_delivery",
    )
    def post(self, request: Request, delivery_id: UUID) -> Response:
        callbacks.resend(self.caller, delivery_id, reason=self.body(requests.ResendBody).reason)
        return Response({"kind": "a2a_delivery_resent", "delivery_id": delivery_id})


def _repair(caller: Caller, body: requests.RepairBody) -> repair_answers.RepairOutcome:
    guard = body.command.lease_id
    match body.command:
        case requests.RequeueCommand(duplicate_risk=risk):
            task = repair.requeue(caller, body.task_id, reason=body.reason, duplicate_risk=risk, lease_id=guard)
            return repair_wire.requeued(task)
        case requests.ForceErrorCommand(message=message):
            result = repair.force_error(caller, body.task_id, reason=body.reason, message=message, lease_id=guard)
            return repair_wire.forced_error(result)

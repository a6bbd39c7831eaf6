"""Repair, retry, compaction, cached results and callbacks over HTTP."""

from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from mailbox.access.callers import Caller
from mailbox.dialects.base.bodies import Exact, Integer, Text
from mailbox.dialects.base.openapi import operation
from mailbox.dialects.covenant import repair_wire, requests
from mailbox.dialects.covenant.views import MailboxView
from mailbox.inspection import lists
from mailbox.life import outbox, replay
from mailbox.repairs import repair, retry
from mailbox.repairs.retry import BOUNDS, RetryPolicy
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention


class RequeueCommand(Exact):
    """Return the task to the queue. ``duplicate_risk`` says why doing the work twice is acceptable."""

    action: Literal["requeue"]
    duplicate_risk: Literal["idempotent", "operator_accepted"]
    lease_id: UUID | None = None


class ForceErrorCommand(Exact):
    """Resolve the task as an error with this ``message``."""

    action: Literal["force_error"]
    message: Text
    lease_id: UUID | None = None


class RepairBody(Exact):
    """A repair of a leased task. With a ``lease_id`` in the command, nothing happens unless that lease is live."""

    task_id: UUID
    command: RequeueCommand | ForceErrorCommand = Field(discriminator="action")
    reason: Text


def _bound(name: str, usual: int) -> Any:
    least, most = BOUNDS[name]
    return Field(usual, ge=least, le=most)


class PolicyBody(Exact):
    """The limits of one pass of the retry gate.

    Without ``enabled`` the pass is a dry run. ``max_requeues`` and ``scan_limit`` count leases of this pass.
    """

    enabled: bool = Field(False, strict=True)
    min_lease_age_ms: Integer = _bound("min_lease_age_ms", 300_000)
    max_attempts: Integer = _bound("max_attempts", 3)
    max_requeues: Integer = _bound("max_requeues", 1)
    scan_limit: Integer = _bound("scan_limit", 100)

    def policy(self) -> RetryPolicy:
        bounds = self.model_dump(exclude={"min_lease_age_ms"})
        return RetryPolicy(min_lease_age=timedelta(milliseconds=self.min_lease_age_ms), **bounds)


class CompactBody(Exact):
    """An empty object. The operator's settings say how long finished work is kept."""


class ResendBody(Exact):
    """Why the callback is sent again."""

    reason: Text


class DropReplayBody(Exact):
    """The cached result to drop. With a ``source_task_id`` nothing is dropped if a newer result took its place."""

    id: Integer = Field(ge=1, le=2**63 - 1)
    reason: Text
    source_task_id: UUID | None = None


class RepairView(MailboxView):
    @operation("repair_task", errors=(403, 404, 409))
    def post(self, body: RepairBody) -> repair_wire.Repaired:
        return {"kind": "a2a_repaired", "outcome": _repair(self.caller, body)}


class RetryStaleView(MailboxView):
    @operation("retry_stale", errors=(403,))
    def post(self, body: PolicyBody) -> repair_wire.AutoRetried:
        report = retry.retry_stale(self.caller, body.policy())
        return {"kind": "a2a_auto_retry", "report": repair_wire.retry_report(report)}


class CompactView(MailboxView):
    @operation("compact", errors=(403,))
    def post(self, body: CompactBody) -> repair_wire.Compacted:
        dropped = compaction.compact(self.caller, Retention.from_settings())
        return {"kind": "a2a_compacted", "dropped": dropped}


class ReplayEntriesView(MailboxView):
    @operation("list_replay_entries")
    def get(self, query: requests.ListQuery) -> repair_wire.ReplayEntries:
        page = lists.replay_entries(self.caller, limit=query.limit, cursor=query.cursor)
        entries = [repair_wire.replay_entry(entry) for entry in page.items]
        return {"kind": "a2a_replay_entries", "entries": entries, "next_cursor": page.next_cursor}


class DropReplayView(MailboxView):
    @operation("drop_replay_entry", errors=(403, 404))
    def post(self, body: DropReplayBody) -> repair_wire.ReplayDropped:
        replay.drop(self.caller, body.id, reason=body.reason, source_task_id=body.source_task_id)
        return {"kind": "a2a_replay_dropped", "id": body.id}


class DeliveriesView(MailboxView):
    @operation("list_deliveries")
    def get(self, query: requests.ListQuery) -> repair_wire.ListedDeliveries:
        page = lists.deliveries(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [repair_wire.delivery(delivery, self.caller) for delivery in page.items]
        return {"kind": "a2a_deliveries", "deliveries": rendered, "next_cursor": page.next_cursor}


class ResendView(MailboxView):
    @operation("resend_delivery", errors=(403, 404))
    def post(self, delivery_id: UUID, body: ResendBody) -> repair_wire.Resent:
        outbox.resend(self.caller, delivery_id, reason=body.reason)
        return {"kind": "a2a_delivery_resent", "delivery_id": delivery_id}


def _repair(caller: Caller, body: RepairBody) -> repair_wire.RepairOutcome:
    guard = body.command.lease_id
    match body.command:
        case RequeueCommand(duplicate_risk=risk):
            task = repair.requeue(caller, body.task_id, reason=body.reason, duplicate_risk=risk, lease_id=guard)
            return repair_wire.requeued(task)
        case ForceErrorCommand(message=message):
            result = repair.force_error(caller, body.task_id, reason=body.reason, message=message, lease_id=guard)
            return repair_wire.forced_error(result)

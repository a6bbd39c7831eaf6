"""The journal in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mailbox.models import AuditEvent
from mailbox.words.kinds import Kind

ACT = {
    Kind.TASK_SENT: "sent",
    Kind.TASK_LEASED: "leased",
    Kind.TASK_RELEASED: "released",
    Kind.TASK_CANCELLED: "cancelled",
    Kind.TASK_EXPIRED: "expired",
    Kind.TASK_UPDATED: "posted an update",
    Kind.TASK_ASKED: "asked the sender a question",
    Kind.MESSAGE_SENT: "sent another message",
    Kind.TASK_WOKEN: "queued: the task it waited on did not end ok",
    Kind.RESULT_POSTED: "answered",
    Kind.RESULT_REPLAYED: "answered from the cache",
    Kind.RESULT_DELIVERED: "result picked up",
    Kind.RESULT_ACKED: "result acknowledged",
    Kind.REPAIR_PLAN_MADE: "planned a bulk repair",
    Kind.REPAIR_PLAN_APPLIED: "applied a bulk repair",
    Kind.REPAIR_PLAN_DISCARDED: "discarded a bulk repair",
    Kind.RESULT_REJECTED: "result rejected",
    Kind.AUTO_RETRY_SCAN: "automatic retry run",
    Kind.ERASED: "payload erased",
    Kind.PUSH_CONFIG_SET: "webhook set",
    Kind.PUSH_CONFIG_DELETED: "webhook deleted",
    Kind.QUOTA_EXCEEDED: "quota reached",
    Kind.QUOTA_CHANGED: "changed a quota",
    Kind.REFUSALS_REPEATED: "repeated refusals",
    Kind.SWEEP_FAILED: "sweep step failed",
    Kind.ALERT_SENT: "alert sent",
    Kind.CAPABILITY_CHECK: "capability checked",
    Kind.AGENT_OPENED: "opened to anyone",
    Kind.AGENT_CLOSED: "API key required",
    Kind.SIGNING_KEY_SET: "signing key set",
    Kind.SIGNING_KEY_RETIRED: "signing key retired",
    Kind.PERSON_SIGNED_IN: "signed in",
    Kind.PERSON_SIGNED_OUT: "signed out",
    Kind.PERSON_SIGN_IN_FAILED: "sign-in failed",
    Kind.PERSON_LOCKED_OUT: "sign-in locked",
    Kind.VIEW_SHARED: "shared a view",
    Kind.VIEW_UNSHARED: "stopped sharing a view",
}
NAMES: Mapping[str, str] = {
    **{str(kind): ACT.get(kind, kind.removeprefix("a2a_").replace("_", " ")) for kind in Kind},
    str(Kind.REPAIR_APPLIED): "repaired",
    str(Kind.REPAIR_REFUSED): "repair refused",
}
PLAN_KINDS = (Kind.REPAIR_PLAN_MADE, Kind.REPAIR_PLAN_APPLIED, Kind.REPAIR_PLAN_DISCARDED)
REPAIR_NAMES = {"requeue": "requeue", "auto_requeue": "requeue", "force_error": "force error"}
REFUSED = {  # by the code of the error
    "already_resolved": "task was already resolved",
    "not_in_flight": "task was not leased",
    "lease_mismatch": "lease had changed",
    "duplicate_risk_mismatch": "task is not idempotent",
    "unknown_task": "task is unknown",
}
REPAIRS = {"requeue": "requeued", "auto_requeue": "requeued", "force_error": "closed as an error"}
# The words for a result of this status.
FAILURES = {"error": "answered with an error", "rejected": "rejected"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalLine:
    """A journal row in words. ``reason`` is "" if the row has none."""

    event: AuditEvent
    what: str
    reason: str

    @property
    def plan(self) -> int | None:
        """The number of the plan that the row is about or part of."""
        if self.event.kind in PLAN_KINDS:
            return int(self.event.fields["plan"])
        of_a_plan = self.event.source == AuditEvent.Source.DASHBOARD and self.event.request_id.startswith("plan:")
        return int(self.event.request_id.removeprefix("plan:")) if of_a_plan else None

    @property
    def is_life(self) -> bool:
        """Whether the row is part of its task's life. Checks and refusals are not."""
        return self.event.seq is not None


def in_words(event: AuditEvent) -> JournalLine:
    data: dict[str, Any] = event.fields
    if event.kind == Kind.REPAIR_APPLIED:
        what = REPAIRS.get(str(data.get("action")), "repaired")
    elif event.kind in (Kind.RESULT_POSTED, Kind.RESULT_REPLAYED) and data.get("status") in FAILURES:
        what = FAILURES[str(data["status"])]
    elif event.kind == Kind.REPAIR_REFUSED:
        return JournalLine(event=event, what=_refusal(data), reason=str(data.get("given_reason") or ""))
    elif event.kind == Kind.CAPABILITY_CHECK and not data.get("passed"):
        what = "capability refused"
    elif event.kind == Kind.MESSAGE_SENT and data.get("answers"):
        what = "answered the question"
    elif event.kind == Kind.TASK_UPDATED and "artifact" in data:
        what = "added to an artifact" if data["artifact"]["append"] else "added an artifact"
    elif event.kind in list(Kind):
        what = NAMES[Kind(event.kind)]
    else:
        what = event.kind
    return JournalLine(event=event, what=what, reason=str(data.get("reason") or ""))


def _refusal(data: dict[str, Any]) -> str:
    code = str(data.get("reason"))
    return f"{REPAIR_NAMES.get(str(data.get('action')), 'repair')} refused: {REFUSED.get(code, code.replace('_', ' '))}"

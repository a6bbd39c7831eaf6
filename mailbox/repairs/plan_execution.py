"""Carrying out an applied plan. Each row is a decision of its own, with its own guard and capability check."""

import logging
import time
from collections.abc import Mapping
from datetime import timedelta

from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.access.credentials import authentication
from mailbox.life import operator_tasks
from mailbox.models import AuditEvent, RepairPlan, RepairPlanRow, Task
from mailbox.repairs import repair
from mailbox.words import errors
from mailbox.words.kinds import Kind

CLAIMED_BEYOND = timedelta(seconds=30)  # the last repair may have to wait for a lock

BECAME: Mapping[type[errors.MailboxError], RepairPlanRow.Outcome] = {
    errors.LeaseMismatchError: RepairPlanRow.Outcome.CHANGED,
    errors.NotInFlightError: RepairPlanRow.Outcome.CHANGED,
    errors.AlreadyResolvedError: RepairPlanRow.Outcome.COMPLETED,
    errors.UnknownTaskError: RepairPlanRow.Outcome.COMPLETED,  # only resolved tasks are compacted
    errors.CapabilityMissingError: RepairPlanRow.Outcome.REFUSED,
    errors.CapabilityScopeMismatchError: RepairPlanRow.Outcome.REFUSED,
}
_logger = logging.getLogger(__name__)


def work(plan: RepairPlan, *, seconds: float) -> None:
    """Repair the remaining rows of an applied plan for about ``seconds``, as the person who applied it.

    Each lease is repaired and its row settled in one transaction. A task is sent again at most once. One process at a
    time works on a plan; a second call returns at once. A process may die at any point, and another call then
    continues.
    """
    now = timezone.now()
    until = now + timedelta(seconds=seconds) + CLAIMED_BEYOND
    if not RepairPlan.objects.claimed(plan.pk, now, until):
        return
    end = time.monotonic() + seconds
    try:
        caller = authentication.person(_person(plan), source=AuditEvent.Source.DASHBOARD, request_id=plan.request_id)
        for row in plan.rows.pending().in_order():
            _send_again(caller, plan, row) if plan.verb == RepairPlan.Verb.SEND_AGAIN else _repair(caller, plan, row)
            if time.monotonic() >= end:
                break
    finally:
        RepairPlan.objects.released(plan.pk, until, timezone.now())


def carry_on(*, seconds: float) -> None:
    """Continue every applied plan, oldest first, for about ``seconds`` in all."""
    end = time.monotonic() + seconds
    for plan in RepairPlan.objects.applying():
        if (left := end - time.monotonic()) <= 0:
            return
        try:
            work(plan, seconds=left)
        except Exception:  # the other plans go on, and this plan is tried again in a minute
            _logger.exception("plan #%s stopped with an error", plan.pk)


def _send_again(caller: Caller, plan: RepairPlan, row: RepairPlanRow) -> None:
    """Send a failed task again and settle its row. A row that was cut off between the two finds its own copy."""
    mine = plan.rows.filter(pk=row.pk)
    try:
        copy = operator_tasks.send_again(caller, row.task_id)
    except errors.MailboxError as refusal:
        outcome = BECAME.get(type(refusal), RepairPlanRow.Outcome.FAILED)
        is_gone = outcome == RepairPlanRow.Outcome.COMPLETED
        mine.settle(
            RepairPlanRow.Outcome.FAILED if is_gone else outcome, _detail(refusal, row, _person(plan)), timezone.now()
        )
        return
    sent = AuditEvent.objects.of_task(copy.uuid).filter(kind=Kind.TASK_SENT).first()
    is_own = sent is not None and sent.request_id == plan.request_id
    outcome = RepairPlanRow.Outcome.DONE if is_own else RepairPlanRow.Outcome.CHANGED
    mine.settle(outcome, "" if is_own else "already sent again", timezone.now())


def _repair(caller: Caller, plan: RepairPlan, row: RepairPlanRow) -> None:
    """Repair one lease and settle its row in the same transaction. A refusal settles the row, too."""
    mine = plan.rows.filter(pk=row.pk)
    try:
        with repair.deciding(caller, row.task_id, plan.verb, reason=plan.reason, lease_id=row.lease_id) as journal:
            if not mine.pending().locked():
                return
            if plan.verb == RepairPlan.Verb.REQUEUE:
                risk = repair.DuplicateRisk.IDEMPOTENT if row.is_idempotent else repair.DuplicateRisk.OPERATOR_ACCEPTED
                repair.requeue_within(
                    journal, caller, row.task_id, reason=plan.reason, duplicate_risk=risk, lease_id=row.lease_id
                )
            else:
                repair.force_error_within(
                    journal, caller, row.task_id, reason=plan.reason, message=plan.message, lease_id=row.lease_id
                )
            mine.settle(RepairPlanRow.Outcome.DONE, "", journal.now)
    except errors.MailboxError as refusal:
        mine.settle(
            BECAME.get(type(refusal), RepairPlanRow.Outcome.FAILED),
            _detail(refusal, row, _person(plan)),
            timezone.now(),
        )


def _detail(refusal: errors.MailboxError, row: RepairPlanRow, name: str) -> str:
    """Return why a lease was not repaired for the person ``name``, to everyone who reads the receipt.

    The row already shows the ids of the lease and its task.
    """
    match refusal:
        case errors.LeaseMismatchError():
            return f"lease {refusal.ids['actual_lease_id']} is live now"
        case errors.NotInFlightError():
            return "queued, not leased"
        case errors.AlreadyResolvedError():
            outcome = Task.objects.filter(uuid=row.task_id).values_list("outcome", flat=True).first()
            return f"resolved as {outcome}" if outcome else "compacted"
        case errors.UnknownTaskError():
            return "compacted"
    return errors.text_for_others(refusal, name)[:500]


def _person(plan: RepairPlan) -> str:
    """Return the name of the person who applied the plan."""
    return plan.decided_by.removeprefix("user:")

"""Plans to repair many leases, or to send many failed tasks again. A plan is made, shown, and applied or discarded.

A failed task that is sent again becomes a new task, and itself stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from mailbox.access import audit, capabilities, requests
from mailbox.access.callers import Caller
from mailbox.access.own_agents import OPERATORS
from mailbox.journal import task_entries
from mailbox.life import operator_tasks
from mailbox.models import Agent, Lease, RepairPlan, RepairPlanRow, Task
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.repair_plan import INTENT_KEPT
from mailbox.models.task import TaskQuerySet, id_of_copy
from mailbox.repairs.repair import MESSAGE_MAX_LENGTH
from mailbox.words.envelopes import check_reason
from mailbox.words.errors import InvalidRequestError, PlanClosedError, UnknownPlanError, WrongPartyError
from mailbox.words.sealed import ERASED

CAP = 1_000  # leases in one plan
COUNTED_TO = 10_000
TYPED_ABOVE = 50  # a plan of more leases is confirmed by typing their number
GOOD_FOR = timedelta(minutes=10)

ACTION = {
    RepairPlan.Verb.REQUEUE: requests.REQUEUE,
    RepairPlan.Verb.FORCE_ERROR: requests.FORCE_ERROR,
    RepairPlan.Verb.SEND_AGAIN: requests.SEND,
}
SEND_AGAIN = RepairPlan.Verb.SEND_AGAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTally:
    """The number of leases of a plan by verdict and outcome. The outcomes of a preview are all 0."""

    ready: int
    consent: int
    skipped: int
    unsafe_ready: int  # part of ``ready``; only for force_error, which repeats no work
    outcomes: Mapping[str, int]
    pending: int

    @classmethod
    def of(cls, plan: RepairPlan) -> PlanTally:
        counts = plan.rows.all().tally()
        by_verdict = dict.fromkeys(RepairPlanRow.Verdict.values, 0)
        outcomes = dict.fromkeys(RepairPlanRow.Outcome.values, 0)
        unsafe_ready = pending = 0
        for (verdict, outcome, is_idempotent), rows in counts.items():
            by_verdict[verdict] += rows
            if outcome is not None:
                outcomes[outcome] += rows
            elif verdict != RepairPlanRow.Verdict.SKIPPED:
                pending += rows
            if verdict == RepairPlanRow.Verdict.READY and not is_idempotent:
                unsafe_ready += rows
        return cls(**by_verdict, unsafe_ready=unsafe_ready, outcomes=outcomes, pending=pending)

    def included(self, with_unsafe: bool) -> int:
        """Return the number of leases to repair."""
        return self.ready + (self.consent if with_unsafe else 0)

    def to_type(self, with_unsafe: bool) -> int | None:
        """Return the number that a person must type to apply the plan; None if the leases are few and safe."""
        any_unsafe = self.unsafe_ready or (self.consent and with_unsafe)
        included = self.included(with_unsafe)
        return included if any_unsafe or included > TYPED_ABOVE else None

    @property
    def planned(self) -> int:
        """The number of leases that an applied plan tries to repair."""
        return self.ready + self.consent - self.outcomes[RepairPlanRow.Outcome.LEFT]


def make(
    caller: Caller,
    verb: RepairPlan.Verb,
    matches: LeaseQuerySet,
    *,
    token: UUID,
    max_attempts: int,
    query: str = "",
    among: str = "",
    after: RepairPlan | None = None,
) -> RepairPlan:
    """Make a plan of the leases ``matches``, oldest first and at most `CAP` of them. It repairs no lease yet.

    ``token`` names the request: a repeat returns the plan of the first call. ``query`` is the search that chose the
    leases; ``among`` is the search of the list from which a person picked them. Ended leases are in the plan as
    skipped, and for a requeue also leases with ``max_attempts`` `Lease.tries`.

    Raises `InvalidRequestError` without any lease, `WrongPartyError` for agents and programs, and a capability error.
    Journals ``a2a_repair_plan_made``.
    """
    leases = matches.with_task().with_tries().oldest_first()[:CAP]
    return store(
        caller,
        verb,
        [_row(verb, lease, max_attempts) for lease in leases],
        token=token,
        query=query,
        matching=matches.order_by()[: COUNTED_TO + 1].count(),
        among=among,
        after=after,
        max_attempts=max_attempts,
    )


def store(
    caller: Caller,
    verb: RepairPlan.Verb,
    rows: Sequence[RepairPlanRow],
    *,
    token: UUID,
    query: str,
    matching: int,
    among: str = "",
    after: RepairPlan | None = None,
    max_attempts: int = 0,
) -> RepairPlan:
    """Store a plan of these rows, as `make` does; return it, or the plan that ``token`` named before."""

    def decide() -> RepairPlan:
        with audit.decision(caller) as journal:
            _pass_the_gate(caller, verb, journal)
            if (known := RepairPlan.objects.filter(token=token).first()) is not None:
                return known
            if not rows:
                what = "task" if verb == RepairPlan.Verb.SEND_AGAIN else "lease"
                raise InvalidRequestError({f"{what}s": f"choose at least one {what}"})
            plan = RepairPlan.objects.create(
                token=token,
                verb=verb,
                query=query[:600],
                among=among[:600],
                matching=matching,
                after=after,
                max_attempts=max_attempts,
                made_by=caller.name,
                made_at=journal.now,
                expires_at=journal.now + GOOD_FOR,
            )
            for row in rows:
                row.plan = plan
            RepairPlanRow.objects.bulk_create(rows)
            journal.beside(task_entries.RepairPlanMadeEntry(plan.pk, verb, leases=len(rows), query=query, among=among))
            return plan

    return audit.again_on_conflict(decide)


def apply(
    caller: Caller,
    number: int,
    *,
    reason: str,
    message: str = "",
    with_unsafe: bool | None = None,
    typed: int | None = None,
) -> RepairPlan:
    """Decide to carry out a plan; `plan_execution.work` and the sweep then do it. A second call changes nothing.

    ``message`` is the error message for the senders, by default the reason. ``with_unsafe`` is required if leases need
    consent. ``typed`` is the number of leases to repair, required if `PlanTally.to_type` returns it.

    Raises `InvalidRequestError`, `UnknownPlanError`, `PlanClosedError` for an expired or discarded plan, and a
    capability error. Locks the plan; journals ``a2a_repair_plan_applied``.
    """
    reason = check_reason(reason)
    message = check_reason(message.strip() or reason, path="message", limit=MESSAGE_MAX_LENGTH)
    with audit.decision(caller) as journal:
        plan = _open(caller, number, journal)
        if plan.state in (RepairPlan.State.APPLYING, RepairPlan.State.DONE):
            return plan
        tally = PlanTally.of(plan)
        _check(tally, with_unsafe, typed)
        if not with_unsafe:
            plan.rows.judged(RepairPlanRow.Verdict.CONSENT).settle(RepairPlanRow.Outcome.LEFT, "", journal.now)
        plan.state, plan.decided_by, plan.decided_at = RepairPlan.State.APPLYING, caller.name, journal.now
        plan.reason, plan.message = reason, message if plan.verb == RepairPlan.Verb.FORCE_ERROR else ""
        plan.save(update_fields=["state", "decided_by", "decided_at", "reason", "message"])
        entry = task_entries.RepairPlanAppliedEntry(
            plan.pk,
            plan.verb,
            leases=tally.included(bool(with_unsafe)),
            reason=reason,
            with_unsafe=bool(with_unsafe),
        )
        journal.beside(entry)
    return plan


def discard(caller: Caller, number: int) -> RepairPlan:
    """Discard a plan that was not applied. A second call changes nothing.

    Raises `UnknownPlanError`, `PlanClosedError` for an applied plan, and a capability error. Locks the plan; journals
    ``a2a_repair_plan_discarded``.
    """
    with audit.decision(caller) as journal:
        plan = _locked(caller, number, journal)
        if plan.state == RepairPlan.State.DISCARDED:
            return plan
        if plan.state != RepairPlan.State.PREVIEW:
            raise PlanClosedError(f"Plan #{number} was already applied by {plan.decided_by}.")
        plan.state, plan.decided_by, plan.decided_at = RepairPlan.State.DISCARDED, caller.name, journal.now
        plan.save(update_fields=["state", "decided_by", "decided_at"])
        journal.beside(task_entries.RepairPlanDiscardedEntry(plan.pk, plan.verb))
    return plan


def _row(verb: RepairPlan.Verb, lease: Lease, max_attempts: int) -> RepairPlanRow:
    task = lease.task
    verdict, detail = _verdict(verb, lease, max_attempts)
    return RepairPlanRow(
        task_id=task.uuid,
        lease_id=lease.lease_id,
        intent=task.intent_text[:INTENT_KEPT],
        sender=task.sender.display,
        holder=lease.holder.display,
        attempt=lease.attempt,
        leased_at=lease.leased_at,
        is_idempotent=task.is_idempotent,
        verdict=verdict,
        detail=detail,
    )


def _verdict(verb: RepairPlan.Verb, lease: Lease, max_attempts: int) -> tuple[RepairPlanRow.Verdict, str]:
    if lease.ended_at is not None:
        return RepairPlanRow.Verdict.SKIPPED, "already ended"
    if verb == RepairPlan.Verb.FORCE_ERROR:
        return RepairPlanRow.Verdict.READY, ""
    if lease.tries >= max_attempts:
        return RepairPlanRow.Verdict.SKIPPED, f"max attempts reached: the policy allows {max_attempts}"
    return (RepairPlanRow.Verdict.READY if lease.task.is_idempotent else RepairPlanRow.Verdict.CONSENT), ""


def _check(tally: PlanTally, with_unsafe: bool | None, typed: int | None) -> None:
    if tally.consent and with_unsafe is None:
        raise InvalidRequestError({"with_unsafe": "choose what to do with the unsafe leases"})
    included, expected = tally.included(bool(with_unsafe)), tally.to_type(bool(with_unsafe))
    if not included:
        raise InvalidRequestError({"with_unsafe": "leaves no lease to repair; discard the plan instead"})
    if expected is not None and typed != expected:
        raise InvalidRequestError({"typed": f"type {expected}, the number of leases"})


def _pass_the_gate(caller: Caller, verb: str, journal: audit.Journal) -> None:
    if caller.role is None:
        raise WrongPartyError("Only people repair by plan. Agents and programs repair one lease at a time.")
    action = ACTION[RepairPlan.Verb(verb)]
    capabilities.require_in_some_scope(caller, requests.Request.to_repair_by_plan(action), journal.now)


def _locked(caller: Caller, number: int, journal: audit.Journal) -> RepairPlan:
    plan = RepairPlan.objects.locked().filter(pk=number).first()
    if plan is None:
        raise UnknownPlanError(f"Plan #{number} not found.")
    _pass_the_gate(caller, plan.verb, journal)
    return plan


def _open(caller: Caller, number: int, journal: audit.Journal) -> RepairPlan:
    plan = _locked(caller, number, journal)
    if plan.state == RepairPlan.State.DISCARDED:
        raise PlanClosedError(f"Plan #{number} was discarded by {plan.decided_by}. Make a new one.")
    if plan.has_expired(journal.now):
        raise PlanClosedError(f"Plan #{number} has expired, because its leases may have changed. Make a new one.")
    return plan


def make_copy_plan(caller: Caller, matches: TaskQuerySet, *, token: UUID, query: str) -> RepairPlan:
    """Make a plan of the failed tasks among ``matches``, oldest first and at most `CAP` of them. It sends none yet.

    ``token`` names the request: a repeat returns the plan of the first call. ``query`` is the search that chose the
    tasks. Left out as skipped are tasks that were sent again before, erased tasks, and tasks whose recipient may not
    answer ``operators@hub``.

    Raises `InvalidRequestError` without any failed task, `WrongPartyError` for agents and programs, and a capability
    error. Journals ``a2a_repair_plan_made``.
    """
    failed = matches.failed()
    tasks = list(failed.with_parties().with_opening().order_by("pk")[:CAP])
    silent = {agent for agent in {task.recipient for task in tasks} if not operator_tasks.may_answer(agent)}
    copied = Task.objects.filter(uuid__in=[id_of_copy(task.uuid) for task in tasks])
    sent = set(copied.values_list("uuid", flat=True))
    return store(
        caller,
        SEND_AGAIN,
        [_copy_row(task, sent, silent) for task in tasks],
        token=token,
        query=query,
        matching=failed.order_by()[: COUNTED_TO + 1].count(),
    )


def _copy_row(task: Task, sent: Collection[UUID], silent: Collection[Agent]) -> RepairPlanRow:
    opening = str(getattr(task, "opening", ""))
    verdict, detail = _copy_verdict(task, opening, sent, silent)
    return RepairPlanRow(
        task_id=task.uuid,
        intent=opening[:INTENT_KEPT],
        sender=task.sender.display,
        holder=task.recipient.display,
        attempt=task.attempt,
        leased_at=task.resolved_at or task.sent_at,
        is_idempotent=task.is_idempotent,
        verdict=verdict,
        detail=detail,
    )


def _copy_verdict(
    task: Task, opening: str, sent: Collection[UUID], silent: Collection[Agent]
) -> tuple[RepairPlanRow.Verdict, str]:
    if id_of_copy(task.uuid) in sent:
        return RepairPlanRow.Verdict.SKIPPED, "already sent again"
    if opening.startswith(ERASED):
        return RepairPlanRow.Verdict.SKIPPED, "its payload was erased"
    if task.recipient in silent:
        grant = f"a2a grant give {task.recipient} {requests.RESPOND}.{OPERATORS}"
        return RepairPlanRow.Verdict.SKIPPED, f"{task.recipient} can't answer {OPERATORS}. Grant it: {grant}"[:500]
    return (RepairPlanRow.Verdict.READY if task.is_idempotent else RepairPlanRow.Verdict.CONSENT), ""

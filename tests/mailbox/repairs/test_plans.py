import uuid
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.access.callers import Caller, Role
from mailbox.life import leasing, results
from mailbox.models import AuditEvent, Lease, RepairPlan, RepairPlanRow, Task
from mailbox.repairs import plans, repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.errors import (
    CapabilityMissingError,
    InvalidRequestError,
    PlanClosedError,
    UnknownPlanError,
    WrongPartyError,
)
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.plans import FORCE_ERROR, REQUEUE, carried_out, leased, outcomes, planned

pytestmark = pytest.mark.django_db


def verdicts(plan):
    return list(plan.rows.in_order().values_list("verdict", "detail"))


def test_a_plan_freezes_leases_and_changes_none(alice, bob, olga):
    leases = leased(alice, bob, safe=2, unsafe=1)

    plan = planned(olga, leases, query="agent:bob")

    assert (plan.state, plan.made_by, plan.query, plan.matching) == ("preview", "user:olga", "agent:bob", 3)
    assert [row.lease_id for row in plan.rows.in_order()] == [lease.lease_id for lease in leases]
    assert verdicts(plan) == [("ready", ""), ("ready", ""), ("consent", "")]
    assert Lease.objects.live().count() == 3
    (made,) = factories.journal(Kind.REPAIR_PLAN_MADE)
    assert made.fields == {"plan": plan.pk, "action": "requeue", "leases": 3, "query": "agent:bob", "among": ""}


def test_a_plan_skips_ended_and_exhausted_leases_with_the_reason(alice, bob, olga):
    ended, often = leased(alice, bob, safe=2)
    results.post_result(bob, factories.result_envelope(ended.task, lease_id=ended.lease_id))

    plan = planned(olga, [ended, often], max_attempts=1)

    assert verdicts(plan) == [
        ("skipped", "already ended"),
        ("skipped", "max attempts reached: the policy allows 1"),
    ]
    assert verdicts(planned(olga, [often], FORCE_ERROR, max_attempts=1)) == [("ready", "")]


def test_a_form_sent_twice_makes_one_plan(alice, bob, olga):
    leases, token = leased(alice, bob, safe=1), uuid.uuid4()

    assert planned(olga, leases, token=token) == planned(olga, leases, token=token)
    assert len(factories.journal(Kind.REPAIR_PLAN_MADE)) == 1


def test_a_plan_holds_the_oldest_leases_up_to_its_cap(alice, bob, olga, monkeypatch):
    leases = leased(alice, bob, safe=4)
    monkeypatch.setattr(plans, "CAP", 3)

    plan = plans.make(olga, REQUEUE, Lease.objects.live(), token=uuid.uuid4(), max_attempts=3)

    assert [row.lease_id for row in plan.rows.in_order()] == [lease.lease_id for lease in leases[:3]]
    assert plan.matching == 4


def test_a_plan_without_leases_is_refused(olga):
    with pytest.raises(InvalidRequestError):
        planned(olga, [])


@pytest.mark.parametrize(
    "act",
    [
        lambda viewer, plan, leases: planned(viewer, leases),
        lambda viewer, plan, leases: plans.apply(viewer, plan.pk, reason="pod lost"),
        lambda viewer, plan, leases: plans.discard(viewer, plan.pk),
    ],
    ids=["make", "apply", "discard"],
)
def test_a_viewer_cannot_make_apply_or_discard_a_plan(alice, bob, olga, act):
    viewer = factories.person("vic", Role.VIEWER)
    leases = leased(alice, bob, safe=1)
    plan = planned(olga, leases)

    with pytest.raises(CapabilityMissingError):
        act(viewer, plan, leases)

    assert factories.last_event().actor == "user:vic"
    assert Lease.objects.live().count() == 1


def test_an_applied_plan_requeues_and_journals_each_lease(alice, bob, olga):
    leases = leased(alice, bob, safe=3)

    plan = carried_out(olga, planned(olga, leases))

    assert (plan.state, plan.decided_by, plan.reason) == ("done", "user:olga", "pod lost")
    assert plan.finished_at is not None
    assert outcomes(plan) == {"done": 3}
    assert Task.objects.queued().count() == 3
    applied = factories.journal(Kind.REPAIR_APPLIED)
    assert [event.fields["lease_id"] for event in applied] == [str(lease.lease_id) for lease in leases]
    assert {(event.actor, event.source, event.request_id) for event in applied} == {
        ("user:olga", "dashboard", f"plan:{plan.pk}")
    }
    assert {event.fields["duplicate_risk"] for event in applied} == {"idempotent"}
    assert {event.task_id for event in factories.journal(Kind.CAPABILITY_CHECK)} >= {
        lease.task.uuid for lease in leases
    }


def test_unsafe_work_needs_a_choice_and_the_typed_count(alice, bob, olga):
    plan = planned(olga, leased(alice, bob, safe=1, unsafe=2))

    for options in ({}, {"with_unsafe": True}, {"with_unsafe": True, "typed": 2}):
        with pytest.raises(InvalidRequestError):
            plans.apply(olga, plan.pk, reason="pod lost", **options)
    done = carried_out(olga, plan, with_unsafe=True, typed=3)

    assert outcomes(done) == {"done": 3}
    risks = [event.fields["duplicate_risk"] for event in factories.journal(Kind.REPAIR_APPLIED)]
    assert risks == ["idempotent", "operator_accepted", "operator_accepted"]


def test_unsafe_work_can_be_left_alone(alice, bob, olga):
    done = carried_out(olga, planned(olga, leased(alice, bob, safe=1, unsafe=2)), with_unsafe=False)

    assert outcomes(done) == {"done": 1, "left": 2}
    assert plans.PlanTally.of(done).planned == 1
    assert Lease.objects.live().count() == 2


def test_a_plan_of_unsafe_work_that_leaves_unsafe_work_alone_is_refused(alice, bob, olga):
    plan = planned(olga, leased(alice, bob, unsafe=2))

    with pytest.raises(InvalidRequestError, match="discard"):
        plans.apply(olga, plan.pk, reason="pod lost", with_unsafe=False)


def test_a_plan_of_many_leases_needs_the_typed_count(alice, bob, olga, monkeypatch):
    monkeypatch.setattr(plans, "TYPED_ABOVE", 2)
    plan = planned(olga, leased(alice, bob, safe=3))

    with pytest.raises(InvalidRequestError, match="type 3"):
        plans.apply(olga, plan.pk, reason="pod lost", typed=2)

    assert outcomes(carried_out(olga, plan, typed=3)) == {"done": 3}


def test_a_plan_of_forced_errors_sends_its_message_to_each_sender(alice, bob, olga):
    plan = planned(olga, leased(alice, bob, safe=1, unsafe=1), FORCE_ERROR)

    done = carried_out(olga, plan, message="please send it again", typed=2)

    assert outcomes(done) == {"done": 2}
    told = [result.error_message for result in results.drain_results(alice, limit=5)]
    assert told == ["please send it again"] * 2


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_a_plan_needs_a_reason(alice, bob, olga, reason):
    with pytest.raises(InvalidRequestError):
        plans.apply(olga, planned(olga, leased(alice, bob, safe=1)).pk, reason=reason)


def test_a_discarded_or_expired_plan_cannot_be_applied(alice, bob, olga):
    leases = leased(alice, bob, safe=1)
    discarded, old = planned(olga, leases), planned(olga, leases)
    assert plans.discard(olga, discarded.pk) == plans.discard(olga, discarded.pk)

    with time_machine.travel(timezone.now() + timedelta(minutes=10, seconds=1)):
        for plan in (discarded, old):
            with pytest.raises(PlanClosedError):
                plans.apply(olga, plan.pk, reason="pod lost")

    assert len(factories.journal(Kind.REPAIR_PLAN_DISCARDED)) == 1
    assert Lease.objects.live().count() == 1


def test_an_applied_plan_cannot_be_discarded(alice, bob, olga):
    plan = carried_out(olga, planned(olga, leased(alice, bob, safe=1)))

    with pytest.raises(PlanClosedError, match="user:olga"):
        plans.discard(olga, plan.pk)


def test_only_people_can_repair_by_plan(alice, bob):
    factories.grant(bob, "a2a.repair.requeue")
    leases = leased(alice, bob, safe=1)

    for caller in (bob, Caller.command_line()):
        with pytest.raises(WrongPartyError, match="one lease at a time"):
            planned(caller, leases)


def test_an_unknown_plan_is_reported_as_unknown(olga):
    with pytest.raises(UnknownPlanError):
        plans.apply(olga, 404, reason="pod lost")


def test_the_journal_tells_single_repairs_from_those_of_a_plan(alice, bob, olga):
    one, *others = leased(alice, bob, safe=3)
    repair.requeue(olga, one.task.uuid, reason="r", duplicate_risk=DuplicateRisk.IDEMPOTENT, lease_id=one.lease_id)
    carried_out(olga, planned(olga, others))

    assert AuditEvent.objects.repairs().count() == 3
    (single,) = AuditEvent.objects.repairs().one_by_one()
    assert single.task_id == one.task.uuid


def test_a_new_plan_takes_up_changed_leases_that_are_live_again(alice, bob, olga):
    one, two = leased(alice, bob, safe=2)
    plan = planned(olga, [one, two])
    for lease in (one, two):
        leasing.release(bob, lease.task.uuid, lease_id=lease.lease_id, reason="restart")
    (again,) = leasing.lease_tasks(bob)
    done = carried_out(olga, plan)

    changed = done.rows.that_became(RepairPlanRow.Outcome.CHANGED)
    renewed = plans.make(olga, REQUEUE, changed.leases_again(), token=uuid.uuid4(), max_attempts=3, after=done)

    assert outcomes(done) == {"changed": 2}
    assert [row.lease_id for row in renewed.rows.all()] == [again.lease_id]
    assert renewed.after == done
    assert RepairPlan.objects.count() == 2

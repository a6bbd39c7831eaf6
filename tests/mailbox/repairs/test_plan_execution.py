"""An applied plan repairs each lease once, with any number of workers and interruptions."""

from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import Group, User
from django.db import OperationalError
from django.utils import timezone

from mailbox.background import jobs
from mailbox.life import leasing, results, updates
from mailbox.models import Lease, RepairPlan, Task
from mailbox.repairs import plan_execution, plans, repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.conversation import Update, UpdateStatus
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.plans import FORCE_ERROR, REQUEUE, carried_out, leased, outcomes, planned
from tests.support.races import race


@pytest.mark.django_db
def test_each_lease_keeps_its_guard(alice, bob, olga):
    same, released, taken_again, answered = leased(alice, bob, safe=4)
    plan = planned(olga, [same, released, taken_again, answered])
    leasing.release(bob, taken_again.task.uuid, lease_id=taken_again.lease_id, reason="restart")
    (current,) = leasing.lease_tasks(bob)
    leasing.release(bob, released.task.uuid, lease_id=released.lease_id, reason="restart")
    results.post_result(bob, factories.result_envelope(answered.task, lease_id=answered.lease_id))

    done = carried_out(olga, plan)

    assert outcomes(done) == {"done": 1, "changed": 2, "completed": 1}
    current.refresh_from_db()
    assert current.ended_at is None
    assert [row.detail for row in done.rows.in_order()] == [
        "",
        "queued, not leased",
        f"lease {current.lease_id} is live now",
        "resolved as ok",
    ]
    refused = [(event.task_id, event.fields["reason"]) for event in factories.journal(Kind.REPAIR_REFUSED)]
    assert refused == [
        (released.task.uuid, "not_in_flight"),
        (taken_again.task.uuid, "lease_mismatch"),
        (answered.task.uuid, "already_resolved"),
    ]


@pytest.mark.django_db
def test_a_compacted_task_counts_as_completed(alice, bob, olga):
    (lease,) = leased(alice, bob, safe=1)
    plan = planned(olga, [lease])
    Lease.objects.filter(pk=lease.pk).delete()
    Task.objects.filter(pk=lease.task_id).delete()

    assert outcomes(carried_out(olga, plan)) == {"completed": 1}
    assert plan.rows.get().intent == "summarise the report"


@pytest.mark.django_db
def test_the_sweep_finishes_a_plan_that_ran_out_of_time(alice, bob, olga):
    plan = planned(olga, leased(alice, bob, safe=3))

    begun = carried_out(olga, plan, seconds=0)
    assert (begun.state, outcomes(begun), plans.PlanTally.of(begun).pending) == ("applying", {"done": 1}, 2)
    jobs.sweep_pass()

    plan.refresh_from_db()
    assert (plan.state, outcomes(plan)) == ("done", {"done": 3})
    assert {event.actor for event in factories.journal(Kind.REPAIR_APPLIED)} == {"user:olga"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("loses", "now"),
    [
        (lambda user: user.groups.clear(), "olga had no role any more"),
        (lambda user: User.objects.filter(pk=user.pk).update(is_active=False), "olga had no role any more"),
        (lambda user: user.groups.set([Group.objects.get(name="viewer")]), "olga was in the group viewer"),
    ],
    ids=["no group", "inactive", "viewer"],
)
def test_the_rest_of_a_plan_is_refused_once_its_operator_lost_the_role(alice, bob, olga, loses, now):
    plan = carried_out(olga, planned(olga, leased(alice, bob, safe=2)), seconds=0)
    loses(User.objects.get(username="olga"))

    plan_execution.carry_on(seconds=60)

    plan.refresh_from_db()
    assert (plan.state, outcomes(plan)) == ("done", {"done": 1, "refused": 1})
    refused = plan.rows.that_became("refused").get()
    assert refused.detail.startswith('This requires capability "a2a.repair.requeue". Its scope is a2a-repair:')
    assert refused.detail.endswith(f" {now}; the capability is held by operator and admin.")
    assert Lease.objects.live().count() == 1


@pytest.mark.django_db
def test_a_plan_applied_twice_repairs_each_lease_once(alice, bob, olga):
    leases = leased(alice, bob, safe=2)
    plan = carried_out(olga, planned(olga, leases))
    leasing.lease_tasks(bob, limit=2)

    again = carried_out(olga, plan, reason="once more")

    assert (again.reason, outcomes(again)) == ("pod lost", {"done": 2})
    assert Lease.objects.live().count() == 2


@pytest.mark.django_db
def test_a_plan_whose_worker_stopped_is_finished_by_the_next_worker(alice, bob, olga, monkeypatch):
    plan = planned(olga, leased(alice, bob, safe=2))
    with monkeypatch.context() as patch:
        patch.setattr(repair, "requeue_within", lambda *_, **__: (_ for _ in ()).throw(OperationalError("locked")))
        with pytest.raises(OperationalError):
            carried_out(olga, plan)
        plan_execution.carry_on(seconds=60)

    assert outcomes(plan) == {}
    plan_execution.carry_on(seconds=60)
    assert outcomes(plan) == {"done": 2}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("verb", ["requeue", "force_error"])
def test_a_plan_applied_twice_at_once_repairs_each_lease_once(alice, bob, olga, verb):
    ben = factories.person("ben", olga.role)
    leases = leased(alice, bob, safe=8)
    plan = planned(olga, leases, RepairPlan.Verb(verb))

    race(lambda: carried_out(olga, plan), lambda: carried_out(ben, plan))
    plan_execution.carry_on(seconds=60)

    plan.refresh_from_db()
    assert (plan.state, outcomes(plan)) == ("done", {"done": 8})
    applied = factories.journal(Kind.REPAIR_APPLIED)
    assert sorted(event.fields["lease_id"] for event in applied) == sorted(str(lease.lease_id) for lease in leases)
    assert {event.actor for event in applied} == {plan.decided_by}
    assert factories.journal(Kind.REPAIR_REFUSED) == []
    assert len(factories.journal(Kind.REPAIR_PLAN_APPLIED)) == 1


@pytest.mark.django_db(transaction=True)
def test_two_workers_of_one_plan_repair_each_lease_once(alice, bob, olga, monkeypatch):
    plan = planned(olga, leased(alice, bob, safe=8))
    applied = plans.apply(olga, plan.pk, reason="pod lost")
    monkeypatch.setattr(type(RepairPlan.objects.all()), "claimed", lambda *_: True)

    race(lambda: plan_execution.work(applied, seconds=60), lambda: plan_execution.work(applied, seconds=60))

    assert outcomes(plan) == {"done": 8}
    assert len(factories.journal(Kind.REPAIR_APPLIED)) == 8
    assert factories.journal(Kind.REPAIR_REFUSED) == []


@pytest.mark.django_db(transaction=True)
def test_a_plan_and_a_repair_at_once_repair_the_lease_once(alice, bob, olga):
    (lease,) = leased(alice, bob, safe=1)
    plan = planned(olga, [lease])

    def single():
        repair.requeue(
            olga, lease.task.uuid, reason="r", duplicate_risk=DuplicateRisk.IDEMPOTENT, lease_id=lease.lease_id
        )

    race(single, lambda: carried_out(olga, plan))

    assert len(factories.journal(Kind.REPAIR_APPLIED)) == 1
    assert set(outcomes(plan)) <= {"done", "changed"}


@pytest.mark.django_db
def test_a_claimed_plan_is_taken_over_after_its_claim_ends(alice, bob, olga):
    plan = planned(olga, leased(alice, bob, safe=1))
    applied = plans.apply(olga, plan.pk, reason="pod lost")
    now = timezone.now()
    assert RepairPlan.objects.claimed(plan.pk, now, now + timedelta(minutes=1))

    plan_execution.work(applied, seconds=60)
    meanwhile = outcomes(plan)
    with time_machine.travel(now + timedelta(minutes=1)):
        plan_execution.work(applied, seconds=60)

    assert meanwhile == {}
    assert outcomes(plan) == {"done": 1}


@pytest.mark.django_db
def test_a_plan_of_forced_errors_keeps_the_guard_of_each_lease(alice, bob, olga):
    one, other = leased(alice, bob, safe=2)
    plan = planned(olga, [one, other], FORCE_ERROR)
    results.post_result(bob, factories.result_envelope(one.task, lease_id=one.lease_id))

    assert outcomes(carried_out(olga, plan)) == {"completed": 1, "done": 1}


@pytest.mark.django_db
@pytest.mark.parametrize("verb", [REQUEUE, FORCE_ERROR])
def test_a_plan_leaves_a_task_alone_whose_holder_put_a_question_meanwhile(alice, bob, olga, verb):
    one, other = leased(alice, bob, safe=2)
    plan = planned(olga, [one, other], verb)
    question = Update(status=UpdateStatus.INPUT_REQUIRED, message=factories.text("which one?"))
    updates.post_updates(bob, one.task.uuid, [question], lease_id=one.lease_id)

    assert outcomes(carried_out(olga, plan)) == {"changed": 1, "done": 1}
    assert Task.objects.get(pk=one.task.pk).state == "interrupted"


@pytest.mark.django_db
def test_a_clock_that_ran_a_day_ahead_does_not_park_a_plan(alice, bob, olga):
    plan = planned(olga, leased(alice, bob, safe=1))
    applied = plans.apply(olga, plan.pk, reason="pod lost")
    now = timezone.now()
    tomorrow = now + timedelta(days=1)
    assert RepairPlan.objects.claimed(plan.pk, tomorrow, tomorrow + timedelta(minutes=1))
    applied.refresh_from_db()
    seen = [applied.is_worked_on(moment) for moment in (tomorrow, now)]

    plan_execution.work(applied, seconds=60)

    assert seen == [True, False]
    assert outcomes(plan) == {"done": 1}

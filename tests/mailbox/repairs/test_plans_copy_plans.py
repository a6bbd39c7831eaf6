"""A plan sends each failed task again once, as a new task of people."""

import uuid

import pytest
from django.contrib.auth.models import User

from mailbox.access.callers import Caller, Role
from mailbox.access.own_agents import OPERATORS
from mailbox.background import jobs
from mailbox.life import leasing, operator_tasks, results, sending
from mailbox.models import CapabilityGrant, RepairPlan, RepairPlanRow, Task
from mailbox.models.task import id_of_copy
from mailbox.repairs import plan_execution, plans
from mailbox.upkeep import erasure
from mailbox.words.envelopes import ResultStatus
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError, WrongPartyError
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.plans import carried_out, outcomes

pytestmark = pytest.mark.django_db


def failed(alice, bob, **fields):
    lease = factories.leased_task(alice, bob, **fields)
    envelope = factories.result_envelope(lease.task, status=ResultStatus.ERROR, error_message="no", content=[])
    results.post_result(bob, envelope)
    return Task.objects.get(pk=lease.task.pk)


def planned(caller, **options):
    return plans.make_copy_plan(
        caller, Task.objects.all(), **{"token": uuid.uuid4(), "query": "state:error", **options}
    )


def verdicts(plan):
    return [(row.verdict, row.detail) for row in plan.rows.in_order()]


def copy_of(task):
    return Task.objects.get(uuid=id_of_copy(task.uuid))


def test_a_copy_has_the_work_and_not_the_deadline_of_the_failed_task(alice, bob, olga):
    task = failed(
        alice,
        bob,
        intent_text="book",
        task_kind="booking",
        metadata={"ticket": 7},
        parent=uuid.uuid4(),
        deadline_ms=2**50,
        context_id="talk",
        idempotency=factories.idempotent("inv-7"),
        callback_url="https://x.example/",
    )

    carried_out(olga, planned(olga))

    copy = copy_of(task)
    assert (copy.sender.display, copy.recipient, copy.source) == (OPERATORS, task.recipient, "user")
    same = ("intent_text", "task_kind", "metadata", "parent", "duplicate_safety", "idempotency_key")
    assert [getattr(copy, name) for name in same] == [getattr(task, name) for name in same]
    assert (copy.deadline_ms, copy.context_id, copy.calls_back) == (None, None, False)
    assert copy.state == Task.State.QUEUED
    task.refresh_from_db()
    assert task.outcome == Task.Outcome.ERROR


def test_a_plan_journals_the_person_the_reason_and_each_copy(alice, bob, olga):
    task = failed(alice, bob, idempotency=factories.idempotent())
    plan = planned(olga)
    assert not Task.objects.filter(sender__display=OPERATORS).exists()

    done = carried_out(olga, plan, reason="fixed in 1.2")

    assert (done.state, outcomes(done)) == ("done", {"done": 1})
    (applied,) = factories.journal(Kind.REPAIR_PLAN_APPLIED)
    assert (applied.actor, applied.fields["action"], applied.fields["reason"]) == (
        "user:olga",
        "send_again",
        "fixed in 1.2",
    )
    (sent,) = [event for event in factories.journal(Kind.TASK_SENT) if event.task_id == id_of_copy(task.uuid)]
    assert (sent.actor, sent.request_id) == ("user:olga", done.request_id)
    assert sent.fields["copy_of"] == str(task.uuid)


def test_unsafe_tasks_are_sent_again_only_with_consent(alice, bob, olga):
    unsafe, safe = failed(alice, bob), failed(alice, bob, idempotency=factories.idempotent())
    plan = planned(olga)
    assert [verdict for verdict, _ in verdicts(plan)] == ["consent", "ready"]

    with pytest.raises(InvalidRequestError):
        plans.apply(olga, plan.pk, reason="again")
    with pytest.raises(InvalidRequestError, match="typed"):
        plans.apply(olga, plan.pk, reason="again", with_unsafe=True)
    assert outcomes(carried_out(olga, plan, with_unsafe=False)) == {"done": 1, "left": 1}
    assert copy_of(safe)
    assert not Task.objects.filter(uuid=id_of_copy(unsafe.uuid)).exists()

    assert outcomes(carried_out(olga, planned(olga), with_unsafe=True, typed=1)) == {"done": 1}
    assert copy_of(unsafe)


def test_a_task_is_sent_again_once_by_any_number_of_plans(alice, bob, olga):
    task = failed(alice, bob, idempotency=factories.idempotent())
    first, second = planned(olga), planned(olga)

    assert outcomes(carried_out(olga, first)) == {"done": 1}
    assert outcomes(carried_out(olga, second)) == {"changed": 1}
    assert verdicts(planned(olga)) == [("skipped", "already sent again")]
    assert Task.objects.filter(sender__display=OPERATORS).count() == 1
    assert copy_of(task)


def test_a_copy_that_fails_can_be_sent_again(alice, bob, olga):
    task = failed(alice, bob, idempotency=factories.idempotent())
    carried_out(olga, planned(olga))
    (lease,) = leasing.lease_tasks(bob)
    envelope = factories.result_envelope(lease.task, status=ResultStatus.ERROR, error_message="no", content=[])
    results.post_result(bob, envelope)

    plan = planned(olga)

    assert [verdict for verdict, _ in verdicts(plan)] == ["skipped", "ready"]
    assert outcomes(carried_out(olga, plan)) == {"done": 1}
    assert copy_of(copy_of(task)).state == Task.State.QUEUED


def test_a_cached_error_does_not_answer_the_copy(alice, bob, olga, settings):
    settings.A2A_REPLAY_STATUSES = ["ok", "error"]
    task = failed(alice, bob, idempotency=factories.idempotent("inv-7"))

    carried_out(olga, planned(olga))

    assert (copy_of(task).state, copy_of(task).idempotency_key) == (Task.State.QUEUED, "inv-7-again")


def test_a_plan_holds_only_failed_tasks_and_at_most_the_cap(alice, bob, olga, monkeypatch):
    monkeypatch.setattr(plans, "CAP", 2)
    factories.resolved_task(alice, bob)
    factories.resolved_task(alice, bob, status=ResultStatus.PARTIAL)
    for _ in range(2):
        failed(alice, bob)
    sending.cancel(alice, factories.sent_task(alice, bob).uuid)
    factories.sent_task(alice, bob)

    plan = planned(olga)

    assert (plan.matching, plan.rows.count()) == (3, 2)


def test_a_plan_without_a_failed_task_is_refused(alice, bob, olga):
    factories.resolved_task(alice, bob)

    with pytest.raises(InvalidRequestError):
        planned(olga)
    assert not RepairPlan.objects.exists()


def test_tasks_of_agents_that_may_not_answer_people_are_skipped(alice, bob, olga):
    failed(alice, bob)
    operator_tasks.may_answer(factories.row_of(bob))
    CapabilityGrant.objects.filter(subject=bob.agent, action="a2a.respond.*").delete()

    ((verdict, detail),) = verdicts(planned(olga))

    assert verdict == "skipped"
    assert "a2a grant give bob@local a2a.respond.operators@hub" in detail


def test_erased_tasks_are_skipped(alice, bob, olga):
    task = failed(alice, bob)
    erasure.erase_task(Caller.command_line(), task.uuid, reason="asked")

    assert verdicts(planned(olga)) == [("skipped", "its payload was erased")]


def test_a_task_that_was_erased_or_compacted_since_fails_alone(alice, bob, olga):
    erased, gone, kept = (failed(alice, bob, idempotency=factories.idempotent()) for _ in range(3))
    plan = planned(olga)
    erasure.erase_task(Caller.command_line(), erased.uuid, reason="asked")
    gone.leases.all().delete()
    gone.result.delete()
    Task.objects.filter(pk=gone.pk).delete()

    done = carried_out(olga, plan)

    assert outcomes(done) == {"failed": 2, "done": 1}
    assert copy_of(kept)


def test_a_plan_that_was_cut_off_after_a_copy_continues_without_a_second_one(alice, bob, olga, monkeypatch):
    for _ in range(2):
        failed(alice, bob, idempotency=factories.idempotent())
    plan = plans.apply(olga, planned(olga).pk, reason="again")
    settle = type(RepairPlanRow.objects.all()).settle
    with monkeypatch.context() as broken:
        broken.setattr(type(RepairPlanRow.objects.all()), "settle", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            plan_execution.work(plan, seconds=60)
    assert type(RepairPlanRow.objects.all()).settle is settle
    assert Task.objects.filter(sender__display=OPERATORS).count() == 1

    jobs.sweep_pass()

    plan.refresh_from_db()
    assert (plan.state, outcomes(plan)) == ("done", {"done": 2})
    assert Task.objects.filter(sender__display=OPERATORS).count() == 2


def test_a_form_that_is_sent_twice_makes_one_plan(alice, bob, olga):
    failed(alice, bob)
    token = uuid.uuid4()

    assert planned(olga, token=token).pk == planned(olga, token=token).pk
    assert RepairPlanRow.objects.count() == 1


def test_only_operators_plan_and_send_again(alice, bob, olga):
    failed(alice, bob)

    with pytest.raises(CapabilityMissingError):
        planned(factories.person("vic", Role.VIEWER))
    with pytest.raises(WrongPartyError):
        planned(alice)

    plan = plans.apply(olga, planned(olga).pk, reason="again", with_unsafe=True, typed=1)
    User.objects.get(username="olga").groups.clear()
    plan_execution.work(plan, seconds=60)
    assert outcomes(plan) == {"refused": 1}
    assert not Task.objects.filter(sender__display=OPERATORS).exists()

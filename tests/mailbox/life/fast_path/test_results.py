"""Each guard of the fast form of a result: a case that it alone leaves to the whole form, and cases beside it."""

import pytest

from mailbox.access.callers import Caller
from mailbox.life import leasing
from mailbox.models import Lease
from tests.support import factories
from tests.support.cases import Case, Table, assert_left, assert_served
from tests.support.stage import ATTEMPT, MINUTE, MOMENT, Stage, Step, stage

pytestmark = pytest.mark.django_db
LEFT, SERVED = Table(), Table()


@LEFT.case("ok", unseen=True)
def a_local_caller_posts_for_the_recipient(on: Stage) -> Step:
    return on.post(Caller.local(), on.leased().task)


@LEFT.case("unknown_task")
def a_task_is_not_known(on: Stage) -> Step:
    on.leased()
    return on.post(on.bob, ATTEMPT)


@LEFT.case("unknown_task")
def a_task_is_leased_to_another_agent(on: Stage) -> Step:
    return on.post(on.ben, on.leased().task)


@LEFT.case("ok")
def a_task_is_queued(on: Stage) -> Step:
    return on.post(on.bob, on.sent())


@LEFT.case("ok")
def a_task_is_queued_again_after_its_lease_ended(on: Stage) -> Step:
    return on.post(on.bob, on.requeued(on.leased()))


@LEFT.case("ok")
def a_result_is_repeated(on: Stage) -> Step:
    return on.post(on.bob, on.resolved().task)


@LEFT.case("result_conflict")
def a_task_has_another_result(on: Stage) -> Step:
    return on.post(on.bob, on.resolved().task, status="error")


@LEFT.case("ok")
def a_duplicate_may_wait_for_the_result(on: Stage) -> Step:
    return on.post(on.bob, on.leased(idempotency=factories.idempotent()).task)


@LEFT.case("ok")
def the_sender_is_to_be_called_back(on: Stage) -> Step:
    return on.post(on.bob, on.leased(callback_url="https://alice.example/done").task)


@LEFT.case("lease_mismatch")
def a_fence_names_an_ended_lease(on: Stage) -> Step:
    ended = on.leased()
    on.requeued(ended)
    leasing.lease_tasks(on.bob)
    return on.post(on.bob, ended.task, lease_id=ended.lease_id)


@LEFT.case("already_resolved")
def a_lease_is_at_the_end_of_its_time(on: Stage) -> Step:
    lease = on.leased(work_timeout=MINUTE)
    on.wait(MINUTE)
    return on.post(on.bob, lease.task)


@LEFT.case("capability_missing")
def a_holder_has_no_grant_to_respond(on: Stage) -> Step:
    return on.post(on.mallory, on.leased(to=on.mallory).task)


@LEFT.case("ok")
def a_grant_to_respond_counts_its_uses(on: Stage) -> Step:
    dora = on.agent("dora", "a2a.respond.*", max_uses=1)
    return on.post(dora, on.leased(to=dora).task)


@SERVED.case("ok")
def a_result_names_no_lease(on: Stage) -> Step:
    return on.post(on.bob, on.leased().task)


@SERVED.case("partial")
def a_result_names_the_live_lease(on: Stage) -> Step:
    lease = on.leased()
    return on.post(on.bob, lease.task, lease_id=lease.lease_id, status="partial")


@SERVED.case("ok")
def a_lease_is_not_at_the_end_of_its_time(on: Stage) -> Step:
    lease = on.leased(work_timeout=MINUTE)
    on.wait(MINUTE - MOMENT)
    return on.post(on.bob, lease.task)


@pytest.mark.parametrize("case", LEFT.params)
def test_a_guard_leaves_the_result_to_the_whole_form(case: Case) -> None:
    assert_left(case)


@pytest.mark.parametrize("case", SERVED.params)
def test_the_fast_form_serves_the_result(case: Case) -> None:
    assert_served(case)


def test_a_result_leaves_the_leases_before_the_live_one_as_they_ended() -> None:
    with stage() as on:
        first = on.leased()
        on.requeued(first)
        (second,) = leasing.lease_tasks(on.bob)
        on.wait(MINUTE)

        assert on.post(on.bob, second.task).fast()

        ended = [(lease.end, lease.ended_at) for lease in Lease.objects.order_by("attempt")]
        assert ended == [(Lease.End.REQUEUE, second.leased_at), (Lease.End.RESULT, second.leased_at + MINUTE)]

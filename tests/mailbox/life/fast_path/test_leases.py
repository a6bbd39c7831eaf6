"""Each guard of the fast form of a lease: a case that it alone leaves to the whole form, and cases beside it."""

from datetime import timedelta

import pytest

from mailbox.access.agents import registration
from mailbox.access.callers import Caller
from mailbox.life import leasing, results
from mailbox.models import Lease, Task
from tests.support import factories
from tests.support.cases import Case, Table, assert_left, assert_served
from tests.support.stage import ATTEMPT, MINUTE, MOMENT, OTHER_ATTEMPT, Stage, Step, deadline, stage

pytestmark = pytest.mark.django_db
LEFT, SERVED = Table(), Table()


@LEFT.case(["first"], unseen=True)
def a_local_caller_leases_for_every_recipient(on: Stage) -> Step:
    on.sent()
    return on.lease(Caller.local())


@LEFT.case(["first"])
def a_receive_attempt_is_repeated(on: Stage) -> Step:
    on.sent("first")
    on.sent("second")
    leasing.lease_tasks(on.bob, attempt_id=ATTEMPT)
    return on.lease(on.bob, ATTEMPT)


@LEFT.case(["second"])
def a_receive_attempt_is_repeated_after_its_first_lease_ended(on: Stage) -> Step:
    for intent in ("first", "second", "third"):
        on.sent(intent)
    first, _ = leasing.lease_tasks(on.bob, limit=2, attempt_id=ATTEMPT)
    on.requeued(first)
    return on.lease(on.bob, ATTEMPT)


@LEFT.case(["first"])
def a_receive_attempt_is_repeated_and_no_other_task_is_queued(on: Stage) -> Step:
    on.sent()
    leasing.lease_tasks(on.bob, attempt_id=ATTEMPT)
    return on.lease(on.bob, ATTEMPT)


@LEFT.case(["second"])
def the_oldest_task_is_at_its_deadline(on: Stage) -> Step:
    on.sent("first", deadline_ms=deadline(MINUTE))
    on.sent("second")
    on.wait(MINUTE)
    return on.lease(on.bob)


@SERVED.case([])
def a_recipient_is_paused(on: Stage) -> Step:
    on.sent()
    registration.pause_agent(on.olga, factories.row_of(on.bob), reason="maintenance")
    return on.lease(on.bob)


@SERVED.case([])
def only_another_agent_has_a_queued_task(on: Stage) -> Step:
    on.sent(to=on.ben)
    return on.lease(on.bob)


@SERVED.case([])
def every_task_is_leased_or_resolved(on: Stage) -> Step:
    on.resolved("first")
    on.leased("second")
    return on.lease(on.bob)


@SERVED.case([])
def the_only_queued_task_waits_for_another(on: Stage) -> Step:
    on.leased("first", idempotency=factories.idempotent("k"), task_kind="sum")
    on.sent("second", idempotency=factories.idempotent("k"), task_kind="sum")
    return on.lease(on.bob)


@SERVED.case(["first"])
def a_deadline_is_to_come(on: Stage) -> Step:
    on.sent(deadline_ms=deadline(MINUTE))
    on.wait(MINUTE - timedelta(milliseconds=1))
    return on.lease(on.bob)


@SERVED.case(["first"])
def another_recipient_is_paused(on: Stage) -> Step:
    on.sent()
    registration.pause_agent(on.olga, factories.row_of(on.ben), reason="maintenance")
    return on.lease(on.bob)


@SERVED.case(["second"])
def another_holder_uses_the_same_receive_attempt(on: Stage) -> Step:
    on.sent("first", to=on.ben)
    leasing.lease_tasks(on.ben, attempt_id=ATTEMPT)
    on.sent("second")
    return on.lease(on.bob, ATTEMPT)


@SERVED.case(["second"])
def a_lease_of_another_receive_attempt_is_live(on: Stage) -> Step:
    on.sent("first")
    leasing.lease_tasks(on.bob, attempt_id=OTHER_ATTEMPT)
    on.sent("second")
    return on.lease(on.bob, ATTEMPT)


@LEFT.case([])
def a_receive_attempt_is_repeated_after_its_lease_ended(on: Stage) -> Step:
    on.sent("first")
    (lease,) = leasing.lease_tasks(on.bob, attempt_id=ATTEMPT)
    results.post_result(on.bob, factories.result_envelope(lease.task))
    on.sent("second")
    return on.lease(on.bob, ATTEMPT)


@SERVED.case(["second"])
def a_requeued_task_is_behind_another(on: Stage) -> Step:
    lease = on.leased("first")
    on.sent("second")
    on.wait(MOMENT)
    on.requeued(lease)
    return on.lease(on.bob)


@SERVED.case(["first"])
def two_tasks_are_queued_at_the_same_moment(on: Stage) -> Step:
    on.sent("first")
    on.sent("second")
    return on.lease(on.bob)


@pytest.mark.parametrize("case", LEFT.params)
def test_a_guard_leaves_the_lease_to_the_whole_form(case: Case) -> None:
    assert_left(case)


@pytest.mark.parametrize("case", SERVED.params)
def test_the_fast_form_serves_the_lease(case: Case) -> None:
    assert_served(case)


def test_a_second_lease_is_the_second_attempt_in_its_row_and_in_the_journal() -> None:
    with stage() as on:
        on.requeued(on.leased())

        assert on.lease(on.bob).fast()

        assert [lease.attempt for lease in Lease.objects.order_by("pk")] == [1, 2]
        assert [row.fields["attempt"] for row in factories.journal("a2a_task_leased")] == [1, 2]


@pytest.mark.parametrize("limit", [1, 2])  # by the fast form, and by the whole form
def test_a_stored_work_timeout_of_zero_is_no_limit(limit: int) -> None:
    with stage() as on:
        on.sent()
        Task.objects.update(work_timeout=timedelta(0))

        (lease,) = leasing.lease_tasks(on.bob, limit=limit)

        assert lease.times_out_at is None

"""Each guard of the fast form of a drain: a case that it alone leaves to the whole form, and cases beside it."""

from datetime import timedelta

import pytest

from mailbox.access.callers import Caller
from mailbox.life import results
from tests.support.cases import Case, Table, assert_left, assert_served
from tests.support.stage import ATTEMPT, MINUTE, MOMENT, OTHER_ATTEMPT, Stage, Step, deadline

pytestmark = pytest.mark.django_db
LEFT, SERVED = Table(), Table()


@LEFT.case(["first"], unseen=True)
def a_local_caller_drains_for_every_sender(on: Stage) -> Step:
    on.resolved()
    return on.drain(Caller.local())


@LEFT.case(["first"])
def a_drain_is_repeated(on: Stage) -> Step:
    on.resolved("first")
    on.resolved("second")
    results.drain_results(on.alice, attempt_id=ATTEMPT)
    return on.drain(on.alice, ATTEMPT)


@LEFT.case(["second"])
def a_drain_is_repeated_after_its_first_result_was_acknowledged(on: Stage) -> Step:
    first = on.resolved("first")
    on.resolved("second")
    results.drain_results(on.alice, limit=2, attempt_id=ATTEMPT)
    results.ack_results(on.alice, [first.task.uuid])
    on.resolved("third")
    return on.drain(on.alice, ATTEMPT)


@LEFT.case(["first"])
def a_drain_is_repeated_and_no_other_result_is_pending(on: Stage) -> Step:
    on.resolved()
    results.drain_results(on.alice, attempt_id=ATTEMPT)
    return on.drain(on.alice, ATTEMPT)


@LEFT.case(["first"])
def a_queued_task_of_the_sender_is_at_its_deadline(on: Stage) -> Step:
    on.sent(deadline_ms=deadline(MINUTE))
    on.wait(MINUTE)
    return on.drain(on.alice)


@LEFT.case(["first"])
def a_leased_task_of_the_sender_is_at_the_end_of_its_time(on: Stage) -> Step:
    on.leased(work_timeout=MINUTE)
    on.wait(MINUTE)
    return on.drain(on.alice)


@SERVED.case([])
def only_another_sender_has_a_result(on: Stage) -> Step:
    on.resolved(by=on.anna)
    return on.drain(on.alice)


@SERVED.case([])
def every_result_was_delivered(on: Stage) -> Step:
    on.resolved()
    results.drain_results(on.alice)
    return on.drain(on.alice)


@SERVED.case(["second"])
def another_sender_uses_the_same_receive_attempt(on: Stage) -> Step:
    on.resolved("first", by=on.anna)
    results.drain_results(on.anna, attempt_id=ATTEMPT)
    on.resolved("second")
    return on.drain(on.alice, ATTEMPT)


@SERVED.case(["second"])
def a_result_of_another_receive_attempt_was_delivered(on: Stage) -> Step:
    on.resolved("first")
    results.drain_results(on.alice, attempt_id=OTHER_ATTEMPT)
    on.resolved("second")
    return on.drain(on.alice, ATTEMPT)


@LEFT.case([])
def a_drain_is_repeated_after_its_result_was_acknowledged(on: Stage) -> Step:
    first = on.resolved("first")
    results.drain_results(on.alice, attempt_id=ATTEMPT)
    results.ack_results(on.alice, [first.task.uuid])
    on.resolved("second")
    return on.drain(on.alice, ATTEMPT)


@SERVED.case(["second"])
def an_older_result_was_stored_later_by_a_process_whose_clock_is_behind(on: Stage) -> Step:
    on.resolved("first")
    on.wait(-MOMENT)
    on.resolved("second")
    return on.drain(on.alice)


@SERVED.case(["first"])
def two_results_were_posted_at_the_same_moment(on: Stage) -> Step:
    on.resolved("first")
    on.resolved("second")
    return on.drain(on.alice)


@SERVED.case(["second"])
def a_result_is_pending_and_a_task_is_overdue(on: Stage) -> Step:
    on.sent("first", deadline_ms=deadline(MINUTE))
    on.resolved("second", to=on.ben)
    on.wait(MINUTE)
    return on.drain(on.alice)


@SERVED.case([])
def tasks_of_another_sender_are_out_of_time(on: Stage) -> Step:
    on.sent(by=on.anna, deadline_ms=deadline(MINUTE))
    on.leased(by=on.anna, work_timeout=MINUTE)
    on.wait(MINUTE)
    return on.drain(on.alice)


@SERVED.case([])
def tasks_will_be_out_of_time_in_a_moment(on: Stage) -> Step:
    on.sent(deadline_ms=deadline(MINUTE))
    on.leased(work_timeout=MINUTE)
    on.wait(MINUTE - timedelta(milliseconds=1))
    return on.drain(on.alice)


@SERVED.case([])
def a_leased_task_is_past_its_deadline(on: Stage) -> Step:
    on.leased(deadline_ms=deadline(MINUTE))
    on.wait(MINUTE)
    return on.drain(on.alice)


@SERVED.case([])
def a_lease_ended_before_the_end_of_its_time(on: Stage) -> Step:
    on.requeued(on.leased(work_timeout=MINUTE))
    on.wait(MINUTE)
    return on.drain(on.alice)


@pytest.mark.parametrize("case", LEFT.params)
def test_a_guard_leaves_the_drain_to_the_whole_form(case: Case) -> None:
    assert_left(case)


@pytest.mark.parametrize("case", SERVED.params)
def test_the_fast_form_serves_the_drain(case: Case) -> None:
    assert_served(case)

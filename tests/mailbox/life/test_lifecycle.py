"""After any calls in any order, the tables agree with a few plain rules."""

from collections import Counter
from datetime import timedelta

import hypothesis
import pytest
from hypothesis.stateful import run_state_machine_as_test

from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.envelopes import ResultStatus
from tests.support.lifecycle import Lifecycle
from tests.support.model_answers import Given
from tests.support.model_talk import Said
from tests.support.passages import PASSAGES
from tests.support.wanted import Pick, Wanted

MINUTE = timedelta(minutes=1)
SAFE = Wanted("alice", "bob", "idempotent", "k", None, None, None)
UNSAFE, PLAIN = SAFE._replace(safety="unsafe"), SAFE._replace(safety=None, key=None)
RISK = DuplicateRisk.OPERATOR_ACCEPTED

# The usual walk is always the same one, so that how far it comes can be asserted; the soak's is a new one each time.
SIZE = hypothesis.settings(derandomize=hypothesis.settings.get_current_profile_name() != "soak")


@pytest.mark.search
@pytest.mark.deep
@pytest.mark.smoke
@pytest.mark.django_db(transaction=True)
def test_random_programs_leave_the_tables_as_the_model_predicts():
    Lifecycle.reached = Counter()

    run_state_machine_as_test(Lifecycle, settings=SIZE)

    missed = [name for name in PASSAGES if not Lifecycle.reached[name]]
    assert len(missed) < len(PASSAGES) / 2, missed


@pytest.mark.deep
@pytest.mark.smoke
@pytest.mark.django_db(transaction=True)
def test_the_rules_reach_every_passage():
    """Run the same rules in an order that misses no passage. A random walk may miss some."""
    Lifecycle.reached = Counter()

    for chapter in (
        *(holders, duplicates, answers, hours, repairs, talks, produces),
        *(replaces, rejections, direct_answers, batches_of_sends, batches_of_drains),
    ):
        machine = Lifecycle()
        try:
            chapter(machine)
            machine.the_tables_agree_and_are_sound()
        finally:
            machine.teardown()

    assert [name for name in PASSAGES if not Lifecycle.reached[name]] == []


def holders(machine: Lifecycle) -> None:
    for way in ("requeue", "retry", "release"):
        for again in (True, False):
            machine.send(SAFE._replace(key=f"{way} {again}"))
            machine.lease("bob", 1, "new")
            machine.lease("bob", 1, "old")
            machine.a_holder_comes_back_late(("running", 0), way, again)
            machine.lease("bob", 1, "old")
            machine.the_tables_agree_and_are_sound()


def duplicates(machine: Lifecycle) -> None:
    for end in ("ok", "error", "cancel", "force_error"):
        machine.duplicates_learn_how_the_first_one_ended(SAFE, end, end)
        machine.send(SAFE._replace(key=end))
        machine.the_tables_agree_and_are_sound()
    made = SAFE._replace(key="made")
    machine.send(made)
    machine.lease("bob", 9)
    this = ("any", len(machine.model.tasks) - 1)
    machine.update(
        this, [Said("place", "x", "log"), Said("add", "y", "log"), Said("place", "z")], "live", repeats=False
    )
    machine.send(made)
    machine.post_result(this, ResultStatus.OK, "a", "live")
    machine.send(made)
    machine.the_tables_agree_and_are_sound()
    assert [task.produced for task in machine.model.tasks[-3:]] == [{"log": ["x", "y"], "result": ["z"]}] * 3
    for _ in range(2):
        machine.send(SAFE._replace(recipient="ben"))
    machine.cancel(("any", len(machine.model.tasks) - 1))


def answers(machine: Lifecycle) -> None:
    for acknowledged in (True, False):
        for forgotten in (True, False):
            machine.send(SAFE._replace(key=f"{acknowledged} {forgotten}"))
            machine.lease("bob", 1)
            this = ("any", len(machine.model.tasks) - 1)
            machine.post_result(this, ResultStatus.OK, "a", "live")
            machine.a_result_goes_all_its_way(this, acknowledged, forgotten)
            machine.lease("bob", 1)
            machine.the_tables_agree_and_are_sound()
    machine.send(PLAIN)
    this = ("any", len(machine.model.tasks) - 1)
    for text in ("a", "a", "b"):
        machine.post_result(this, ResultStatus.OK, text, "none")


def hours(machine: Lifecycle) -> None:
    for wanted in (PLAIN._replace(deadline=MINUTE), PLAIN._replace(work_timeout=MINUTE), PLAIN, UNSAFE, SAFE):
        machine.send(wanted._replace(recipient="bob" if wanted.deadline is None else "ben"))
    machine.lease("bob", 4)
    machine.retry_scan(enabled=False, max_attempts=3, max_requeues=1)
    machine.wait(MINUTE)
    machine.sweep()
    machine.post_result(("any", 1), ResultStatus.OK, "a", "none")
    machine.the_tables_agree_and_are_sound()
    for max_requeues in (0, 1):
        machine.retry_scan(enabled=False, max_attempts=3, max_requeues=max_requeues)
    machine.retry_scan(enabled=False, max_attempts=1, max_requeues=1)


def repairs(machine: Lifecycle) -> None:
    machine.send(UNSAFE)
    this = ("any", 0)
    machine.requeue(this, "none", RISK)
    machine.lease("bob", 1)
    machine.requeue(this, "live", DuplicateRisk.IDEMPOTENT)
    for _ in range(2):
        machine.requeue(this, "live", RISK)
        machine.lease("bob", 1)
    for refused in (machine.force_error, machine.release):
        refused(this, "stale")
    machine.requeue(this, "stale", RISK)
    machine.force_error(this, "live")
    machine.requeue(this, "none", RISK)


def talks(machine: Lifecycle) -> None:
    for end in ("cancel", "force", "say"):
        machine.send(PLAIN)
        machine.lease("bob", 1)
        this = ("any", len(machine.model.tasks) - 1)
        machine.a_question_meets(this, "auth_required", end)
        machine.the_tables_agree_and_are_sound()
        machine.requeue(this, "none", RISK)
        machine.update(this, [Said("note", "x")], "none", repeats=False)
        machine.say(this, "x", repeats=False)
        machine.lease("bob", 1)
        machine.say(this, "y", repeats=True)
        machine.the_tables_agree_and_are_sound()
        machine.work_in_batches("bob", 2, [Given("ok", "a"), Given("rejected", None, "not mine")])
    machine.send(PLAIN)
    machine.lease("bob", 1)
    this = ("any", len(machine.model.tasks) - 1)
    machine.ask(this, "input_required", "x", repeats=True)
    machine.requeue(this, "none", RISK)
    machine.update(this, [Said("note", "x")], "none", repeats=False)
    machine.lease_out_of_turn(this)
    machine.ask(this, "auth_required", "y", repeats=False)
    machine.post_result(this, ResultStatus.OK, "a", "none")
    machine.send(PLAIN._replace(recipient="ben", deadline=MINUTE))
    machine.lease("ben", 1)
    machine.ask(("any", len(machine.model.tasks) - 1), "input_required", "x", repeats=False)
    machine.wait(MINUTE)
    machine.sweep()


def produces(machine: Lifecycle) -> None:
    machine.send(PLAIN._replace(converses=False))
    machine.lease("bob", 1)
    this = ("any", 0)
    for said in (
        [Said("add", "x")],
        [Said("place", "x"), Said("add", "y"), Said("note", "z")],
        [Said("place", "x", "log"), Said("place", "y")],
        [Said("input_required", "x")],
    ):
        machine.update(this, said, "live", repeats=True)
        machine.the_tables_agree_and_are_sound()
    machine.say(this, "x", repeats=False)


def replaces(machine: Lifecycle) -> None:
    for way in ("requeue", "release"):
        for again in ([Said("add", "z", "log")], [Said("place", "z", "log"), Said("add", "w", "log")]):
            this = leased(machine, PLAIN)
            machine.say(this, "more", repeats=True)
            machine.update(this, [Said("place", "x", "log"), Said("place", "y")], "live", repeats=False)
            if way == "requeue":
                machine.requeue(this, "live", RISK)
            else:
                machine.release(this, "live")
            machine.the_tables_agree_and_are_sound()
            machine.lease("bob", 1)
            machine.say(this, "hurry", repeats=False)
            machine.update(this, again, "live", repeats=True)
            machine.the_tables_agree_and_are_sound()
            machine.post_result(this, ResultStatus.OK, "a", "live")


def leased(machine: Lifecycle, wanted: Wanted) -> Pick:
    """Send a task and lease it; return a pick of it."""
    machine.send(wanted)
    machine.lease("bob", 1)
    return "any", len(machine.model.tasks) - 1


def forgotten(machine: Lifecycle, this: Pick) -> None:
    """Let the sender take the result of the task, and compact the task."""
    for _ in range(2):
        machine.acknowledge(this)
    machine.wait(MINUTE)
    machine.compact()


def rejections(machine: Lifecycle) -> None:
    for wanted, text in ((PLAIN, None), (SAFE, "a")):
        this = leased(machine, wanted)
        machine.send(wanted)  # a duplicate of safe work waits, and does not get the rejection
        for reason, guard in ((None, "live"), (" ", "live"), ("not mine", "stale"), ("not mine", "live")):
            machine.reject(this, text, reason, guard)
            machine.the_tables_agree_and_are_sound()
        machine.reject(this, text, "not mine", "stale")
        machine.reject(this, text, "not hers", "none")
        machine.post(this, Given("error", text, "not mine"), "none", "post")
        machine.the_tables_agree_and_are_sound()
        forgotten(machine, this)
        machine.reject(this, text, "not mine", "none")
        machine.post(this, Given("error", text, "not mine"), "none", "post")


def direct_answers(machine: Lifecycle) -> None:
    for wanted in (PLAIN, SAFE):
        this = leased(machine, wanted)
        for status, text, guard in (("ok", None, "live"), ("error", "a", "live"), ("ok", "a", "stale")):
            machine.answer_directly(this, status, text, guard)
            machine.the_tables_agree_and_are_sound()
        for _ in range(2):
            machine.answer_directly(this, "ok", "a", "live")
        machine.post_result(this, ResultStatus.OK, "a", "none")
        machine.send(wanted)  # a duplicate of safe work gets the answer as it was
        machine.the_tables_agree_and_are_sound()
        forgotten(machine, this)
        machine.answer_directly(this, "ok", "a", "none")
        machine.post_result(this, ResultStatus.OK, "a", "none")
        machine.lease("bob", 3)
    for said in (Said("note", "x"), Said("place", "x"), Said("input_required", "x")):
        this = leased(machine, PLAIN)
        machine.update(this, [said], "live", repeats=False)
        if said.what == "input_required":
            machine.say(this, "y", repeats=False)
            machine.lease("bob", 1)
        machine.answer_directly(this, "ok", "a", "live")
        machine.the_tables_agree_and_are_sound()
        machine.post_result(this, ResultStatus.OK, "a", "live")


def batches_of_sends(machine: Lifecycle) -> None:
    first, due = SAFE._replace(recipient="ben"), PLAIN._replace(deadline=MINUTE)
    machine.send_in_a_batch("alice", [PLAIN, first, first, due], [])
    machine.send_in_a_batch("alice", [PLAIN, UNSAFE], [(("any", 0), True), (("any", 0), False)])
    machine.send_in_a_batch("anna", [PLAIN], [(("any", 0), True)])
    machine.the_tables_agree_and_are_sound()
    machine.lease("ben", 1)
    machine.post_result(("any", 1), ResultStatus.OK, "a", "live")
    machine.wait(MINUTE)
    machine.send_in_a_batch("alice", [first, PLAIN], [(("any", 1), True), (("any", 3), True)])
    machine.the_tables_agree_and_are_sound()
    machine.lease("bob", 9)
    forgotten(machine, ("any", 1))
    machine.send_in_a_batch("alice", [first, PLAIN], [(("any", 1), True), (("any", 1), False)])


def batches_of_drains(machine: Lifecycle) -> None:
    for _ in range(4):
        machine.post_result(leased(machine, PLAIN), ResultStatus.OK, "a", "live")
    machine.send_in_a_batch("alice", [PLAIN._replace(deadline=MINUTE), PLAIN], [])
    machine.drain_in_a_batch("alice", 2, "new", [("any", 3), ("any", 5)])
    machine.drain_in_a_batch("alice", 2, "old", [])
    machine.drain_in_a_batch("anna", 2, "new", [("any", 0)])
    machine.the_tables_agree_and_are_sound()
    machine.drain_in_a_batch("alice", 2, "old", [("any", 0), ("any", 5), ("any", 1)])
    machine.drain_in_a_batch("alice", 2, "old", [("any", 1)])
    machine.wait(MINUTE)
    machine.drain_in_a_batch("alice", 4, "new", [])
    machine.the_tables_agree_and_are_sound()
    machine.wait(MINUTE * 10)
    machine.compact()
    machine.drain_in_a_batch("alice", 4, None, [("any", 0), ("any", 4)])
    machine.lease("bob", 1)
    machine.post_result(("any", 5), ResultStatus.OK, "a", "live")
    machine.a_result_goes_its_way_in_batches(("any", 5), 4)

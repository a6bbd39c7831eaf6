"""The watch finds for all waiters what a lost ring did not tell."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine
from django.utils import timezone

from mailbox.database.bell import ringing, topics, waiters, watch
from mailbox.database.bell.watch import Watch
from mailbox.life import leasing, results
from mailbox.models import Agent, Lease, Task
from mailbox.words.kinds import Kind
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.chance import MOMENT
from tests.support.pauses import Clock

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_ring(monkeypatch):
    monkeypatch.setattr(ringing, "begin", lambda: None)
    monkeypatch.setattr(ringing, "ring", lambda _: None)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(watch, "time", clock)
    with time_machine.travel(MOMENT, tick=False):
        yield clock


@pytest.fixture
def wait_for():
    """Return a function that waits for topics until the test ends."""
    with ExitStack() as waiting:
        yield lambda *named: waiting.enter_context(waiters.waiting(named))


def rung_by_a_round(waiter, the_watch=None):
    waiter.look(lambda: None)
    (the_watch or Watch()).look()
    return waiter.is_rung


def test_a_queued_task_rings_its_recipient(alice, bob, wait_for):
    waiter, other = wait_for(topics.agent(bob.agent.pk)), wait_for(topics.agent(alice.agent.pk))
    assert not rung_by_a_round(waiter)

    factories.sent_task(alice, bob)

    assert rung_by_a_round(waiter)
    assert not other.is_rung
    leasing.lease_tasks(bob)
    assert not rung_by_a_round(waiter)


def test_a_paused_agent_has_nothing_to_lease(alice, bob, wait_for):
    waiter = wait_for(topics.agent(bob.agent.pk))
    factories.sent_task(alice, bob)
    Agent.objects.update(paused_at=timezone.now(), paused_reason="x")
    assert not rung_by_a_round(waiter)

    Agent.objects.update(paused_at=None, paused_reason="")

    assert rung_by_a_round(waiter)


def test_a_pending_result_rings_its_sender(alice, bob, wait_for):
    waiter, other = wait_for(topics.sender(alice.agent.pk)), wait_for(topics.sender(bob.agent.pk))
    factories.sent_task(alice, bob)
    assert not rung_by_a_round(waiter)

    results.post_result(bob, factories.result_envelope(Task.objects.get()))

    assert rung_by_a_round(waiter)
    assert not other.is_rung
    results.drain_results(alice)
    assert not rung_by_a_round(waiter)


@pytest.mark.parametrize("state", ["queued", "interrupted", "in_flight"])
def test_a_task_out_of_time_rings_its_sender_and_its_readers(alice, bob, wait_for, state):
    (task, sender), the_watch = (factories.sent_task(alice, bob), wait_for(topics.sender(alice.agent.pk))), Watch()
    reader = wait_for(topics.task(task.uuid))
    if state == "in_flight":
        leasing.lease_tasks(bob)
    elif state == "interrupted":
        Task.objects.update(state="interrupted", awaits="input")
    the_watch.look()
    reader.look(lambda: None)
    the_watch.look()
    assert not sender.is_rung
    assert not reader.is_rung

    Task.objects.exclude(state="in_flight").update(deadline_ms=epoch_ms(timezone.now()) - 1)
    Lease.objects.update(times_out_at=timezone.now() - timedelta(seconds=1))
    the_watch.look()

    assert sender.is_rung
    assert reader.is_rung


def test_a_change_of_a_task_rings_its_readers_once(alice, bob, wait_for):
    task, the_watch = factories.sent_task(alice, bob), Watch()
    reader, gone = wait_for(topics.task(task.uuid)), wait_for(topics.task(uuid4()))
    assert rung_by_a_round(reader, the_watch)  # it was not waited for before
    assert gone.is_rung
    assert not rung_by_a_round(reader, the_watch)

    leasing.lease_tasks(bob)

    assert rung_by_a_round(reader, the_watch)
    assert not rung_by_a_round(reader, the_watch)


def test_waiters_that_no_statement_looks_for_are_rung_each_round(wait_for):
    waiting = [wait_for(topics.agent(None)), wait_for(topics.sender(None)), wait_for(topics.CALLBACKS)]
    Watch().look()

    assert [waiter.is_rung for waiter in waiting] == [True, True, True]


def test_one_round_serves_every_waiter_of_an_agent_with_many_tasks(alice, bob, wait_for):
    waiting = [wait_for(topics.agent(bob.agent.pk)) for _ in range(3)]
    for _ in range(2):
        factories.sent_task(alice, bob)
    Watch().look()

    found = [bool(waiter.look(lambda: leasing.lease_tasks(bob))) for waiter in waiting if waiter.is_rung]

    assert found == [True, True, False]


def test_a_round_takes_three_statements_for_any_number_of_waiters(alice, bob, wait_for, django_assert_num_queries):
    for caller in (alice, bob):
        wait_for(topics.agent(caller.agent.pk), topics.sender(caller.agent.pk))
    for _ in range(3):
        wait_for(topics.task(factories.sent_task(alice, bob).uuid))

    with django_assert_num_queries(3):
        Watch().look()


def test_the_checks_of_others_run_every_few_seconds(monkeypatch, clock):
    called, the_watch = [], Watch()
    monkeypatch.setattr(watch, "_checks", [lambda: called.append("check")])
    the_watch.look()
    assert called == []

    clock.now += watch.EVERY
    the_watch.look()
    the_watch.look()

    assert called == ["check"]


@pytest.fixture
def hears(monkeypatch):
    """Let the process hear rings, and have no early rounds."""
    monkeypatch.setattr(waiters, "is_hearing", lambda: True)
    monkeypatch.setattr(watch, "_early", watch._Early())


@pytest.fixture
def seconds_left(clock):
    """Return a function that returns the seconds until the next round, long after the last one."""
    return lambda the_watch: the_watch._seconds_left(clock.now - 1)


@pytest.mark.usefixtures("hears")
def test_a_round_is_earlier_if_a_task_runs_out_of_time(alice, bob, wait_for, monkeypatch, seconds_left):
    the_watch = Watch()
    factories.sent_task(alice, bob, deadline_ms=epoch_ms(timezone.now()) + 3_000)
    assert seconds_left(the_watch) == pytest.approx(watch.EVERY - 1)
    wait_for(topics.sender(alice.agent.pk))
    assert seconds_left(the_watch) == pytest.approx(3)

    Task.objects.update(deadline_ms=None)
    factories.sent_task(alice, bob, work_timeout=timedelta(seconds=1))
    leasing.lease_tasks(bob)
    leasing.lease_tasks(bob)
    assert seconds_left(the_watch) == pytest.approx(1)

    Lease.objects.update(times_out_at=datetime(2200, 1, 1, tzinfo=UTC))
    assert seconds_left(the_watch) > 3
    monkeypatch.setattr(waiters, "is_hearing", lambda: False)
    assert seconds_left(the_watch) == pytest.approx(watch.EVERY_DEAF - 1)


@pytest.mark.usefixtures("hears")
def test_only_those_who_wait_for_a_sender_or_a_task_need_the_next_due_task(
    alice, bob, wait_for, django_assert_num_queries, seconds_left
):
    task, the_watch = factories.sent_task(alice, bob, deadline_ms=epoch_ms(timezone.now()) + 2_000), Watch()
    wait_for(topics.agent(bob.agent.pk), topics.sender(None))
    with django_assert_num_queries(0):
        assert seconds_left(the_watch) > 3

    wait_for(topics.task(task.uuid))
    with django_assert_num_queries(1):
        assert seconds_left(the_watch) == pytest.approx(2)


@pytest.mark.usefixtures("hears")
def test_a_task_that_was_sent_and_ran_out_of_time_since_the_last_round_makes_one(
    alice, bob, wait_for, clock, seconds_left
):
    the_watch = Watch()
    wait_for(topics.sender(alice.agent.pk))
    factories.sent_task(alice, bob)
    Task.objects.update(deadline_ms=epoch_ms(timezone.now()) - 1)
    the_watch._looked_at -= timedelta(seconds=1)
    assert seconds_left(the_watch) <= 0
    assert the_watch._seconds_left(clock.now) > 0  # rounds stay apart

    the_watch.look()

    assert seconds_left(the_watch) > 3


@pytest.mark.usefixtures("hears")
def test_the_watch_looks_for_due_tasks_while_it_sleeps(monkeypatch, clock):
    monkeypatch.setattr(watch, "EVERY", 600.0)
    the_watch, answers, waits = Watch(), iter([600.0, 600.0, 0.0]), []
    monkeypatch.setattr(the_watch, "_seconds_until_due", lambda: next(answers))

    def wait(seconds):
        waits.append(seconds)
        clock.now += seconds

    monkeypatch.setattr(watch._early.is_new, "wait", wait)

    the_watch._await_round()

    assert waits == [watch.EVERY_DUE] * 2


def test_a_new_announcement_makes_two_early_rounds(monkeypatch, clock):
    early = watch._Early()
    monkeypatch.setattr(watch, "_early", early)
    early.add(100.1, 100.5)
    assert early.at == pytest.approx([100.1, 100.5])
    early.add(100.12, 100.52)
    early.add(100.13, 100.53)
    assert early.at == pytest.approx([100.1, 100.15, 100.5, 100.55])
    early.take(100.16)
    assert early.at == pytest.approx([100.5, 100.55])

    early.take(200)
    monkeypatch.setattr(waiters, "is_hearing", lambda: True)
    monkeypatch.setattr(watch, "EVERY", 600.0)
    monkeypatch.setattr(watch, "EARLY", (200.0, 300.0))
    watch.look_soon()
    assert len(early.at) == 2
    assert Watch()._seconds_left(clock.now) == pytest.approx(200)

    early.at[0] = 0.0  # due
    monkeypatch.setattr(watch, "EVERY", 0.0)  # no wait, since the watch of an earlier test may take the due round first
    Watch()._await_round()

    assert len(early.at) == 1


def test_a_resumed_agent_makes_a_round_due(alice, bob, wait_for, monkeypatch, clock):
    early = watch._Early()
    monkeypatch.setattr(watch, "_early", early)
    wait_for(topics.agent(bob.agent.pk))
    (ring,) = topics.of_kind(Kind.AGENT_RESUMED)

    assert waiters.wake({topics.agent(alice.agent.pk): 1}) == {topics.agent(alice.agent.pk): 1}
    assert early.at == []
    assert waiters.wake({ring: 1}) == {ring: 1}  # it concerns other processes too

    assert len(early.at) == 1
    assert early.at[0] <= clock.now + watch.GATHERED

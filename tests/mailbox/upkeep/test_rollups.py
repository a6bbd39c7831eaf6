from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pytest
import time_machine
from django.db import connection, transaction

from mailbox.access.callers import Role
from mailbox.life import conversation, leasing, results
from mailbox.models import AuditEvent, Lease, Result, RollUp, Task
from mailbox.models.rollup import SETTLES_AFTER
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.upkeep import compaction, rollups
from mailbox.words.conversation import Words
from mailbox.words.envelopes import ResultStatus
from mailbox.words.latencies import Latencies
from tests.support import factories

pytestmark = pytest.mark.django_db

NOON = datetime(2035, 1, 1, 12, 0, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LATER = NOON + 10 * MINUTE
COUNTS = ("queued_in", "leased", "ok", "partial", "error", "replayed")


@pytest.fixture(autouse=True)
def clock():
    with time_machine.travel(NOON, tick=False) as coordinates:
        yield coordinates


def counts(**filters):
    """Return what is not zero, by agent and minute after noon."""
    found = {}
    for row in RollUp.objects.filter(**filters).select_related("agent"):
        told = {name: getattr(row, name) for name in COUNTS if getattr(row, name)}
        if told:
            found[row.agent and row.agent.local, row.minute.minute] = told
    return found


def many_minutes(alice, bob, clock):
    """Work of all kinds: answered, failed, requeued, forced, and from the cache."""
    factories.grant(bob, "a2a.send.*")
    factories.grant(alice, "a2a.respond.*")
    work = factories.idempotent("nightly")
    first = factories.leased_task(alice, bob, idempotency=work)
    factories.sent_task(alice, bob, idempotency=work)  # waits on the first, and takes its result
    clock.shift(MINUTE)
    results.post_result(bob, factories.result_envelope(first.task))
    factories.sent_task(alice, bob, idempotency=work)  # answered from the cache
    olga = factories.person("olga", Role.OPERATOR)
    forced = factories.leased_task(alice, bob)
    repair.requeue(
        olga, forced.task.uuid, reason="stuck", duplicate_risk=DuplicateRisk.OPERATOR_ACCEPTED, lease_id=forced.lease_id
    )
    clock.shift(MINUTE)
    (again,) = leasing.lease_tasks(bob)
    repair.force_error(olga, forced.task.uuid, reason="stuck", message="given up", lease_id=again.lease_id)
    factories.resolved_task(bob, alice, status=ResultStatus.PARTIAL)
    factories.resolved_task(bob, alice, status=ResultStatus.ERROR, error_message="no", content=[])


WHAT_HAPPENED = {
    ("bob", 0): {"queued_in": 2, "leased": 1},
    ("bob", 1): {"queued_in": 2, "leased": 1, "ok": 3, "replayed": 2},
    ("bob", 2): {"leased": 1, "error": 1},
    ("alice", 2): {"queued_in": 2, "leased": 2, "partial": 1, "error": 1},
}


def test_each_minute_counts_its_own_events(alice, bob, clock):
    many_minutes(alice, bob, clock)

    rollups.roll(LATER)

    assert counts(agent__isnull=False) == WHAT_HAPPENED
    assert counts(agent=None) == {
        (None, 0): {"queued_in": 2, "leased": 1},
        (None, 1): {"queued_in": 2, "leased": 1, "ok": 3, "replayed": 2},
        (None, 2): {"queued_in": 2, "leased": 3, "partial": 1, "error": 2},
    }


def test_waits_and_runs_are_counted_for_each_attempt(alice, bob, clock):
    factories.sent_task(alice, bob)
    clock.shift(20)
    (lease,) = leasing.lease_tasks(bob)
    clock.shift(4)
    leasing.release(bob, lease.task.uuid, reason="not now")
    clock.shift(1)
    (again,) = leasing.lease_tasks(bob)
    clock.shift(2)
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=again.lease_id))

    rollups.roll(LATER)

    (row,) = RollUp.objects.filter(agent=factories.row_of(bob), leased=2)
    expected = [Latencies(), Latencies()]
    expected[0].note(timedelta(seconds=20))
    expected[0].note(timedelta(seconds=1))
    expected[1].note(timedelta(seconds=2))
    assert [row.waits, row.runs] == [one.as_text() for one in expected]


@pytest.mark.parametrize("is_answered", [True, False])
def test_the_time_of_a_question_is_no_wait_in_the_queue(alice, bob, clock, is_answered):
    task = factories.interrupted_task(alice, bob)
    clock.shift(3)
    if is_answered:
        conversation.say(alice, task.uuid, Words(content=factories.text("the first")))
        clock.shift(5)
        conversation.say(alice, task.uuid, Words(content=factories.text("please")))
    clock.shift(2)

    leasing.lease_task(bob, task.uuid)

    waits = [leased_at - queued_at for _, leased_at, _, queued_at in Lease.objects.order_by("pk").for_series()]
    assert waits == [timedelta(0), timedelta(seconds=7 if is_answered else 0)]


def test_rolling_up_again_changes_nothing_and_a_late_pass_catches_up(alice, bob, clock):
    many_minutes(alice, bob, clock)
    assert rollups.roll(NOON + 3 * MINUTE) == 1
    assert counts(agent__isnull=False) == {key: told for key, told in WHAT_HAPPENED.items() if key[1] == 0}

    assert rollups.roll(LATER) == 7
    assert rollups.roll(LATER) == 0

    assert counts(agent__isnull=False) == WHAT_HAPPENED


def test_a_minute_that_can_still_change_is_not_rolled_up(alice, bob):
    factories.sent_task(alice, bob)

    rollups.roll(NOON + SETTLES_AFTER + timedelta(seconds=49))
    assert counts(agent__isnull=False) == {}

    rollups.roll(NOON + SETTLES_AFTER + timedelta(seconds=50))
    assert counts(agent__isnull=False) == {("bob", 0): {"queued_in": 1}}


def test_compaction_at_any_time_loses_no_figures(alice, bob, clock):
    many_minutes(alice, bob, clock)
    for sender in (alice, bob):
        for result in results.drain_results(sender, limit=100):
            results.ack_results(sender, [result.task.uuid])
    ada = factories.person("ada", Role.ADMIN)
    rollups.roll(NOON + 3 * MINUTE)

    assert compaction.compact(ada, factories.AT_ONCE) == 6
    assert Task.objects.count() == 0
    assert RollUp.objects.filter(is_open=True).exists()
    rollups.roll(LATER)

    assert counts(agent__isnull=False) == WHAT_HAPPENED
    assert not RollUp.objects.filter(is_open=True).exists()


def test_tasks_compacted_one_after_another_are_all_counted(alice, bob):
    for _ in range(3):
        result = factories.drained_task(alice, bob)
        results.ack_results(alice, [result.task.uuid])
        compaction.compact(factories.person(f"ada{result.pk}", Role.ADMIN), factories.AT_ONCE)
    factories.sent_task(alice, bob)

    rollups.roll(LATER)

    assert counts(agent__isnull=False) == {("bob", 0): {"queued_in": 4, "leased": 3, "ok": 3}}


def test_a_pass_that_dies_leaves_whole_minutes(alice, bob, clock, monkeypatch):
    many_minutes(alice, bob, clock)
    summed_up, passes = rollups._sum_up, []

    def dies_at_the_second(*given):
        passes.append(given)
        if len(passes) == 2:
            raise KeyboardInterrupt
        return summed_up(*given)

    with monkeypatch.context() as patch:
        patch.setattr(rollups, "_sum_up", dies_at_the_second)
        with pytest.raises(KeyboardInterrupt):
            rollups.roll(LATER)
    assert counts(agent__isnull=False) == {key: told for key, told in WHAT_HAPPENED.items() if key[1] == 0}

    rollups.roll(LATER)
    assert counts(agent__isnull=False) == WHAT_HAPPENED


def test_old_minutes_are_deleted(alice, bob):
    factories.sent_task(alice, bob)
    rollups.roll(LATER)

    rollups.roll(NOON + rollups.KEPT + 10 * MINUTE)

    assert counts() == {}


def test_the_marks_of_a_minute_separate_older_rows_from_newer_ones(alice, bob, clock):
    many_minutes(alice, bob, clock)
    for minutes in range(3, 8):
        rollups.roll(NOON + minutes * MINUTE)

    for row in RollUp.objects.of_hub():
        for model, at, mark in (
            (Task, "sent_at", row.last_task),
            (Lease, "leased_at", row.last_lease),
            (Result, "posted_at", row.last_result),
            (AuditEvent, "at", row.last_event),
        ):
            older = model.objects.filter(**{f"{at}__lt": row.through})
            assert set(older) == set(model.objects.filter(pk__lte=mark))


def test_a_row_from_a_fast_clock_hides_no_later_row(alice, bob, clock):
    with time_machine.travel(NOON + timedelta(hours=1), tick=False):
        factories.sent_task(alice, bob)
    factories.sent_task(alice, bob)
    clock.shift(MINUTE)
    factories.sent_task(alice, bob)

    rollups.roll(NOON + 3 * MINUTE)
    rollups.roll(LATER)
    assert counts(agent__isnull=False) == {("bob", 0): {"queued_in": 1}, ("bob", 1): {"queued_in": 1}}

    rollups.roll(NOON + timedelta(hours=2))
    assert RollUp.objects.get(agent__isnull=False, minute__gte=LATER).queued_in == 1


@pytest.mark.parametrize("milliseconds", [0.2, 1, 3, 41, 999, 60_000, 2_460_000, 10**9])
def test_a_quantile_is_at_most_a_tenth_off(milliseconds):
    latencies = Latencies()
    for _ in range(100):
        latencies.note(timedelta(milliseconds=milliseconds))

    for share in (0.5, 0.95, 0.99):
        found = latencies.quantile(share)
        assert found is not None
        assert found / timedelta(milliseconds=1) == pytest.approx(milliseconds, rel=0.1, abs=0.5)


def test_quantiles_cover_all_values_that_were_added():
    fast, slow = Latencies(), Latencies()
    for _ in range(94):
        fast.note(timedelta(seconds=1))
    for _ in range(6):
        slow.note(timedelta(minutes=1))

    fast += Latencies(slow.as_text())

    assert len(fast) == 100
    assert Latencies().quantile(0.5) is None
    middle, high = fast.quantile(0.5), fast.quantile(0.95)
    assert middle is not None
    assert middle < timedelta(seconds=2)
    assert high is not None
    assert high > timedelta(seconds=50)


@pytest.mark.django_db(transaction=True)
def test_two_passes_and_a_compaction_at_once_count_everything_once(alice, bob):
    for _ in range(12):
        result = factories.drained_task(alice, bob)
        results.ack_results(alice, [result.task.uuid])
    ada = factories.person("ada", Role.ADMIN)
    start = Barrier(3)

    def at_once(work):
        start.wait()
        work()
        connection.close()

    works = [
        lambda: rollups.roll(LATER),
        lambda: rollups.roll(LATER),
        lambda: compaction.compact(ada, factories.AT_ONCE),
    ]
    threads = [Thread(target=at_once, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with transaction.atomic():
        assert Task.objects.count() == 0
    rollups.roll(LATER)

    assert counts(agent__isnull=False) == {("bob", 0): {"queued_in": 12, "leased": 12, "ok": 12}}

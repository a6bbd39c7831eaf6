"""Each task and result is counted once, by sender and recipient."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.background import jobs
from mailbox.inspection.statistics import agents
from mailbox.inspection.statistics.agents import Pair
from mailbox.models import PairCount, RollUpTurn
from mailbox.upkeep import rollups
from mailbox.words.envelopes import ResultStatus
from tests.support import factories

pytestmark = pytest.mark.django_db

LATER = timedelta(minutes=5)


@pytest.fixture
def carol(db):
    return factories.agent("carol", "a2a.send.*", "a2a.respond.*")


def failed(alice, bob):
    return factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message="no", content=[])


def read(span=10, ago=timedelta(hours=2)):
    moment = timezone.now() - ago
    slot = moment.replace(minute=moment.minute // span * span, second=0, microsecond=0)
    found = agents.read_pairs(slot, span=span)
    assert not found.is_cut
    return {(pair.sender, pair.recipient): pair[2:] for pair in found.pairs}


@pytest.mark.parametrize("span", [10, 60])
@pytest.mark.parametrize("is_counted", [False, True])
def test_tasks_results_and_errors_are_counted_by_pair(alice, bob, carol, is_counted, span):
    factories.resolved_task(alice, bob)
    failed(alice, bob)
    factories.sent_task(carol, bob)
    if is_counted:
        rollups.count_pairs(timezone.now() + LATER)

    one, two, three = (factories.row_of(caller).pk for caller in (alice, bob, carol))
    assert read(span) == {(one, two): (2, 2, 1), (three, two): (1, 0, 0)}
    assert PairCount.objects.exists() is is_counted


def test_each_row_is_counted_once_however_often_the_pass_runs(alice, bob):
    failed(alice, bob)
    later = timezone.now() + LATER

    assert [rollups.count_pairs(later), rollups.count_pairs(later)] == [2, 0]
    failed(alice, bob)
    assert rollups.count_pairs(later) == 2
    assert list(read().values()) == [(2, 2, 2)]
    assert PairCount.objects.filter(span=60).count() == 1


def test_a_row_that_may_not_be_settled_waits(alice, bob):
    failed(alice, bob)

    assert rollups.count_pairs() == 0
    assert RollUpTurn.read().paired_task == 0
    assert list(read().values()) == [(1, 1, 1)]


def test_many_rows_are_counted_in_batches(alice, bob, monkeypatch):
    monkeypatch.setattr(rollups, "PAIRED_AT_ONCE", 2)
    for _ in range(5):
        failed(alice, bob)

    assert rollups.count_pairs(timezone.now() + LATER) == 10
    assert list(read().values()) == [(5, 5, 5)]


def test_old_counts_are_deleted_and_old_rows_are_not_counted(alice, bob):
    with time_machine.travel(timezone.now() - timedelta(hours=30)):
        failed(alice, bob)
        rollups.roll(timezone.now() + LATER)
        rollups.count_pairs(timezone.now() + LATER)
    assert PairCount.objects.count() == 2

    rollups.count_pairs()

    assert not PairCount.objects.exists()
    assert read() == {}


def test_the_sweep_counts_and_a_roll_up_keeps_the_marks(alice, bob):
    failed(alice, bob)
    rollups.count_pairs(timezone.now() + LATER)
    before = RollUpTurn.read()

    rollups.roll(timezone.now() + LATER)
    jobs.sweep_pass()

    after = RollUpTurn.read()
    assert (after.paired_task, after.paired_result) == (before.paired_task, before.paired_result)
    assert after.paired_task > 0


def test_a_reading_that_leaves_out_rows_says_so(alice, bob, monkeypatch):
    monkeypatch.setattr(agents, "UNCOUNTED", 1)
    for _ in range(2):
        factories.sent_task(alice, bob)

    found = agents.read_pairs(timezone.now() - LATER, span=10)

    assert found.is_cut
    assert [pair[2:] for pair in found.pairs] == [(1, 0, 0)]
    assert isinstance(found.pairs[0], Pair)

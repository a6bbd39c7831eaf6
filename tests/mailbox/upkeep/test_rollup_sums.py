"""The sums of all minutes that were rolled up."""

from datetime import timedelta

import pytest

from mailbox.life import results
from mailbox.models import RollUp, RollUpTurn
from mailbox.upkeep import rollups
from mailbox.words.latencies import Latencies
from tests.mailbox.upkeep.test_rollups import COUNTS, LATER, clock, many_minutes
from tests.support import factories

__all__ = ["clock"]

pytestmark = pytest.mark.django_db


def test_the_sums_of_all_minutes_grow_with_each_pass_and_outlive_the_roll_ups(alice, bob, clock):
    many_minutes(alice, bob, clock)
    rollups.roll(LATER)
    rollups.roll(LATER)
    clock.move_to(LATER)
    lease = factories.leased_task(alice, bob)
    clock.shift(8 * timedelta(days=1))
    results.post_result(bob, factories.result_envelope(lease.task))
    rollups.roll(LATER + 9 * timedelta(days=1))
    rollups.roll(LATER + 99 * timedelta(days=1))

    sums = RollUpTurn.read()

    assert {name: getattr(sums, name) for name in COUNTS} == {
        "queued_in": 6,  # a task that was sent eight days before the pass was too old for it, and so was its lease
        "leased": 5,
        "ok": 4,
        "partial": 1,
        "error": 2,
        "replayed": 2,
    }
    assert (len(Latencies(sums.waits)), len(Latencies(sums.runs))) == (5, 4)
    assert not RollUp.objects.exclude(minute__gt=LATER).exists()


def test_there_are_no_sums_before_the_first_pass():
    assert (RollUpTurn.read().ok, RollUpTurn.read().waits) == (0, "{}")

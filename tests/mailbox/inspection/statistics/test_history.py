"""The work of the hub and of an agent over time, before and after minutes are rolled up."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from mailbox.access.agents import registration
from mailbox.access.callers import Role
from mailbox.inspection.statistics import history
from mailbox.inspection.statistics.history import Span
from mailbox.models import Depth
from mailbox.upkeep import rollups
from mailbox.words.envelopes import ResultStatus
from tests.support import factories

pytestmark = pytest.mark.django_db

NOON = datetime(2035, 1, 1, 12, 0, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
WEEK = Span(start=NOON.replace(minute=0, second=0) - timedelta(days=6), step=timedelta(hours=2), slots=84)
SPAN = Span(start=NOON.replace(second=0), step=MINUTE, slots=10)


@pytest.fixture(autouse=True)
def clock():
    with time_machine.travel(NOON, tick=False) as coordinates:
        yield coordinates


@pytest.fixture
def worked(alice, bob, clock):
    """An ok in the first minute, an error and a waiting task in the second, and a lease in the third minute."""
    factories.resolved_task(alice, bob)
    clock.shift(MINUTE)
    factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message="no", content=[])
    factories.sent_task(alice, alice)
    rollups.measure()
    clock.shift(MINUTE)
    factories.leased_task(alice, bob)
    rollups.measure()
    return factories.row_of(bob)


COUNTS = [(1, 1, 0, 1), (2, 0, 1, 1), (1, 0, 0, 0)]


def counts(slots):
    return [(slot.arrivals, slot.ok, slot.error, len(slot.runs)) for slot in slots[:3]]


@pytest.mark.parametrize("minutes", [0, 1, 2, 9])
def test_counts_do_not_depend_on_how_much_is_rolled_up(worked, clock, minutes):
    if minutes:
        rollups.roll(NOON + (minutes + 2) * MINUTE)

    slots = history.read(SPAN)

    assert [(slot.arrivals, slot.ok, slot.error) for slot in slots[:3]] == [one[:3] for one in COUNTS]
    assert sum(slot.arrivals + slot.results for slot in slots[3:]) == 0
    assert sum(len(slot.runs) for slot in slots) == min(minutes, 2)


def test_an_agent_has_its_own_counts_and_depths(worked, django_assert_max_num_queries):
    rollups.roll(NOON + 9 * MINUTE)

    with django_assert_max_num_queries(8):
        bobs = history.read(SPAN, worked.pk)

    assert counts(bobs) == [(1, 1, 0, 1), (1, 0, 1, 1), (1, 0, 0, 0)]
    assert [(slot.queued, slot.leased) for slot in bobs[:4]] == [(None, None), (0, 0), (0, 1), (None, None)]
    assert [(slot.queued, slot.leased) for slot in history.read(SPAN)[:4]] == [
        (None, None),
        (1, 0),
        (1, 1),
        (None, None),
    ]


def test_a_week_is_read_by_hours(worked, clock):
    rollups.roll(NOON + 9 * MINUTE)

    (slot,) = [one for one in history.read(WEEK) if one.arrivals]

    assert (slot.start.hour, slot.arrivals, slot.ok, slot.error) == (12, 4, 1, 1)
    assert len(slot.runs) == 1, "of 12:00 alone"
    (own,) = [one for one in history.read(WEEK, worked.pk) if one.arrivals]
    assert (own.arrivals, len(own.runs)) == (3, 1)


@pytest.mark.parametrize("is_of_hub", [True, False])
def test_depths_of_a_week_are_those_of_every_20th_minute(alice, bob, clock, is_of_hub):
    for _ in range(2):
        factories.sent_task(alice, bob)
        rollups.measure()
        clock.shift(MINUTE)

    (slot,) = [one for one in history.read(WEEK, None if is_of_hub else bob.agent.pk) if one.queued is not None]

    assert slot.queued == 1


def test_old_and_repeated_measurements_leave_one_row_per_minute(alice, bob, clock):
    factories.sent_task(alice, bob)

    assert (rollups.measure(), rollups.measure()) == (2, 0)
    clock.shift(rollups.KEPT + MINUTE)
    assert rollups.measure() == 2

    assert {row.minute for row in Depth.objects.all()} == {(NOON + rollups.KEPT + MINUTE).replace(second=0)}


def test_a_stale_lease_is_counted_as_stale(alice, bob, clock):
    factories.leased_task(alice, bob)
    clock.shift(6 * MINUTE)

    rollups.measure()

    assert [(row.queued, row.leased, row.stale) for row in Depth.objects.order_by("pk")] == [(0, 1, 1), (0, 1, 1)]


def test_repairs_and_pauses_are_marked_and_narrowed_to_an_agent(alice, bob):
    olga = factories.person("olga", Role.OPERATOR)
    registration.pause_agent(olga, factories.row_of(bob), reason="disk full")

    assert [event.kind for event in history.marks(SPAN.start, NOON)] == ["agent_paused"]
    assert history.marks(SPAN.start, NOON, "alice@local") == []
    assert len(history.marks(SPAN.start, NOON, "bob@local")) == 1
    assert history.marks(NOON + MINUTE, NOON) == []

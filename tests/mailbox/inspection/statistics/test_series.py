from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from mailbox.access.callers import Role
from mailbox.inspection.search import queries
from mailbox.inspection.search.terms import Moment
from mailbox.inspection.statistics import series
from mailbox.inspection.statistics.series import Sum
from mailbox.life import results
from mailbox.models import Task
from mailbox.upkeep import compaction, rollups
from mailbox.words.envelopes import ResultStatus
from mailbox.words.errors import InvalidRequestError
from tests.support import factories

pytestmark = pytest.mark.django_db

NOON = datetime(2035, 1, 1, 12, 0, 10, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LATER = NOON + 10 * MINUTE
BEGIN = NOON - timedelta(hours=1)


@pytest.fixture(autouse=True)
def clock():
    with time_machine.travel(NOON, tick=False) as coordinates:
        yield coordinates


@pytest.fixture
def four_minutes(alice, bob, clock):
    """One ok in the first minute, an error in the second, and so on; each took as many seconds as the minute says."""
    for seconds in range(1, 5):
        lease = factories.leased_task(alice, bob)
        clock.shift(seconds)
        status = ResultStatus.OK if seconds % 2 else ResultStatus.ERROR
        results.post_result(bob, factories.result_envelope(lease.task, status=status, error_message="no"))
        clock.shift(MINUTE - timedelta(seconds=seconds))


def read(now=LATER, **fields):
    return series.read(now, **{"start": BEGIN, "runs_from": BEGIN, **fields})


def told(points):
    return sorted((point.minute.minute, point.ok, point.partial, point.error) for point in points)


FOUR = [(0, 1, 0, 0), (1, 0, 0, 1), (2, 1, 0, 0), (3, 0, 0, 1)]


@pytest.mark.parametrize("rolled", [0, 3, 4, 10])
def test_figures_do_not_depend_on_how_much_is_rolled_up(alice, bob, four_minutes, rolled):
    if rolled:
        rollups.roll(NOON + rolled * MINUTE)

    figures = read(agents=[factories.row_of(bob).pk])

    assert told(point for point in figures.hub if point.results) == FOUR
    assert told(point for point in figures.agents[factories.row_of(bob).pk] if point.results) == FOUR
    p50 = Sum.of(figures.hub).p50
    assert p50 is not None
    assert p50 / timedelta(seconds=1) == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("rolled", [0, 3, 10])
def test_the_figures_of_a_week_add_up_its_minutes(alice, bob, four_minutes, rolled):
    if rolled:
        rollups.roll(NOON + rolled * MINUTE)
    week = {"start": NOON - timedelta(days=6), "runs_from": LATER}

    now = Sum.of(read(**week).hub)
    later = Sum.of(
        read(NOON + timedelta(days=1, hours=2), **{**week, "runs_from": NOON + timedelta(days=1, hours=2)}).hub
    )

    assert (now.ok, now.error) == (later.ok, later.error) == (2, 2)


def test_figures_include_compacted_tasks(alice, bob, four_minutes):
    rollups.roll(NOON + 4 * MINUTE)
    for result in results.drain_results(alice, limit=10):
        results.ack_results(alice, [result.task.uuid])
    compaction.compact(factories.person("ada", Role.ADMIN), factories.AT_ONCE)
    assert not Task.objects.exists()

    figures = read(agents=[factories.row_of(bob).pk])

    assert told(point for point in figures.hub if point.results) == FOUR
    assert len(Sum.of(figures.agents[factories.row_of(bob).pk]).runs) == 4


def test_results_beyond_the_sample_are_counted(alice, bob, four_minutes, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(series, "SAMPLED", 2)

    with django_assert_num_queries(2):
        figures = read()

    total = Sum.of(figures.hub)
    assert (total.ok, total.error, len(total.runs), figures.is_cut) == (2, 2, 2, False)


def test_figures_of_the_newest_results_alone_are_marked_as_cut(alice, bob, four_minutes, monkeypatch):
    monkeypatch.setattr(series, "COUNTED", 2)
    rollups.roll(NOON + 3 * MINUTE)

    figures = read()

    assert figures.is_cut
    assert told(point for point in figures.hub if point.results) == [FOUR[0], *FOUR[2:]]


def test_figures_are_late_once_roll_ups_stop(alice, bob, four_minutes):
    assert not read().is_late(LATER), "nothing was ever rolled up: the hub is new"

    rollups.roll(NOON + 4 * MINUTE)

    assert read(NOON + 6 * MINUTE).is_late(NOON + 6 * MINUTE) is False
    assert read().is_late(LATER) is True


@pytest.mark.parametrize("rolled", [0, 3, 10])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("12:00..12:01", 1),
        ("12:00..12:04", 4),
        ("12:01:12..12:03:13", 2),
        ("12:02..", 2),
        ("2035-01-01T12:00Z..2035-01-01T12:02Z", 2),
        ("2035-01-01T13:01+01:00..2035-01-01T13:02+01:00", 1),
        ("12:30..12:40", 0),
    ],
)
def test_tasks_are_found_by_the_time_of_their_end(alice, bob, four_minutes, rolled, text, found):
    if rolled:
        rollups.roll(NOON + rolled * MINUTE)
    at = Moment(now=LATER, stale_after=MINUTE)

    assert queries.tasks(f"finished:{text}", at).count() == found
    assert queries.tasks(f"-finished:{text}", at).count() == 4 - found
    assert queries.tasks(f"finished:{text} state:error", at).count() == found // 2 if found != 1 else True


@pytest.mark.parametrize(
    "text",
    ["12:00", "..", "..12:00", "12:02..12:01", "25:00..26:00", "a..b", "0001-01-01T00:00..", "9999-12-31T23:59.."],
)
def test_an_invalid_range_of_time_is_refused(text):
    with pytest.raises(InvalidRequestError) as refused:
        queries.tasks(f"finished:{text}", Moment(now=LATER, stale_after=MINUTE))

    assert "a time range" in refused.value.fields["q"]

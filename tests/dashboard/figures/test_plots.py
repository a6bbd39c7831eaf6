"""The geometry of plots over time: ticks, cut spikes, paths of few and of no values, and clocks that change."""

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from dashboard.figures import plots
from dashboard.figures.plots import HEIGHT, WIDTH, Axis

BERLIN = ZoneInfo("Europe/Berlin")
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([], [0, 1]),
        ([0, None], [0, 1]),
        ([1], [0, 1]),
        ([3], [0, 1, 2, 3]),
        ([4, 2], [0, 1, 2, 3, 4]),
        ([7], [0, 2, 4, 6, 8]),
        ([90, 100], [0, 25, 50, 75, 100]),
        ([1_900], [0, 500, 1_000, 1_500, 2_000]),
        ([10_001], [0, 5_000, 10_000, 15_000]),
    ],
)
def test_the_axis_of_numbers_has_few_round_whole_ticks(values, ticks):
    assert plots.axis(values) == Axis(ticks=ticks)


@pytest.mark.parametrize(
    ("most", "step"), [(0.3, 0.1), (3.0, 1), (7.5, 2), (50.0, 15), (61.0, 30), (200.0, 60), (3_000.0, 900)]
)
def test_the_axis_of_seconds_has_ticks_that_a_clock_has(most, step):
    ticks = plots.axis([most], whole=False).ticks

    assert ticks[1] == step
    assert 1 <= len(ticks) - 1 <= plots.MOST_TICKS
    assert ticks[-1] >= most


def test_a_spike_is_cut_and_flattens_no_other_value():
    values = [10] * 58 + [12, 900]

    axis = plots.axis(values)

    assert axis.is_cut
    assert axis.top == 15
    assert axis.height(900) == HEIGHT
    assert len(re.findall("M", plots.cuts(values, axis))) == 1


@pytest.mark.parametrize("values", [[900], [10, 12, 11, 40], [5] * 60])
def test_values_of_one_size_are_not_cut(values):
    axis = plots.axis(values)

    assert not axis.is_cut
    assert plots.cuts(values, axis) == ""


def test_a_small_value_beside_a_large_one_is_visible():
    axis = Axis(ticks=[0, 1_000_000])

    assert (axis.height(1), axis.height(0)) == (1, 0)


def test_stacked_bars_stand_on_each_other_and_stay_in_the_plane():
    axis = plots.axis([4, 2])

    lower, upper = plots.bars([3, 0, 2], [0, 0, 0], axis), plots.bars([1, 0, 0], [3, 0, 2], axis)

    assert lower == "M120 100v-75M600 100v-50"
    assert upper == "M120 25v-25"
    assert plots.bar_width(3) == 204


def test_a_line_has_gaps_and_a_single_value_is_a_dash():
    axis = Axis(ticks=[0, 10])

    assert plots.line([], axis) == plots.line([None, None], axis) == ""
    assert plots.line([5], axis) == f"M0 50h{WIDTH}"
    assert plots.line([0, 5, None, 10], axis) == "M90 100l180 -50M540 0h180"


def test_an_area_of_nothing_is_empty():
    axis = plots.axis([])

    assert plots.area([0, None], axis) == plots.bars([0, 0], [0, 0], axis) == ""
    assert plots.area([1], axis) == "M0 100v-100h720V100z"


@pytest.mark.parametrize("scale", plots.RANGES.values(), ids=lambda scale: scale.name)
@pytest.mark.parametrize("zone", [UTC, BERLIN, ZoneInfo("Asia/Kathmandu")], ids=str)
def test_times_are_few_round_and_in_order(scale, zone):
    now = datetime(2026, 6, 10, 9, 37, 12, tzinfo=UTC)
    start = scale.start(now)

    ticks = plots.time_ticks(start, start + scale.span, zone)

    assert 4 <= len(ticks) <= 8
    shares = [tick.share for tick in ticks]
    assert shares == sorted(set(shares))
    assert all(re.fullmatch(r"\d\d:[0-5][05]|[A-Z][a-z]{2} \d+", tick.label) for tick in ticks)


def test_midnight_is_labelled_by_its_date_in_the_zone_of_the_person():
    end = datetime(2026, 6, 10, 9, tzinfo=UTC)

    labels = [tick.label for tick in plots.time_ticks(end - 24 * HOUR, end, BERLIN)]

    assert labels == ["12:00", "16:00", "20:00", "Jun 10", "04:00", "08:00"]


@pytest.mark.parametrize(
    ("end", "labels", "hours"),
    [
        (datetime(2026, 3, 29, 4, tzinfo=UTC), ["01:00", "03:00", "04:00", "05:00"], [1, 1, 1]),
        (datetime(2026, 10, 25, 4, tzinfo=UTC), ["02:00", "03:00", "04:00"], [2, 1]),
    ],
    ids=["forward", "back"],
)
def test_a_clock_that_changes_skips_or_stretches_an_hour(end, labels, hours):
    span = 5 * HOUR

    ticks = [tick for tick in plots.time_ticks(end - span, end, BERLIN) if tick.label.endswith(":00")]

    assert [tick.label for tick in ticks] == labels
    assert [round((late.share - early.share) / 20) for early, late in pairwise(ticks)] == hours

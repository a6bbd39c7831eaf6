import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.trees import waterfall
from dashboard.trees.waterfall import Window
from tests.dashboard.trees.test_waterfall import START, at, bar


def moves(start, end, length=100):
    whole = Window(start=START, end=at(length))
    return waterfall.moves(whole, whole.part(start * 1000, end * 1000))


def test_the_whole_tree_is_only_zoomed_in():
    assert moves(0, 100) == {"in": (25_000, 75_000), "out": None, "left": None, "right": None}


def test_a_part_moves_by_half_of_itself_and_stops_at_the_ends():
    assert moves(40, 60) == {
        "in": (45_000, 55_000),
        "out": (30_000, 70_000),
        "left": (30_000, 50_000),
        "right": (50_000, 70_000),
    }
    assert moves(5, 25)["left"] == (0, 20_000)
    assert moves(0, 25)["left"] is None
    assert moves(85, 95)["right"] == (90_000, 100_000)
    assert moves(90, 100)["out"] == (85_000, 100_000)


def test_a_window_of_milliseconds_is_not_halved():
    whole = Window(start=START, end=at(100))

    assert waterfall.moves(whole, whole.part(10, 16))["in"] is None


@given(st.integers(0, 99_000), st.integers(1, 99_000))
def test_every_move_stays_in_the_tree(start, width):
    whole = Window(start=START, end=at(100))
    window = whole.part(start, start + width)

    for span in filter(None, waterfall.moves(whole, window).values()):
        assert 0 <= span[0] < span[1] <= 100_000
        assert whole.part(*span).span() == span


def test_tasks_at_the_same_time_lie_in_lanes_of_the_map():
    whole = Window(start=START, end=at(10))
    drawn = waterfall.bars_of_map([bar(0, 5), bar(1, 3, state="error"), bar(6, 10)], whole, at(10))

    assert [(one.x, one.y, one.width, one.state) for one in drawn] == [
        (0, 0, 500, "ok"),
        (600, 0, 400, "ok"),
        (100, 6, 200, "error"),
    ]


@pytest.mark.parametrize("number", [0, 1, 60, 400])
def test_the_map_keeps_its_height_and_its_number_of_bars(number):
    whole = Window(start=START, end=at(10))

    drawn = waterfall.bars_of_map([bar(0, 10) for _ in range(number)], whole, at(10))

    assert len(drawn) == min(number, waterfall.MOST_BARS)
    assert all(one.y >= 0 and one.y + one.height <= waterfall.HEIGHT for one in drawn)

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.trees import waterfall
from dashboard.trees.waterfall import LeaseSpan, TaskBar, Window

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


def at(seconds):
    return START + timedelta(seconds=seconds)


def attempt(number, leased, ended=None, end="", **fields):
    ended_at = None if ended is None else at(ended)
    return LeaseSpan(
        number=number, leased_at=at(leased), ended_at=ended_at, end=end or ("result" if ended_at else ""), **fields
    )


def bar(sent=0, resolved=None, *attempts, state="ok", **fields):
    shown = {
        "uuid": uuid.uuid4(),
        "parent": None,
        "name": "x",
        "sender": "a@local",
        "recipient": "b@local",
        "kind": "x",
    }
    resolved_at = None if resolved is None else at(resolved)
    return TaskBar(**shown | fields, state=state, sent_at=at(sent), resolved_at=resolved_at, attempts=attempts)


def drawn(one):
    window, now = Window(start=START, end=at(10)), 10
    return [(part.kind, part.x, part.width) for part in waterfall.segments(one, window, at(now))]


def test_a_bar_shows_the_wait_and_then_the_lease():
    assert drawn(bar(0, 10, attempt(1, 2, 10))) == [("waiting", 0, 200), ("leased", 200, 800)]


def test_a_bar_shows_a_gap_between_two_attempts():
    one = bar(0, 10, attempt(1, 1, 4, "requeue"), attempt(2, 6, 10))

    assert drawn(one) == [("waiting", 0, 100), ("leased", 100, 300), ("gap", 400, 200), ("leased", 600, 400)]


def test_a_bar_shows_the_wait_for_the_answer_to_a_question():
    one = bar(0, 10, attempt(1, 1, 4, "asked"), attempt(2, 6, 10))

    assert drawn(one) == [("waiting", 0, 100), ("leased", 100, 300), ("asked", 400, 200), ("leased", 600, 400)]
    assert waterfall.story(one, at(10)) == (
        "waited 1.0 s; attempt 1 took 3.0 s, then asked its sender; waited for an answer 2.0 s; attempt 2 took 4.0 s"
    )


@pytest.mark.parametrize(
    ("resolved", "state", "parts"),
    [
        (None, "interrupted", [("asked", 400, 600), ("open", 400, 600)]),
        (None, "queued", [("waiting", 400, 600), ("open", 400, 600)]),
        (10, "cancelled", [("asked", 400, 600)]),
    ],
)
def test_a_bar_after_a_question_shows_what_it_waits_for(resolved, state, parts):
    one = bar(0, resolved, attempt(1, 0, 4, "asked"), state=state)

    assert drawn(one) == [("leased", 0, 400), *parts]


def test_the_story_of_an_open_question_names_the_wait():
    one = bar(0, None, attempt(1, 0, 4, "asked"), state="interrupted")

    assert waterfall.story(one, at(10)).endswith("then asked its sender; waits for its answer for 6.0 s")


def test_a_live_lease_is_drawn_open_until_now():
    assert drawn(bar(0, None, attempt(1, 5), state="in_flight")) == [
        ("waiting", 0, 500),
        ("leased", 500, 500),
        ("open", 500, 500),
    ]


def test_a_task_never_leased_is_drawn_waiting_until_now_or_its_end():
    assert drawn(bar(4, None, state="queued")) == [("waiting", 400, 600), ("open", 400, 600)]
    assert drawn(bar(4, 8, state="cancelled")) == [("waiting", 400, 400)]


def test_a_forced_error_adds_a_mark_and_a_replay_is_only_a_mark():
    assert drawn(bar(0, 5, attempt(1, 0, 5, "force_error"), state="error"))[-1] == ("forced", 500, 0)
    assert drawn(bar(3, 3, replayed_from=uuid.uuid4())) == [("replayed", 300, 0)]
    assert drawn(bar(0, 0, replayed_from=uuid.uuid4())) == [("replayed", 7, 0)]


def test_an_instant_lease_at_the_edge_is_still_visible():
    assert drawn(bar(10, 10, attempt(1, 10, 10)))[-1] == ("leased", 998, 2)


def test_the_axis_runs_from_the_first_send_to_now_if_a_task_is_open():
    window = Window.around([bar(2, 4), bar(3, None, state="queued")], at(12))

    assert (window.start, window.end) == (at(2), at(12))
    assert [(tick.x, tick.label) for tick in window.ticks()] == [
        *((0, "0 s"), (200, "2 s"), (400, "4 s"), (600, "6 s"), (800, "8 s"), (1000, "10 s")),
    ]
    assert Window.around([], at(0)).length > timedelta(0)


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (-3, "0 s"),
        (0, "0 s"),
        (0.85, "850 ms"),
        (2.24, "2.2 s"),
        (59.9, "59.9 s"),
        (90, "1 m 30 s"),
        (90_000, "1 d 1 h"),
    ],
)
def test_durations_are_rounded_to_readable_units(seconds, written):
    assert waterfall.duration(timedelta(seconds=seconds)) == written


def test_the_text_of_a_bar_describes_its_segments():
    one = bar(0, None, attempt(1, 1, 4, "requeue", by="user:ana"), state="queued")

    assert waterfall.story(one, at(9)) == "waited 1.0 s; attempt 1 took 3.0 s, requeue by user:ana; waits for 5.0 s"
    assert (
        waterfall.story(bar(0, 0, replayed_from=uuid.uuid4(), key="inv-7"), at(9))
        == "answered from the cache, key inv-7"
    )


@pytest.mark.parametrize(
    ("length", "labels"),
    [
        (0.004, ["0 s", "1 ms", "2 ms", "3 ms", "4 ms"]),
        (0.7, ["0 s", "200 ms", "400 ms", "600 ms"]),
        (40, ["0 s", "10 s", "20 s", "30 s", "40 s"]),
        (785, ["0 s", "5 m", "10 m"]),
        (3_600, ["0 s", "15 m", "30 m", "45 m", "1 h"]),
        (90_000, ["0 s", "6 h", "12 h", "18 h", "1 d"]),
    ],
)
def test_ticks_stand_at_round_times(length, labels):
    assert [tick.label for tick in Window(start=START, end=at(length)).ticks()] == labels


@given(st.floats(0.001, 10**9), st.floats(0, 1), st.floats(0, 1))
def test_ticks_of_any_window_are_few_and_within(length, left, right):
    whole = Window(start=START, end=at(length))
    window = whole.part(*sorted((int(left * length * 1000), int(right * length * 1000))))

    ticks = window.ticks()

    assert len(ticks) <= waterfall.MOST_TICKS
    assert all(0 <= tick.x <= 1001 for tick in ticks)
    assert len({tick.label for tick in ticks}) == len(ticks)


def test_a_part_of_the_window_shows_only_what_happens_in_it():
    one, two = bar(0, 2, attempt(1, 1, 2)), bar(3, 9, attempt(1, 4, 9))
    window = Window(start=START, end=at(10)).part(4000, 8000)

    assert (window.start, window.end, window.span()) == (at(4), at(8), (4000, 8000))
    assert [tick.label for tick in window.ticks()] == ["4 s", "5 s", "6 s", "7 s", "8 s"]
    assert waterfall.segments(one, window, at(10)) == []
    assert [(part.kind, part.x, part.width) for part in waterfall.segments(two, window, at(10))] == [
        ("leased", 0, 1000)
    ]


@pytest.mark.parametrize(("since", "until"), [(None, None), (0, 10_000), (-5, 99_999), (7000, 7000), (9000, 3000)])
def test_a_window_without_a_length_or_of_the_whole_is_the_whole(since, until):
    whole = Window(start=START, end=at(10))

    assert whole.part(since, until) is whole


@pytest.mark.parametrize(
    ("end", "tone"),
    [
        ("result", "ok"),
        ("requeue", "lost"),
        ("auto_requeue", "lost"),
        ("force_error", "lost"),
        ("expired", "lost"),
        ("release", "released"),
        ("cancel", "cancelled"),
        ("asked", "interrupted"),
    ],
)
def test_each_attempt_is_drawn_by_its_own_end(end, tone):
    one = bar(0, 10, attempt(1, 1, 4, end), attempt(2, 6, 10))

    parts = [part for part in waterfall.segments(one, Window(start=START, end=at(10)), at(10)) if part.kind == "leased"]

    assert [part.tone for part in parts] == [tone, "ok"]
    assert parts[0].description.startswith("attempt 1 took 3.0 s")


moments = st.floats(-100, 100).map(at)


@given(st.data())
def test_segments_stay_in_the_picture_even_if_clocks_disagree(data):
    attempts = [
        LeaseSpan(number=number, leased_at=data.draw(moments), ended_at=data.draw(st.none() | moments), end="requeue")
        for number in range(data.draw(st.integers(0, 3)))
    ]
    one = TaskBar(
        uuid=uuid.uuid4(),
        parent=None,
        name="x",
        sender="a",
        recipient="b",
        kind="x",
        state="ok",
        sent_at=data.draw(moments),
        resolved_at=data.draw(st.none() | moments),
        attempts=attempts,
    )
    now = data.draw(moments)

    parts = waterfall.segments(one, Window.around([one], now), now)

    assert all(part.width >= 0 and part.x >= 0 and part.x + part.width <= 1000.1 for part in parts)
    assert all(0 <= part.arrow <= 1000 for part in parts)

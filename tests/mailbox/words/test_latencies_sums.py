from datetime import timedelta

import pytest

from mailbox.words.latencies import PER_DOUBLING, Latencies

pytestmark = pytest.mark.one_database


def noted(*milliseconds):
    found = Latencies()
    for number in milliseconds:
        found.note(timedelta(milliseconds=number))
    return found


def test_durations_under_a_bound_are_counted_exactly():
    found = noted(0, 0.9, 1, 1.9, 2, 1023, 1024, 5000)

    assert [found.under(doublings * PER_DOUBLING) for doublings in (0, 1, 2, 10, 11, 30)] == [2, 4, 5, 6, 7, 8]


def test_the_sum_is_at_most_ten_percent_off():
    durations = [3.0 * 1.37**power for power in range(30)]

    assert noted(*durations).sum().total_seconds() == pytest.approx(sum(durations) / 1000, rel=0.1)
    assert noted().sum() == timedelta(0)


def test_many_texts_are_added_up_as_one_by_one():
    parts = [noted(0, 3, 3), noted(), noted(3, 900, 5000)]
    one_by_one = Latencies()
    for part in parts:
        one_by_one += part

    together = Latencies.of(["", *(part.as_text() for part in parts)])

    assert together.as_text() == one_by_one.as_text()
    assert Latencies.of([]).as_text() == "{}"

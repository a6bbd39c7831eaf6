from datetime import timedelta

import pytest

from a2a_hub_client.errors import AnswerError, HubError, UnavailableError, UnreachableError
from a2a_hub_client.refusals import UnknownTaskError
from a2a_hub_client.retry import Backoff, Retry

pytestmark = pytest.mark.one_database

ARRIVED, LOST = UnavailableError("M."), UnreachableError("M.", may_have_arrived=False)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def pauses(retry, number, *, clock=None):
    backoff = Backoff(retry, clock or Clock())
    return [backoff.pause(ARRIVED, is_repeatable=True) for _ in range(number)]


def test_pauses_double_up_to_the_longest():
    found = pauses(Retry(first_pause=1, longest_pause=timedelta(seconds=3), patience=None), 4)

    for pause, full in zip(found, [1, 2, 3, 3], strict=True):
        assert pause is not None
        assert full / 2 <= pause <= full


def test_pauses_are_random():
    assert len(set(pauses(Retry(first_pause=1, longest_pause=1, patience=None), 5))) == 5


def test_a_pause_is_as_long_as_the_hub_asks():
    backoff = Backoff(Retry(first_pause=1, longest_pause=5, patience=None))

    assert backoff.pause(UnavailableError("M.", retry_after=4), is_repeatable=True) == 4
    assert backoff.pause(UnavailableError("M.", retry_after=4000), is_repeatable=True) == 5


def test_patience_counts_from_the_first_failure():
    clock = Clock()
    clock.now = 100
    backoff = Backoff(Retry(first_pause=1, longest_pause=1, patience=10), clock)

    assert backoff.pause(ARRIVED, is_repeatable=True)
    clock.now = 108.5
    assert backoff.pause(ARRIVED, is_repeatable=True)
    clock.now = 109.6
    assert backoff.pause(ARRIVED, is_repeatable=True) is None


def test_without_patience_nothing_is_repeated():
    assert pauses(Retry(patience=0), 1) == [None]


@pytest.mark.parametrize(
    ("error", "is_repeatable", "repeats"),
    [
        (ARRIVED, True, True),
        (ARRIVED, False, False),
        (LOST, False, True),
        (AnswerError("M."), True, True),
        (UnknownTaskError("M."), True, False),
        (HubError("M."), True, False),
    ],
)
def test_only_safe_requests_are_repeated(error, is_repeatable, repeats):
    assert (Backoff(Retry()).pause(error, is_repeatable=is_repeatable) is not None) is repeats


def test_the_caller_hears_of_each_failure_that_is_repeated():
    heard: list[HubError] = []
    backoff = Backoff(Retry(on_trouble=heard.append))

    backoff.pause(ARRIVED, is_repeatable=False)
    backoff.pause(LOST, is_repeatable=False)

    assert heard == [LOST]

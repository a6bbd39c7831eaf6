import random
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.access.limits import rates
from mailbox.models import RateWindow
from mailbox.words import json_text
from mailbox.words.errors import RateLimitedError
from tests.support import races

MINUTE = timedelta(minutes=1)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def take(second, *, limit):
    """Take one at this second; return None when it was granted, else the seconds to wait."""
    with time_machine.travel(NOON + timedelta(seconds=second), tick=False):
        try:
            rates.take_from_window("it", limit=limit, window=MINUTE)
        except RateLimitedError as refusal:
            return refusal.retry_after
    return None


def claim(key):
    with rates.once(key) as is_first:
        return is_first


@pytest.mark.django_db
def test_only_the_first_claim_of_a_form_succeeds():
    assert [claim("form:1"), claim("form:1"), claim("form:2")] == [True, False, True]


@pytest.mark.django_db
def test_a_failed_act_can_be_claimed_again_and_a_done_act_cannot():
    with pytest.raises(ZeroDivisionError), rates.once("form:1"):
        raise ZeroDivisionError
    assert claim("form:1")

    with pytest.raises(ZeroDivisionError), rates.once("form:1"):
        raise ZeroDivisionError
    assert not claim("form:1")


@pytest.mark.django_db
def test_claims_are_deleted_once_their_forms_have_expired():
    rates.take_from_window("something else", limit=1, window=timedelta(days=30))
    claim("form:1")

    with time_machine.travel(timezone.now() + timedelta(days=8)):
        assert claim("form:2")

    assert set(RateWindow.objects.values_list("key", flat=True)) == {"something else", "once form:2"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", races.ROUNDS)
def test_one_of_several_claims_at_once_succeeds(seed):
    outcomes = races.race(*[lambda: claim("form:1")] * 8)

    assert sorted(bool(outcome.value) for outcome in outcomes) == [False] * 7 + [True]


@pytest.mark.django_db
def test_a_limit_holds_in_every_span_of_a_minute():
    assert [take(second, limit=5) for second in (0, 56, 57, 58, 59)] == [None] * 5

    assert take(59.5, limit=5) == 1
    assert take(60, limit=5) is None
    assert take(60, limit=5) == 56
    assert take(115.9, limit=5) == 1
    assert take(116, limit=5) is None


@pytest.mark.django_db
def test_a_lowered_limit_reports_when_it_admits_again():
    assert [take(second, limit=5) for second in range(5)] == [None] * 5

    assert take(10, limit=2) == 53
    assert take(63, limit=2) is None


@pytest.mark.django_db
@pytest.mark.parametrize("limit", [5, 60, 61, 150])
def test_no_minute_exceeds_the_limit_and_few_moments_are_stored(limit):
    chance = random.Random(limit)  # noqa: S311 (a repeatable test)
    seconds = sorted(chance.uniform(0, 150) for _ in range(5 * limit))

    granted = [second for second in seconds if take(second, limit=limit) is None]

    assert all(later - earlier >= 60 for earlier, later in zip(granted, granted[limit:], strict=False))
    assert len(granted) >= 2 * limit
    assert len(json_text.loads(RateWindow.objects.get().counted)) <= rates.MOST_MOMENTS + 2


@pytest.mark.django_db
@pytest.mark.parametrize("limit", [5, 100])
def test_a_request_at_the_reported_time_is_admitted(limit):
    assert [take(0.01, limit=limit) for _ in range(limit)] == [None] * limit

    wait = take(7.3, limit=limit)

    assert take(7.3 + wait, limit=limit) is None


@pytest.mark.django_db
def test_a_clock_that_was_set_back_locks_no_caller_out():
    assert [take(3600, limit=1), take(0, limit=1)] == [None, None]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", races.ROUNDS)
def test_sixteen_requests_at_once_are_admitted_up_to_the_limit(seed):
    outcomes = races.race(*[lambda: rates.take_from_window("it", limit=5, window=MINUTE)] * 16)

    assert sum(outcome.refusal is None for outcome in outcomes) == 5

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox import limits
from mailbox.models import RateWindow
from tests.mailbox import races


def claim(key):
    with limits.once(key) as is_first:
        return is_first


@pytest.mark.django_db
def test_a_claim_is_the_first_one_once():
    assert [claim("form:1"), claim("form:1"), claim("form:2")] == [True, False, True]


@pytest.mark.django_db
def test_what_failed_can_be_claimed_again_and_what_was_done_cannot():
    with pytest.raises(ZeroDivisionError), limits.once("form:1"):
        raise ZeroDivisionError
    assert claim("form:1")

    with pytest.raises(ZeroDivisionError), limits.once("form:1"):
        raise ZeroDivisionError
    assert not claim("form:1")


@pytest.mark.django_db
def test_claims_are_forgotten_when_nobody_can_still_send_the_form():
    limits.take("something else", limit=1, window=timedelta(days=30))
    claim("form:1")

    with time_machine.travel(timezone.now() + timedelta(days=8)):
        assert claim("form:2")

    assert set(RateWindow.objects.values_list("key", flat=True)) == {"something else", "once form:2"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", races.ROUNDS)
def test_of_claims_at_once_one_is_the_first(seed):
    outcomes = races.race(*[lambda: claim("form:1")] * 8)

    assert sorted(bool(outcome.value) for outcome in outcomes) == [False] * 7 + [True]

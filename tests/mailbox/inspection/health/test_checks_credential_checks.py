from datetime import timedelta

import pytest
from django.utils import timezone

from mailbox.access.credentials import authentication, keys
from mailbox.inspection.health import checks
from mailbox.inspection.health.checks import HealthStatus
from mailbox.models import AuditEvent
from mailbox.words import tokens
from tests.support import factories

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def look():
    return checks.api_keys(timezone.now())


def id_of(key):
    return tokens.public_id(key)


def test_live_keys_are_counted_with_those_that_never_expire(alice, bob):
    now = timezone.now()
    factories.key_of(alice, created_at=now - 40 * DAY)
    factories.key_of(alice, created_at=now, expires_at=now + 90 * DAY)
    factories.key_of(bob, revoked_at=now)
    factories.key_of(bob, expires_at=now - DAY)

    check = look()

    assert (check.word, check.note) == (HealthStatus.OK, "")
    assert check.saw == "2 live, 1 without an expiry, the oldest made 40 d ago"


def test_a_key_that_expires_soon_is_named(alice, bob):
    now = timezone.now()
    due = factories.key_of(alice, created_at=now - 60 * DAY, expires_at=now + 29 * DAY)
    factories.key_of(bob, created_at=now, expires_at=now + 29 * DAY)  # is in the first third of its life

    check = look()

    assert check.word is HealthStatus.DEGRADED
    assert check.note == f"a2a_{id_of(due)}_… of alice@local will expire soon: rotate."


def test_a_key_with_a_live_successor_is_not_named(alice, settings):
    settings.A2A_KEY_MAX_AGE = 90 * DAY
    old = factories.key_of(alice)
    keys.rotate_key(authentication.authenticate(old, source=AuditEvent.Source.API))

    assert look().word is HealthStatus.OK


def test_keys_that_may_outlive_the_maximum_age_are_named(alice, bob, settings):
    settings.A2A_KEY_MAX_AGE = 90 * DAY
    now = timezone.now()
    eternal = factories.key_of(alice, created_at=now - DAY)
    old = factories.key_of(bob, created_at=now - 91 * DAY, expires_at=now + 300 * DAY)

    check = look()

    assert check.word is HealthStatus.DEGRADED
    assert check.note == (
        f"a2a_{id_of(old)}_… of bob@local, a2a_{id_of(eternal)}_… of alice@local "
        "may live longer than A2A_KEY_MAX_AGE_MS: rotate or revoke."
    )


def test_many_keys_are_counted_and_five_are_named(settings):
    settings.A2A_KEY_MAX_AGE = DAY
    for number in range(7):
        factories.key_of(factories.agent(f"agent-{number}"))

    assert "and 2 more may live longer" in look().note

"""How long API keys live: expiry, maximum age, rotation, and revocation of what a key made."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.access.agents import registration
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import authentication, keys
from mailbox.models import ApiKey, AuditEvent
from mailbox.words import tokens
from mailbox.words.errors import (
    CapabilityMissingError,
    InvalidRequestError,
    KeyLimitError,
    KeyReplacedError,
    UnauthenticatedError,
    UnknownKeyError,
)
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = pytest.mark.django_db

NOW = datetime(2030, 6, 1, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture(autouse=True)
def _now():
    with time_machine.travel(NOW, tick=False):
        yield


def enter(key):
    """Return the caller that presents the key."""
    return authentication.authenticate(key, source=AuditEvent.Source.API)


def is_live(key):
    try:
        return bool(enter(key))
    except UnauthenticatedError:
        return False


def id_of(key):
    return tokens.public_id(key) or ""


def row_of(key):
    return ApiKey.objects.get(public_id=id_of(key))


class TestExpiry:
    def test_a_key_made_with_an_expiring_key_expires_with_it(self, alice):
        caller = enter(factories.key_of(alice, expires_at=NOW + HOUR))

        made = keys.add_key(caller, agent=alice.agent)

        assert (made.row.expires_at, made.row.renews) == (NOW + HOUR, False)
        assert made.row.made_by == caller.credential

    def test_a_key_made_with_an_expiring_key_may_expire_earlier_but_not_later(self, alice):
        caller = enter(factories.key_of(alice, expires_at=NOW + HOUR))

        with pytest.raises(InvalidRequestError, match="must be at most 2030-06-01T13:00:00Z"):
            keys.add_key(caller, agent=alice.agent, expires_at=NOW + HOUR + timedelta(milliseconds=1))
        assert keys.add_key(caller, agent=alice.agent, expires_at=NOW + HOUR / 2).row.expires_at == NOW + HOUR / 2

    def test_the_first_key_of_an_agent_expires_with_the_key_that_registered_it(self, alice):
        factories.grant(alice, "a2a.agents.register")
        caller = enter(factories.key_of(alice, expires_at=NOW + HOUR))

        made = registration.register_agent(caller, "carol")

        assert (row_of(made.api_key).expires_at, row_of(made.api_key).made_by) == (NOW + HOUR, caller.credential)

    def test_a_key_made_with_an_eternal_key_may_be_eternal(self, alice):
        assert keys.add_key(enter(factories.key_of(alice)), agent=alice.agent).row.expires_at is None

    def test_new_keys_live_at_most_the_maximum_age(self, alice, settings):
        settings.A2A_KEY_MAX_AGE = 90 * DAY

        made = keys.add_key(Caller.command_line(), agent=alice.agent)

        assert (made.row.expires_at, made.row.renews) == (NOW + 90 * DAY, True)
        with pytest.raises(InvalidRequestError, match="A2A_KEY_MAX_AGE_MS"):
            keys.add_key(Caller.command_line(), agent=alice.agent, expires_at=NOW + 91 * DAY)

    @pytest.mark.parametrize(
        ("age", "life", "is_soon"),
        [
            (0, 365 * DAY, False),
            (334, 365 * DAY, False),
            (335, 365 * DAY, True),
            (0, 3 * DAY, False),
            (2, 3 * DAY, True),
            (9999, None, False),
        ],
    )
    def test_a_key_is_due_in_its_last_30_days_or_its_last_third(self, age, life, is_soon):
        made = NOW - age * DAY
        key = ApiKey(created_at=made, expires_at=None if life is None else made + life)

        assert key.expires_soon(NOW) is is_soon


class TestRevocation:
    def test_the_keys_that_a_key_made_are_revoked_with_it(self, alice, bob):
        factories.grant(alice, "a2a.capabilities.grant")
        first = factories.key_of(alice)
        second = keys.add_key(enter(first), agent=bob.agent).secret
        factories.grant(bob, "a2a.capabilities.grant")
        third = keys.add_key(enter(second), agent=alice.agent).secret
        beside = keys.add_key(Caller.command_line(), agent=bob.agent).secret

        revoked = keys.revoke_key(enter(first), id_of(first), with_made=True)

        assert [key.public_id for key in revoked] == [id_of(key) for key in (first, second, third)]
        assert [is_live(key) for key in (first, second, third, beside)] == [False, False, False, True]
        assert len(factories.journal(Kind.KEY_REVOKED)) == 3

    def test_without_the_option_what_a_key_made_stays(self, alice):
        first = factories.key_of(alice)
        second = keys.add_key(enter(first), agent=alice.agent).secret

        assert len(keys.revoke_key(enter(first), id_of(first))) == 1
        assert is_live(second)

    def test_keys_of_others_are_not_revoked_without_the_capability(self, alice, bob):
        grant = factories.grant(alice, "a2a.capabilities.grant")
        first = factories.key_of(alice)
        second = keys.add_key(enter(first), agent=bob.agent).secret
        grant.delete()

        with pytest.raises(CapabilityMissingError):
            keys.revoke_key(enter(first), id_of(first), with_made=True)
        assert is_live(first)
        assert is_live(second)


class TestRotation:
    def test_both_keys_are_valid_until_the_overlap_ends(self, alice):
        old = factories.key_of(alice)

        rotation = keys.rotate_key(enter(old), overlap=HOUR)
        new = rotation.new.secret

        assert rotation.overlap_ends_at == NOW + HOUR
        assert is_live(old)
        assert enter(new).agent == alice.agent
        with time_machine.travel(NOW + HOUR, tick=False):
            assert (is_live(old), is_live(new)) == (False, True)
        assert row_of(new).expires_at is None
        (row,) = factories.journal(Kind.KEY_ROTATED)
        assert row.fields == {
            "owner": "alice@local",
            "public_id": id_of(new),
            "replaces": id_of(old),
            "overlap_ends_at_ms": int((NOW + HOUR).timestamp() * 1000),
        }

    def test_a_repeat_withdraws_a_successor_that_was_never_used(self, alice):
        old = factories.key_of(alice)
        lost = keys.rotate_key(enter(old), overlap=HOUR)
        with time_machine.travel(NOW + HOUR / 2, tick=False):
            again = keys.rotate_key(enter(old), overlap=HOUR)

            assert not is_live(lost.new.secret)
            assert is_live(again.new.secret)
        assert again.overlap_ends_at == NOW + HOUR
        assert ApiKey.objects.live(NOW).count() == 2

    def test_a_repeat_after_the_successor_was_used_is_refused(self, alice):
        old = factories.key_of(alice)
        new = keys.rotate_key(enter(old)).new.secret
        enter(new)

        with pytest.raises(KeyReplacedError, match=f"replaced by a2a_{id_of(new)}_…"):
            keys.rotate_key(enter(old))
        assert is_live(new)

    def test_a_rotation_does_not_outlive_an_expiry_that_was_chosen(self, alice, settings):
        old = factories.key_of(alice, expires_at=NOW + DAY)

        assert keys.rotate_key(enter(old)).new.row.expires_at == NOW + DAY
        assert keys.rotate_key(enter(old)).new.row.expires_at == NOW + DAY  # the answer was lost
        settings.A2A_KEY_MAX_AGE = HOUR
        other = factories.key_of(factories.agent("carol"), expires_at=NOW + DAY)
        assert keys.rotate_key(enter(other)).new.row.expires_at == NOW + HOUR

    def test_a_rotation_starts_a_new_life_of_the_maximum_age(self, alice, settings):
        settings.A2A_KEY_MAX_AGE = 90 * DAY
        old = keys.add_key(Caller.command_line(), agent=alice.agent).secret

        with time_machine.travel(NOW + 80 * DAY, tick=False):
            made = keys.rotate_key(enter(old)).new.row

        assert (made.expires_at, made.renews) == (NOW + 170 * DAY, True)

    def test_an_owner_of_two_keys_can_rotate_each(self, alice):
        first, second = factories.key_of(alice), factories.key_of(alice)

        news = [keys.rotate_key(enter(key)).new.secret for key in (first, second)]

        assert [is_live(key) for key in (first, second, *news)] == [True] * 4
        with pytest.raises(KeyLimitError):
            keys.add_key(enter(news[0]), agent=alice.agent)

    def test_a_successor_is_not_rotated_while_its_predecessor_is_valid(self, alice):
        old = factories.key_of(alice)
        new = keys.rotate_key(enter(old)).new.secret

        with pytest.raises(KeyLimitError, match="is still valid"):
            keys.rotate_key(enter(new))
        keys.revoke_key(enter(new), id_of(old))
        assert keys.rotate_key(enter(new)).new.row.replaces == id_of(new)

    def test_the_key_of_a_person_is_rotated_by_itself(self):
        olga = factories.person("olga", Role.OPERATOR)
        old = factories.key_of(olga)

        assert enter(keys.rotate_key(enter(old)).new.secret).name == "user:olga"

    @pytest.mark.parametrize("overlap", [timedelta(0), timedelta(seconds=59), 8 * DAY])
    def test_an_overlap_out_of_bounds_is_refused(self, alice, overlap):
        with pytest.raises(InvalidRequestError, match="overlap_ms"):
            keys.rotate_key(enter(factories.key_of(alice)), overlap=overlap)
        assert ApiKey.objects.count() == 1

    def test_a_caller_without_a_key_rotates_only_by_id_and_with_the_capability(self, alice, olga):
        public_id = id_of(factories.key_of(alice))

        for caller in (olga, replace(alice, credential="")):
            with pytest.raises(UnknownKeyError):
                keys.rotate_key(caller)
            with pytest.raises(CapabilityMissingError):
                keys.rotate_key(caller, public_id=public_id)
        assert keys.rotate_key(Caller.command_line(), public_id=public_id).new.row.agent == alice.agent

    def test_revoking_a_key_with_what_it_made_takes_its_successor(self, alice):
        old = factories.key_of(alice)
        new = keys.rotate_key(enter(old)).new.secret

        keys.revoke_key(enter(old), id_of(old), with_made=True)

        assert not is_live(new)

    def test_a_dead_key_is_not_rotated(self, alice):
        key = factories.key_of(alice, revoked_at=timezone.now())
        with pytest.raises(UnknownKeyError):
            keys.rotate_key(Caller.command_line(), public_id=id_of(key))

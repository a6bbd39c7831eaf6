from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import Group, User
from django.utils import timezone

from mailbox.access import audit
from mailbox.access.callers import Role
from mailbox.access.credentials import authentication
from mailbox.life import sending
from mailbox.models import ApiKey, AuditEvent, CapabilityGrant
from mailbox.words import tokens
from mailbox.words.errors import CapabilityMissingError, UnauthenticatedError
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = pytest.mark.django_db


def authenticate(key):
    return authentication.authenticate(key, source=AuditEvent.Source.API, request_id="r1")


def test_a_key_names_its_agent_with_its_live_grants(alice):
    factories.grant(alice, "a2a.compact", expires_at=timezone.now() - timedelta(days=1))
    factories.grant(alice, "a2a.compact", revoked_at=timezone.now())
    factories.grant(alice, "a2a.compact", max_uses=1, uses=1)
    pinned = factories.grant(alice, "a2a.respond.*", scope={"version": 1, "task_id": "x"}, max_uses=5)

    caller = authenticate(factories.key_of(alice))

    assert (caller.name, caller.agent, caller.role, caller.trusted) == ("alice@local", alice.agent, None, False)
    assert (caller.source, caller.request_id) == ("api", "r1")
    assert caller.grants is not None
    assert {grant.action for grant in caller.grants} == {"a2a.send.*", "a2a.respond.*"}
    read = next(grant for grant in caller.grants if grant == pinned)
    assert (read.grant_id, read.pins, read.max_uses) == (pinned.grant_id, {"task_id": "x"}, 5)


def test_an_agent_without_grants_has_none(mallory):
    assert authenticate(factories.key_of(mallory)).grants == ()


def test_an_agent_is_authenticated_by_one_query(alice, django_assert_num_queries):
    key = factories.key_of(alice, last_used_at=timezone.now())

    with django_assert_num_queries(1):
        authenticate(key)


def test_an_authenticated_caller_can_send(alice, bob):
    task = sending.send_task(authenticate(factories.key_of(alice)), factories.task_envelope(bob))

    assert task.sender == alice.agent


def test_a_revoked_grant_is_gone_at_the_next_request(alice, bob):
    key = factories.key_of(alice)
    authenticate(key)
    CapabilityGrant.objects.update(revoked_at=timezone.now())

    with pytest.raises(CapabilityMissingError):
        sending.send_task(authenticate(key), factories.task_envelope(bob))


@pytest.mark.parametrize("wrong", ["", "secret", "a2a_aaaaaaaa_" + "b" * 32 + "_cccccc", "\x00", "é"])
def test_a_malformed_key_costs_no_look_up(wrong, django_assert_num_queries):
    authentication._failures["malformed"] = audit.FailureCount(noted_at=float("inf"))

    with django_assert_num_queries(0), pytest.raises(UnauthenticatedError):
        authenticate(wrong)


def test_unknown_expired_and_revoked_keys_are_refused_alike(alice):
    now = timezone.now()
    keys = [
        tokens.mint().key,
        factories.key_of(alice, expires_at=now - timedelta(seconds=1)),
        factories.key_of(alice, revoked_at=now),
    ]

    messages = set()
    for key in keys:
        with pytest.raises(UnauthenticatedError) as refusal:
            authenticate(key)
        messages.add(refusal.value.message)

    assert len(messages) == 1


def test_a_key_with_a_wrong_secret_is_refused(alice, monkeypatch):
    public_id = tokens.public_id(factories.key_of(alice))
    parts = iter([public_id, "0" * 32])
    monkeypatch.setattr(tokens, "_random", lambda length: next(parts))

    with pytest.raises(UnauthenticatedError):
        authenticate(tokens.mint().key)


def test_a_key_that_expires_later_works(alice):
    assert authenticate(factories.key_of(alice, expires_at=timezone.now() + timedelta(minutes=1)))


def test_use_is_noted_at_most_once_a_minute(alice):
    key = factories.key_of(alice)
    with time_machine.travel(timezone.now(), tick=False) as clock:
        start = timezone.now()
        authenticate(key)
        assert ApiKey.objects.get().last_used_at == start

        clock.shift(timedelta(seconds=59))
        authenticate(key)
        assert ApiKey.objects.get().last_used_at == start

        clock.shift(timedelta(seconds=2))
        authenticate(key)
        assert ApiKey.objects.get().last_used_at == timezone.now()


@pytest.mark.parametrize("reason", ["missing", "malformed", "unknown"])
def test_a_failure_is_journalled_with_its_reason_and_no_key(reason):
    unknown = tokens.mint().key
    keys = {"missing": None, "malformed": "a2a_secret", "unknown": unknown}

    with pytest.raises(UnauthenticatedError):
        authenticate(keys[reason])

    (event,) = AuditEvent.objects.all()
    assert (event.kind, event.actor) == ("authentication_failed", "anonymous")
    assert event.fields == {"reason": reason, "count": 1}


@pytest.fixture
def storm():
    """Five failures within a minute, of which one is written down as it comes."""
    for _ in range(5):
        with pytest.raises(UnauthenticatedError):
            authenticate(None)
    assert AuditEvent.objects.count() == 1


def test_failures_within_a_minute_are_journalled_as_one_count_afterwards(storm, alice):
    key = factories.key_of(alice)
    authenticate(key)
    before = factories.journal(Kind.AUTHENTICATION_FAILED)

    authentication._failures["missing"].noted_at = float("-inf")
    authenticate(key)
    authenticate(key)

    assert len(before) == 1
    assert [event.fields["count"] for event in factories.journal(Kind.AUTHENTICATION_FAILED)] == [1, 4]


@pytest.mark.parametrize("role", list(Role))
def test_a_persons_key_acts_with_the_persons_role(role):
    person = factories.person("pat", role)

    caller = authenticate(factories.key_of(person))

    assert (caller.name, caller.role, caller.agent) == ("user:pat", role, None)


def test_a_person_in_several_groups_has_the_strongest_role():
    person = factories.person("pat", Role.VIEWER)
    User.objects.get().groups.add(Group.objects.get(name="admin"))

    assert authenticate(factories.key_of(person)).role == Role.ADMIN


def test_a_role_taken_away_is_gone_at_the_next_request():
    key = factories.key_of(factories.person("pat", Role.OPERATOR))
    User.objects.get().groups.clear()

    with pytest.raises(UnauthenticatedError, match="none of the groups"):
        authenticate(key)


def test_an_inactive_person_is_refused():
    key = factories.key_of(factories.person("pat", Role.ADMIN))
    User.objects.update(is_active=False)

    with pytest.raises(UnauthenticatedError):
        authenticate(key)


def test_a_superuser_is_an_admin():
    key = factories.key_of(factories.person("root", None))
    User.objects.update(is_superuser=True)

    assert authenticate(key).role == Role.ADMIN

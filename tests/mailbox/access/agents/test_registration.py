from datetime import timedelta

import base58
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.utils import timezone

from mailbox.access.agents import registration
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import authentication
from mailbox.access.credentials import keys as keys_
from mailbox.models import Agent, ApiKey, AuditEvent
from mailbox.words import tokens
from mailbox.words.errors import (
    AgentConflictError,
    CapabilityMissingError,
    InvalidRequestError,
    KeyLimitError,
    UnauthenticatedError,
    UnknownKeyError,
)
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin():
    return factories.person("ada", Role.ADMIN)


def authenticate(key):
    return authentication.authenticate(key, source=AuditEvent.Source.API)


def test_a_registered_agent_has_a_key_pair_and_a_working_api_key(admin):
    made = registration.register_agent(admin, "research@local")

    assert made.private_key is not None
    private = Ed25519PrivateKey.from_private_bytes(base58.b58decode(made.private_key))
    assert base58.b58encode(private.public_key().public_bytes_raw()).decode() == made.agent.pubkey
    assert authenticate(made.api_key).agent == made.agent
    assert Agent.objects.get() == made.agent


def test_a_registration_is_journalled_without_its_secrets(admin):
    made = registration.register_agent(admin, "research@local")

    check, registered = AuditEvent.objects.order_by("pk")
    assert (check.kind, check.fields["agent_id"]) == ("capability_check", "a2a-register:research@local")
    assert registered.kind == "agent_registered"
    assert registered.fields == {"display": "research@local", "pubkey": made.agent.pubkey}


def test_secrets_of_a_registration_are_not_stored(admin):
    made = registration.register_agent(admin, "research@local")

    stored = [str(row) for model in (Agent, ApiKey, AuditEvent) for row in model.objects.values_list()]
    secrets = [made.api_key.split("_")[2], str(made.private_key)]
    assert [secret for secret in secrets for row in stored if secret in row] == []


def test_an_agent_can_register_with_its_own_public_key(admin):
    pubkey = factories.some_pubkey()

    made = registration.register_agent(admin, "research@local", pubkey=pubkey)

    assert (made.agent.pubkey, made.private_key) == (pubkey, None)


def test_a_bare_name_is_registered_on_this_host(admin):
    assert registration.register_agent(admin, "research").agent.display == "research@local"


@pytest.mark.parametrize("display", ["", "@", "a b", "a@b@c", "é", "a@", "a" * 195, "a\n", "a/b@c"])
def test_an_invalid_name_is_refused(admin, display):
    with pytest.raises(InvalidRequestError) as refusal:
        registration.register_agent(admin, display)

    assert list(refusal.value.fields) == ["display"]
    assert not Agent.objects.exists()


@pytest.mark.parametrize("pubkey", ["", "x", f"{factories.some_pubkey()} "], ids=["empty", "short", "space behind"])
def test_an_invalid_public_key_is_refused(admin, pubkey):
    with pytest.raises(InvalidRequestError):
        registration.register_agent(admin, "research", pubkey=pubkey)

    assert not Agent.objects.exists()


@pytest.mark.parametrize("display", ["alice@local", "ALICE@local", "alice", "Alice@LOCAL"])
def test_a_name_that_differs_only_in_case_is_taken(admin, alice, display):
    with pytest.raises(AgentConflictError):
        registration.register_agent(admin, display)

    assert Agent.objects.count() == 1
    assert not ApiKey.objects.exists()
    assert not AuditEvent.objects.exists()


def test_a_public_key_is_registered_once(admin, alice):
    with pytest.raises(AgentConflictError):
        registration.register_agent(admin, "other", pubkey=alice.agent.pubkey)


def test_registering_needs_the_capability(olga, alice):
    for caller in (olga, alice):
        with pytest.raises(CapabilityMissingError):
            registration.register_agent(caller, "research")
        assert factories.last_event().fields["missing_actions"] == ["a2a.agents.register"]

    assert not Agent.objects.filter(display="research@local").exists()


def test_an_agent_with_the_grant_registers_others_and_uses_it_up():
    carol = factories.agent("carol")
    grant = factories.grant(carol, "a2a.agents.register", max_uses=1)

    registration.register_agent(carol, "research")
    with pytest.raises(CapabilityMissingError):
        registration.register_agent(carol, "writer")

    grant.refresh_from_db()
    assert grant.uses == 1


def test_an_agent_rotates_its_own_key(alice):
    old = factories.key_of(alice)

    new = keys_.add_key(alice, agent=alice.agent).secret
    keys_.revoke_key(alice, tokens.public_id(old) or "")

    assert authenticate(new).agent == alice.agent
    with pytest.raises(UnauthenticatedError):
        authenticate(old)
    assert [event.kind for event in AuditEvent.objects.order_by("pk")[:2]] == ["key_added", "key_revoked"]
    (added,) = factories.journal("key_added")
    assert added.fields == {"owner": "alice@local", "public_id": tokens.public_id(new)}


def test_no_owner_has_more_than_two_live_keys(alice):
    keys = [keys_.add_key(alice, agent=alice.agent).secret for _ in range(2)]

    with pytest.raises(KeyLimitError):
        keys_.add_key(alice, agent=alice.agent)

    assert ApiKey.objects.count() == 2
    keys_.revoke_key(alice, tokens.public_id(keys[0]) or "")
    assert keys_.add_key(alice, agent=alice.agent).secret


def test_an_expired_key_does_not_count_as_live(alice):
    for _ in range(2):
        factories.key_of(alice, expires_at=timezone.now() - timedelta(seconds=1))

    assert keys_.add_key(alice, agent=alice.agent).secret


def test_no_agent_adds_a_key_to_another_agent(alice, bob, olga):
    for caller in (bob, olga):
        with pytest.raises(CapabilityMissingError):
            keys_.add_key(caller, agent=alice.agent)
        assert factories.last_event().fields["passed"] is False

    assert not ApiKey.objects.exists()


def test_an_admin_adds_a_key_for_an_agent_and_for_a_person(admin, alice, olga):
    for_agent = keys_.add_key(admin, agent=alice.agent).secret
    for_person = keys_.add_key(admin, username="olga").secret

    assert authenticate(for_agent).agent == alice.agent
    assert authenticate(for_person).role == Role.OPERATOR
    assert factories.last_event().fields["owner"] == "olga"


def test_an_operator_cannot_give_itself_a_key(olga):
    with pytest.raises(CapabilityMissingError):
        keys_.add_key(olga, username="olga")


@pytest.mark.parametrize("owner", ["none", "both", "nobody"])
def test_a_key_has_one_owner(admin, alice, olga, owner):
    owners = {
        "none": {},
        "both": {"agent": alice.agent, "username": "olga"},
        "nobody": {"username": "nobody"},
    }

    with pytest.raises(InvalidRequestError):
        keys_.add_key(admin, **owners[owner])

    assert not ApiKey.objects.exists()


def test_revoking_a_key_twice_changes_nothing(alice):
    public_id = tokens.public_id(factories.key_of(alice)) or ""
    (first,) = keys_.revoke_key(alice, public_id)

    (second,) = keys_.revoke_key(alice, public_id)

    assert second.revoked_at == first.revoked_at
    assert len(factories.journal("key_revoked")) == 1


def test_absent_and_foreign_keys_look_alike(alice, bob):
    foreign = tokens.public_id(factories.key_of(alice)) or ""

    for public_id in (foreign, "00000000"):
        with pytest.raises(UnknownKeyError) as refusal:
            keys_.revoke_key(bob, public_id)
        assert refusal.value.message == f'No key has the public id "{public_id}".'

    assert ApiKey.objects.get().revoked_at is None


def test_an_admin_revokes_any_key(admin, alice):
    public_id = tokens.public_id(factories.key_of(alice)) or ""

    keys_.revoke_key(admin, public_id)

    assert factories.last_event().kind == "key_revoked"
    assert factories.last_event().actor == "user:ada"


def test_the_command_line_registers_agents_without_a_grant():
    assert registration.register_agent(Caller.command_line(), "research").agent.local == "research"

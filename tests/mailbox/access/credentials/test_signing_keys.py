"""A public key signs requests once its holder has proved the private key, and can be changed without losing sight."""

import base64
import time
from collections.abc import Callable
from typing import Any

import base58
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.test import Client

from mailbox.access.agents import registration
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import signing_keys
from mailbox.inspection import lists
from mailbox.models import Agent, AuditEvent, SigningKey, Task
from mailbox.words import ed25519, signatures
from mailbox.words.ed25519 import KeyProof
from mailbox.words.errors import AgentConflictError, CapabilityMissingError, InvalidRequestError
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.api import Api, error_of, task_to
from tests.support.races import answers

pytestmark = pytest.mark.django_db

ADMIN = Caller.command_line()
HUB = settings.PUBLIC_URL


@pytest.fixture
def key():
    return Ed25519PrivateKey.generate()


def of(made):
    return Caller(name=made.display, source=AuditEvent.Source.API, agent=made)


def proof(key, display="carol@local", *, hub=HUB, **how):
    return KeyProof.made(key, hub=hub, display=display, **how)


def registered(key, **how):
    return registration.register_agent(ADMIN, "carol", pubkey=ed25519.public_of(key), **how).agent


def get_signed(key, path="/a2a/queue"):
    return Client(headers=signatures.sign(key, method="GET", url=f"{HUB}{path}")).get(path).status_code


def test_a_key_that_was_proved_at_registration_signs(key):
    registered(key, proof=proof(key))

    assert get_signed(key) == 200
    assert AuditEvent.objects.get(kind=Kind.AGENT_REGISTERED).fields["proven"] is True


def test_a_key_without_proof_signs_once_it_is_proved(key):
    agent = registered(key)
    assert get_signed(key) == 401
    assert AuditEvent.objects.get(kind=Kind.AGENT_REGISTERED).fields["proven"] is False

    signing_keys.set_signing_key(of(agent), agent, proof(key))

    assert get_signed(key) == 200


def test_a_key_pair_that_the_hub_made_signs():
    made = registration.register_agent(ADMIN, "carol")

    assert get_signed(ed25519.private_key(made.private_key or "")) == 200


WRONG = {
    "another agent": lambda key: proof(key, "dora@local"),
    "another hub": lambda key: proof(key, hub="https://other.example"),
    "too old": lambda key: proof(key, now=time.time() - 24 * 3600 - 1),
    "to come": lambda key: proof(key, now=time.time() + 60),
    "another key": lambda key: proof(Ed25519PrivateKey.generate()),
    "another signature": lambda key: KeyProof.parse(
        {**proof(key).fields(), "signature": base64.b64encode(bytes(64)).decode()}
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_proof_that_does_not_hold_registers_nothing(key, wrong):
    with pytest.raises(InvalidRequestError):
        registered(key, proof=WRONG[wrong](key))
    assert not Agent.objects.exists()


@pytest.mark.parametrize("wrong", [{}, {"signature": "?"}, {"time_ms": "1"}, {"pubkey": "0"}, {"signature": 1}])
def test_a_malformed_proof_is_refused(key, wrong):
    with pytest.raises(InvalidRequestError):
        KeyProof.parse({**proof(key).fields(), **wrong} if wrong else {})


@pytest.mark.parametrize(
    "point", [bytes(32), bytes([1, *bytes(31)]), (2**255 - 20).to_bytes(32, "little"), b"\xff" * 32]
)
def test_points_that_prove_nothing_are_not_registered(point):
    with pytest.raises(InvalidRequestError):
        registration.register_agent(ADMIN, "carol", pubkey=base58.b58encode(point).decode())


def test_a_changed_key_needs_the_signature_of_the_key_until_now(key):
    agent, new = registered(key, proof=proof(key)), Ed25519PrivateKey.generate()
    with pytest.raises(CapabilityMissingError):
        signing_keys.set_signing_key(of(agent), agent, proof(new))
    with pytest.raises(CapabilityMissingError):
        signing_keys.set_signing_key(of(agent), agent, proof(new, previous=new))

    signing_keys.set_signing_key(of(agent), agent, proof(new, previous=key))

    assert (get_signed(new), get_signed(key)) == (200, 401)
    assert [one.pubkey for one in signing_keys.of(agent)] == [ed25519.public_of(key), ed25519.public_of(new)]
    journalled = AuditEvent.objects.get(kind=Kind.SIGNING_KEY_SET).fields
    assert (journalled["pubkey"], journalled["replaced"]) == (ed25519.public_of(new), ed25519.public_of(key))


def test_a_retired_key_never_comes_back(key):
    agent, new = registered(key, proof=proof(key)), Ed25519PrivateKey.generate()
    signing_keys.set_signing_key(of(agent), agent, proof(new, previous=key))

    with pytest.raises(InvalidRequestError, match="retired"):
        signing_keys.set_signing_key(ADMIN, agent, proof(key, previous=new))


def test_a_second_call_changes_nothing(key):
    agent = registered(key)
    for _ in range(2):
        signing_keys.set_signing_key(of(agent), agent, proof(key))

    assert AuditEvent.objects.filter(kind=Kind.SIGNING_KEY_SET).count() == SigningKey.objects.count() == 1


def test_an_operator_sets_a_new_key_for_one_that_was_lost(key):
    agent, new = registered(key, proof=proof(key)), Ed25519PrivateKey.generate()

    signing_keys.retire_signing_key(of(agent), agent)
    assert get_signed(key) == 401
    with pytest.raises(CapabilityMissingError):
        signing_keys.set_signing_key(of(agent), agent, proof(new, previous=key))
    signing_keys.set_signing_key(ADMIN, agent, proof(new))

    assert get_signed(new) == 200


def test_no_agent_takes_the_key_of_another(key, alice):
    registered(key, proof=proof(key))
    with pytest.raises(AgentConflictError):
        signing_keys.set_signing_key(ADMIN, alice.agent, proof(key, "alice@local"))
    other = Ed25519PrivateKey.generate()
    SigningKey.objects.create(agent=alice.agent, pubkey=ed25519.public_of(other), proven_at="2026-01-01T00:00Z")
    with pytest.raises(AgentConflictError):
        registration.register_agent(ADMIN, "dora", pubkey=ed25519.public_of(other))


def test_a_stranger_sets_and_retires_no_key(key, mallory):
    agent = registered(key, proof=proof(key))
    with pytest.raises(CapabilityMissingError):
        signing_keys.set_signing_key(mallory, agent, proof(Ed25519PrivateKey.generate()))
    with pytest.raises(CapabilityMissingError):
        signing_keys.retire_signing_key(mallory, agent)
    assert get_signed(key) == 200


def test_an_agent_with_a_changed_key_loses_sight_of_nothing(key, bob):
    agent, new = registered(key, proof=proof(key)), Ed25519PrivateKey.generate()
    carol = of(agent)
    factories.grant(carol, "a2a.send.*", scope={"version": 1, "peer_pubkey_b58": bob.agent.pubkey})
    factories.grant(bob, f"a2a.send.{agent.pubkey}")
    Api(carol).post("/a2a/tasks", task_to(bob))
    seen = {name: len(found(carol).items) for name, found in LISTS.items()}

    signing_keys.set_signing_key(carol, agent, proof(new, previous=key))

    assert {name: len(found(carol).items) for name, found in LISTS.items()} == {**seen, "journal": seen["journal"] + 1}
    assert Api(carol).post("/a2a/tasks", task_to(bob)).status_code == 200
    assert Api(bob).post("/a2a/tasks", task_to(carol)).status_code == 200
    addressed = {**task_to(carol), "recipient": {"display": "carol@local", "pubkey": ed25519.public_of(key)}}
    assert Api(bob).post("/a2a/tasks", addressed).status_code == 200
    assert Task.objects.filter(recipient=agent).count() == 2


LISTS: dict[str, Callable[[Caller], Any]] = {
    "tasks": lambda caller: lists.recent_tasks(caller),
    "grants": lambda caller: lists.grants(caller),
    "journal": lambda caller: lists.recent_events(caller),
}


def test_the_route_registers_sets_and_retires(key, olga):
    admin, new = Api(factories.person("petra", Role.ADMIN)), Ed25519PrivateKey.generate()
    first = proof(key)
    body = {"display": "carol", "pubkey": first.pubkey, "proof": {"time_ms": first.time_ms, "signature": "AAAA"}}
    assert error_of(admin.post("/a2a/agents", body)) == (400, "invalid_request")
    body["proof"]["signature"] = first.fields()["signature"]
    api_key = admin.post("/a2a/agents", body).json()["api_key"]
    own = Api(headers={"X-API-Key": api_key})
    path = "/a2a/agents/carol/pubkey"

    assert own.post(path, proof(new, previous=key).fields()).status_code == 200
    assert error_of(own.post(path, proof(key).fields())) == (403, "capability_missing")
    keys = own.delete(path).json()["signing_keys"]

    assert [one["pubkey"] for one in keys] == [ed25519.public_of(key), ed25519.public_of(new)]
    assert all(one["retired_at_ms"] for one in keys)
    assert Api(olga).get(path).json()["agent"]["pubkey"] == ed25519.public_of(key)


@pytest.mark.django_db(transaction=True)
def test_of_two_simultaneous_changes_one_holds(key):
    agent = registered(key, proof=proof(key))
    changes = [proof(Ed25519PrivateKey.generate(), previous=key) for _ in range(4)]

    found = answers(*[lambda one=one: signing_keys.set_signing_key(of(agent), agent, one) for one in changes])

    assert sum(isinstance(one, SigningKey) for one in found) == 1
    assert SigningKey.objects.of_agent(agent).live().count() == 1

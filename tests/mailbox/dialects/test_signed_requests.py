"""A request may be signed by the agent's Ed25519 key instead of carrying an API key, in every dialect."""

import json
from dataclasses import replace
from datetime import timedelta

import http_message_signatures as library
import httpx
import pytest
import time_machine
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.test import Client
from django.utils import timezone
from http_message_signatures.algorithms import ED25519

from mailbox.access import nonces
from mailbox.access.credentials import authentication
from mailbox.access.limits import rates, waits
from mailbox.dialects.base.authentication import COVERED_IF_SENT
from mailbox.models import Agent, AuditEvent, CapabilityGrant, SigningKey, SpentNonce, Task
from mailbox.upkeep import sweep
from mailbox.words import ed25519, signatures
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.api import Api, error_of, task_to
from tests.support.pauses import act_in_pauses, stop_rates
from tests.support.signing import Signer

pytestmark = pytest.mark.django_db

SEND = "/a2a/tasks"


@pytest.fixture
def signer(alice):
    return Signer(alice)


def fault_of(response):
    """Return the named reason of a refused signature."""
    assert response.status_code == 401
    return response.json()["message"].partition("(")[2].partition(")")[0]


def test_a_signed_send_takes_effect_once(signer, bob):
    request = signer.request("POST", SEND, task_to(bob))

    assert request.send().status_code == 200
    assert [fault_of(request.send()) for _ in range(3)] == ["replayed"] * 3
    assert Task.objects.count() == SpentNonce.objects.count() == 1


def test_a_refusal_spends_the_nonce_too(signer, mallory, bob):
    request = Signer(mallory).request("POST", SEND, task_to(bob))

    assert error_of(request.send()) == (403, "capability_missing")
    factories.grant(mallory, "a2a.send.*")
    assert fault_of(request.send()) == "replayed"
    assert not Task.objects.exists()


@pytest.mark.parametrize(
    "target", ["/a2a/queue", "/a2a/tasks/next", "/a2a/tasks/next?wait_ms=100", "/a2a/queue?limit=no"]
)
def test_a_request_that_changes_nothing_is_answered_once(signer, target):
    request = signer.request("GET", target)

    assert request.send().status_code in (200, 400)
    assert fault_of(request.send()) == "replayed"


def test_a_request_of_several_transactions_spends_its_nonce_in_the_first(signer, alice, bob):
    text = "\n".join(f"@delegate bob: part {number}" for number in range(3))
    request = signer.request("POST", "/a2a/inboxes/alice@local/delegate", {"text": text})

    assert request.send().status_code == 200
    assert fault_of(request.send()) == "replayed"
    assert (Task.objects.count(), SpentNonce.objects.count()) == (3, 1)


def test_the_nonce_is_spent_in_the_transaction_of_the_change(signer, bob, monkeypatch):
    request = signer.request("POST", SEND, task_to(bob))
    with monkeypatch.context() as patch:
        patch.setattr(type(AuditEvent.objects.all()), "bulk_create", lambda *rows: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            request.send()

    assert not SpentNonce.objects.exists()
    assert not Task.objects.exists()
    assert request.send().status_code == 200


def test_a_signature_counts_and_an_api_key_beside_it_does_not(signer, alice, olga, bob):
    good = signer.request("POST", SEND, task_to(bob))
    key = {"Authorization": f"Bearer {factories.key_of(olga)}"}

    wrong = replace(good, headers={**good.headers, **key, "Signature": "a2a=:AAAA:"}).send()
    right = replace(good, headers={**good.headers, **key}).send()

    assert fault_of(wrong) == "wrong"
    assert right.status_code == 200
    assert Task.objects.get().sender == alice.agent


def test_a_key_without_proof_signs_nothing(alice, bob):
    key = Ed25519PrivateKey.generate()
    Agent.objects.filter(pk=alice.agent.pk).update(pubkey=ed25519.public_of(key))
    headers = signatures.sign(key, method="GET", url=f"{settings.PUBLIC_URL}/a2a/queue")

    assert fault_of(Client(headers=headers).get("/a2a/queue")) == "unproven key"


def test_a_signature_for_another_hub_is_refused(signer, bob):
    request = signer.request("POST", SEND, task_to(bob), at="https://other.example")

    assert fault_of(request.send()) == "wrong"


@pytest.mark.parametrize("name", COVERED_IF_SENT)
def test_a_header_that_the_hub_acts_on_must_be_covered(signer, name):
    request = signer.request("GET", "/a2a/queue")

    assert fault_of(replace(request, headers={**request.headers, name: "one"}).send()) == "components"
    assert signer.request("GET", "/a2a/queue", headers={"A2A-Receive-Attempt-Id": "one"}).send().status_code == 200


def test_a_body_must_be_covered(signer, bob):
    request = replace(signer.request("POST", SEND), body=json.dumps(task_to(bob)).encode())

    assert fault_of(request.send()) == "components"


@pytest.mark.parametrize("spelt", ["alice@local", "alice%40local"])
def test_both_spellings_of_a_path_are_signed_alike(signer, spelt):
    assert signer.request("GET", f"/a2a/inboxes/{spelt}/tasks").send().status_code == 200


@pytest.mark.parametrize("spelt", ["alice@local/rest/tasks/x:subscribe", "alice%40local/rest/tasks/x:subscribe"])
def test_a_colon_of_a_route_may_stay_beside_an_encoded_name(signer, spelt):
    signed = signer.request("GET", f"/agents/{spelt}?A2A-Version=1.0").send()

    assert signed.json()["error"]["status"] == "NOT_FOUND"


def test_the_signatures_of_another_implementation_are_accepted(signer, alice, bob):
    class Keys(library.HTTPSignatureKeyResolver):
        def resolve_private_key(self, key_id):
            return signer.key

    body = json.dumps(task_to(bob)).encode()
    request = httpx.Request("POST", f"{settings.PUBLIC_URL}{SEND}", content=body)
    library.HTTPMessageSigner(signature_algorithm=ED25519, key_resolver=Keys()).sign(
        request,
        key_id=signer.pubkey,
        created=timezone.now(),
        expires=timezone.now() + timedelta(seconds=60),
        nonce="of-another-implementation",
        body=body,
    )
    names = ("Content-Digest", "Signature-Input", "Signature")
    client = Client(headers={name: request.headers[name] for name in names})

    assert client.generic("POST", SEND, body, "application/json").status_code == 200
    assert fault_of(client.generic("POST", SEND, body, "application/json")) == "replayed"


def test_failures_are_journalled_by_their_reason(signer, alice):
    request = signer.request("GET", "/a2a/queue")
    for _ in range(3):
        replace(request, target="/a2a/leases").send()
    authentication._failures["signature wrong"].noted_at = float("-inf")
    request.send()

    noted = AuditEvent.objects.get(kind=Kind.AUTHENTICATION_FAILED)
    assert noted.fields == {"reason": "signature wrong", "count": 3}


def test_a_stranger_at_its_rate_does_not_shut_out_a_signer_behind_the_same_address(signer, settings, monkeypatch):
    settings.WEB_WORKERS = 1
    settings.A2A_ADDRESS_REQUESTS_PER_S, settings.A2A_ADDRESS_REQUESTS_BURST = 1, 3
    stop_rates(monkeypatch)

    assert 429 in [Api().get("/a2a/queue").status_code for _ in range(5)]
    assert signer.call("GET", "/a2a/queue").status_code == 200
    rates.forget()


def test_a_request_beyond_the_agent_s_rate_spends_no_nonce(signer, settings, monkeypatch):
    settings.WEB_WORKERS = 1
    settings.A2A_AGENT_REQUESTS_PER_S, settings.A2A_AGENT_REQUESTS_BURST = 1, 2
    stop_rates(monkeypatch)

    statuses = [signer.request("GET", "/a2a/queue").send().status_code for _ in range(4)]

    assert statuses.count(429) >= 1
    assert SpentNonce.objects.count() == statuses.count(200)
    rates.forget()


def test_the_use_of_a_signing_key_is_noted(signer):
    signer.call("GET", "/a2a/queue")

    assert SigningKey.objects.get(pubkey=signer.pubkey).last_used_at is not None


def test_the_sweep_drops_nonces_some_time_after_their_signatures_expired(signer, olga):
    now = timezone.now()
    for name, age in (
        ("kept", nonces.KEPT_AFTER_EXPIRY - timedelta(seconds=30)),
        ("dropped", nonces.KEPT_AFTER_EXPIRY),
    ):
        SpentNonce.objects.create(pubkey=signer.pubkey, nonce=name, expires_at=now - age)

    sweep.steps(olga)["drop expired nonces"]()

    assert list(SpentNonce.objects.values_list("nonce", flat=True)) == ["kept"]


def test_the_sweep_drops_all_expired_nonces_in_several_transactions(signer, olga, monkeypatch):
    monkeypatch.setattr(nonces, "DROPPED_AT_ONCE", 2)
    expired_at = timezone.now() - nonces.KEPT_AFTER_EXPIRY - timedelta(seconds=1)
    for number in range(5):
        SpentNonce.objects.create(pubkey=signer.pubkey, nonce=str(number), expires_at=expired_at)

    assert sweep.steps(olga)["drop expired nonces"]() == 5
    assert not SpentNonce.objects.exists()


def test_a_wait_ends_when_its_signing_key_is_retired(signer, monkeypatch):
    act_in_pauses(
        monkeypatch, lambda: SigningKey.objects.update(retired_at=timezone.now()), waits.end_without_key, lambda: None
    )

    answer = signer.request("GET", "/a2a/tasks/next?wait_ms=5000").send()

    assert answer.status_code == 401
    assert "revoked" in answer.json()["message"]


def test_refusals_that_are_counted_later_do_not_spend_a_nonce_again(signer, alice, bob):
    CapabilityGrant.objects.all().delete()
    request = signer.request("POST", SEND, task_to(bob))
    statuses = [signer.request("POST", SEND, task_to(bob)).send().status_code for _ in range(25)]
    assert {request.send().status_code, *statuses} == {403}
    with time_machine.travel(timezone.now() + timedelta(minutes=2)):
        assert signer.request("GET", "/a2a/queue").send().status_code == 200
        assert signer.request("GET", "/a2a/queue").send().status_code == 200

"""An agent is authenticated by a client certificate that a trusted proxy passes on, and by no other."""

import base64
from ipaddress import ip_network
from typing import Any
from urllib.parse import quote

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from django.core.management import call_command
from django.test import Client

from mailbox.access.callers import Caller
from mailbox.access.credentials import keys
from mailbox.models import ApiKey, AuditEvent
from mailbox.words.certificates import fingerprint
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError, KeyLimitError, UnknownKeyError
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.client_certificates import certificate, pem

pytestmark = pytest.mark.django_db

PROXY = "10.0.0.9"
HEADER = "HTTP_X_CLIENT_CERT"


@pytest.fixture(autouse=True)
def behind_a_proxy(settings):
    settings.A2A_TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    settings.A2A_CLIENT_CERT_META = HEADER


@pytest.fixture
def own() -> x509.Certificate:
    return certificate()


@pytest.fixture
def bound(alice: Caller, own: x509.Certificate) -> ApiKey:
    return keys.bind_certificate(Caller.command_line(), factories.row_of(alice), pem(own))


def leases(header: str, *, peer: str = PROXY, name: str = HEADER, **environ: Any) -> Any:
    return Client().get("/a2a/leases", **{name: header, "REMOTE_ADDR": peer, **environ})


def of_envoy(one: x509.Certificate) -> str:
    return f'Hash=aa;Cert="{quote(pem(one), safe="")}";Subject=""'


SPELLINGS = {
    "nginx": lambda one: quote(pem(one), safe=""),
    "der": lambda one: base64.b64encode(one.public_bytes(Encoding.DER)).decode(),
    "rfc 9440": lambda one: f":{base64.b64encode(one.public_bytes(Encoding.DER)).decode()}:",
    "envoy": lambda one: (
        f'Hash=aa;Cert="{quote(pem(certificate()), safe="")}",Hash=bb;Cert="{quote(pem(one), safe="")}"'
    ),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_an_agent_is_authenticated_by_its_certificate(bound, own, spelling):
    assert leases(SPELLINGS[spelling](own)).status_code == 200


def test_a_send_by_certificate_is_journalled_as_the_agents(bound, own, alice, bob):
    body = f'{{"recipient": "{bob.name}", "intent_text": "x"}}'
    environ: dict[str, Any] = {HEADER: SPELLINGS["nginx"](own), "REMOTE_ADDR": PROXY}
    sent = Client().post("/a2a/tasks", body, content_type="application/json", **environ)

    assert sent.status_code == 200
    assert AuditEvent.objects.get(kind=Kind.TASK_SENT).actor == alice.name


def test_a_renewed_certificate_of_the_same_key_works(alice):
    key = ec.generate_private_key(ec.SECP256R1())
    keys.bind_certificate(Caller.command_line(), factories.row_of(alice), pem(certificate(key)))

    assert leases(SPELLINGS["der"](certificate(key))).status_code == 200


@pytest.mark.parametrize("peer", ["203.0.113.7", "127.0.0.1"])
def test_the_header_of_a_client_itself_is_dropped(bound, own, peer):
    assert leases(SPELLINGS["der"](own), peer=peer).status_code == 401


def test_without_the_setting_no_header_authenticates(bound, own, settings):
    settings.A2A_CLIENT_CERT_META = ""

    assert leases(SPELLINGS["der"](own)).status_code == 401


def test_envoys_own_header_counts_only_by_the_setting(bound, own, settings):
    name = "HTTP_X_FORWARDED_CLIENT_CERT"
    assert leases(SPELLINGS["envoy"](own), name=name).status_code == 401

    settings.A2A_CLIENT_CERT_META = name
    assert leases(SPELLINGS["envoy"](own), name=name).status_code == 200
    assert leases(SPELLINGS["envoy"](own), name=name, peer="203.0.113.7").status_code == 401


@pytest.mark.parametrize("wrong", ["", "x", "%00", "-----BEGIN CERTIFICATE-----", ":AAAA:", "A" * 20_000, "é"])
def test_text_that_is_no_certificate_is_refused(bound, wrong):
    assert leases(wrong).status_code == 401


def test_another_certificate_of_the_same_name_is_refused(bound):
    assert leases(SPELLINGS["der"](certificate())).status_code == 401


def test_an_api_key_decides_before_a_certificate(bound, own, bob):
    unknown = {"HTTP_AUTHORIZATION": "Bearer a2a_unknown"}
    assert leases(SPELLINGS["der"](own), **unknown).status_code == 401


def test_a_revoked_certificate_is_refused_and_not_bound_again(bound, own, alice):
    keys.revoke_key(Caller.command_line(), bound.public_id)

    assert leases(SPELLINGS["der"](own)).status_code == 401
    with pytest.raises(InvalidRequestError, match="bound before"):
        keys.bind_certificate(Caller.command_line(), factories.row_of(alice), pem(own))
    assert [row.fields for row in factories.journal(Kind.KEY_REVOKED)] == [
        {"owner": alice.name, "public_id": bound.public_id}
    ]


def test_an_agent_has_two_keys_and_certificates_at_most(alice):
    for _ in range(2):
        keys.bind_certificate(Caller.command_line(), factories.row_of(alice), pem(certificate()))

    with pytest.raises(KeyLimitError):
        keys.bind_certificate(Caller.command_line(), factories.row_of(alice), pem(certificate()))


def test_a_stranger_binds_no_certificate_to_another_agent(alice, mallory):
    with pytest.raises(CapabilityMissingError):
        keys.bind_certificate(mallory, factories.row_of(alice), pem(certificate()))

    assert not ApiKey.objects.exists()


def test_the_stored_digest_presented_as_a_key_opens_nothing(bound):
    refused = Client().get("/a2a/leases", headers={"Authorization": f"Bearer a2a_{bound.digest}"})

    assert refused.status_code == 401


def test_a_certificate_is_bound_on_the_command_line(alice, own, tmp_path, capsys):
    file = tmp_path / "cert.pem"
    file.write_text(pem(own))

    call_command("a2a", "keys", "add-cert", alice.name, str(file))

    assert fingerprint(pem(own)) in capsys.readouterr().out
    assert leases(SPELLINGS["der"](own)).status_code == 200


def test_a_certificate_is_not_rotated_into_a_key(bound, own):
    came: dict[str, Any] = {HEADER: SPELLINGS["der"](own), "REMOTE_ADDR": PROXY}
    response = Client().post("/a2a/keys/rotate", "{}", "application/json", **came)

    assert (response.status_code, response.json()["code"]) == (404, "unknown_key")
    bound.refresh_from_db()
    assert bound.expires_at is None
    assert ApiKey.objects.count() == 1


def test_operators_cannot_rotate_a_certificate_and_strangers_learn_nothing_of_it(bound, mallory):
    with pytest.raises(UnknownKeyError, match="certificate"):
        keys.rotate_key(Caller.command_line(), public_id=bound.public_id)
    with pytest.raises(CapabilityMissingError):
        keys.rotate_key(mallory, public_id=bound.public_id)

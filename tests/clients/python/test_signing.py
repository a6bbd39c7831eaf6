import importlib
import sys

import base58
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from a2a_hub_client.signing import Signer
from mailbox.words import ed25519
from mailbox.words.signatures import RequestParts, RequestSignature, check_digest, place_of

pytestmark = pytest.mark.one_database

BODY = b'{"a":1}'


def signed(url, body, *, method="POST"):
    """Return the signature that the hub reads, and the request that it covers."""
    headers = Signer(Ed25519PrivateKey.generate()).headers(method=method, url=url, body=body)
    signature = RequestSignature.read(headers["Signature-Input"], headers["Signature"])
    authority, target_uri = place_of(url)
    covered = {name.lower(): value for name, value in headers.items()}
    return signature, RequestParts(method=method, authority=authority, target_uri=target_uri, headers=covered)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:3000/a2a/tasks", "https://hub.example/a?b=c%20d", "https://hub.example:443", "http://[::1]:8/x"],
)
def test_the_hub_verifies_the_signature_of_a_request(url):
    signature, request = signed(url, BODY)

    assert signature.fits(request)
    signature.check_cover(["content-digest"])
    check_digest(request.headers["content-digest"], BODY)


def test_a_request_without_a_body_has_no_digest():
    signature, request = signed("http://hub/a", b"", method="GET")

    assert signature.fits(request)
    assert "content-digest" not in request.headers


def test_each_signature_has_a_nonce_of_its_own():
    signer = Signer(Ed25519PrivateKey.generate())
    made = {signer.headers(method="GET", url="http://hub/", now=1.0)["Signature-Input"] for _ in range(3)}

    assert len(made) == 3


def test_a_key_is_read_from_base58_and_from_pem():
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()

    assert Signer(ed25519.seed_of(key)).pubkey == Signer(pem).pubkey == Signer(key).pubkey == ed25519.public_of(key)


def test_a_text_that_is_no_key_is_refused():
    with pytest.raises(ValueError, match="32 bytes"):
        Signer(base58.b58encode(b"short").decode())


def test_a_missing_extra_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "base58", None)
    monkeypatch.delitem(sys.modules, "a2a_hub_client.signing")

    with pytest.raises(ImportError) as refused:
        importlib.import_module("a2a_hub_client.signing")

    assert str(refused.value) == 'Signed requests need the extra "signing": pip install "a2a-hub-client[signing]"'

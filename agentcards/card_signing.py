"""Signatures of cards: ES256 over canonical JSON, by keys that SECRET_KEY gives.

Sources: RFC 7515 (JWS), RFC 7638 (thumbprints), RFC 8785 (canonical JSON), A2A 1.0 "Agent card signing".
"""

import base64
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import rfc8785
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from django.conf import settings
from typing_extensions import TypedDict

from mailbox.words.secret_box import derived

JWKS_PATH = "/.well-known/jwks.json"
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # of P-256
_COORDINATE = 32  # bytes
_SIGNED_CARDS = 256  # whose signatures this process keeps


class Signature(TypedDict):
    """A signature as the card holds it: base64url without padding."""

    protected: str
    signature: str


class Jwk(TypedDict):
    kty: str
    crv: str
    x: str
    y: str
    kid: str
    use: str
    alg: str


def signed(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the card with its signature. Each card is signed once in a process, so that its bytes stay the same."""
    made = _signature(canonical(card), str(settings.SECRET_KEY), f"{settings.PUBLIC_URL}{JWKS_PATH}")
    return {**card, "signatures": [dict(made)]}


def canonical(card: Mapping[str, Any]) -> bytes:
    """Return the payload of a signature: canonical JSON of the card without its signatures and its empty values."""
    unsigned = {name: value for name, value in card.items() if name != "signatures"}
    return rfc8785.dumps(_without_empty(unsigned) or {})


def public_keys() -> list[Jwk]:
    """Return the keys that verify the signatures, the newest first: of SECRET_KEY and SECRET_KEY_FALLBACKS."""
    return [_jwk(str(secret)) for secret in dict.fromkeys((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))]


def key_id() -> str:
    """Return the thumbprint of the key that signs now."""
    return _jwk(str(settings.SECRET_KEY))["kid"]


@lru_cache(maxsize=_SIGNED_CARDS)
def _signature(payload: bytes, secret: str, jku: str) -> Signature:
    header = {"alg": "ES256", "kid": _jwk(secret)["kid"], "typ": "JOSE", "jku": jku}
    protected = _base64url(rfc8785.dumps(header))
    der = _private_key(secret).sign(f"{protected}.{_base64url(payload)}".encode(), ec.ECDSA(hashes.SHA256()))
    r, s = utils.decode_dss_signature(der)
    return {"protected": protected, "signature": _base64url(_bytes_of(r) + _bytes_of(s))}


@lru_cache
def _jwk(secret: str) -> Jwk:
    point = _private_key(secret).public_key().public_numbers()
    key = {"crv": "P-256", "kty": "EC", "x": _base64url(_bytes_of(point.x)), "y": _base64url(_bytes_of(point.y))}
    thumbprint = _base64url(hashlib.sha256(rfc8785.dumps(key)).digest())
    return {"kty": "EC", "crv": "P-256", "x": key["x"], "y": key["y"], "kid": thumbprint, "use": "sig", "alg": "ES256"}


@lru_cache
def _private_key(secret: str) -> ec.EllipticCurvePrivateKey:
    """Return the key of ``secret``. Twice as many bytes as the key has make each key about as probable."""
    material = derived(secret, b"a2a hub: card signatures 1") + derived(secret, b"a2a hub: card signatures 2")
    return ec.derive_private_key(int.from_bytes(material) % (_ORDER - 1) + 1, ec.SECP256R1())


def _without_empty(value: Any) -> Any:
    """Return the value without empty texts, lists and objects at any depth; None if nothing is left of it."""
    if isinstance(value, Mapping):
        return {name: left for name, part in value.items() if (left := _without_empty(part)) is not None} or None
    if isinstance(value, list):
        return [left for part in value if (left := _without_empty(part)) is not None] or None
    return None if value == "" else value


def _bytes_of(number: int) -> bytes:
    return number.to_bytes(_COORDINATE)


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

"""Ed25519 keys of agents: public keys in base58, private keys as the 32-byte seed in base58 or as PEM."""

from __future__ import annotations

import base58
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

_PRIME = 2**255 - 19
_WITHOUT_SIGN = 2**255 - 1
# The y coordinates of the eight points whose order divides 8. Every signature by such a key can be forged.
_SMALL_ORDER = {
    0,
    1,
    _PRIME - 1,
    *(
        int.from_bytes(bytes.fromhex(encoded), "little")
        for encoded in (
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        )
    ),
}


def problem_with(pubkey: str) -> str | None:
    """Return why a well-formed public key can prove nothing; None for a usable key.

    A point of small order and a point with a second encoding are refused. Source: RFC 8032, section 5.1.3.
    """
    y = int.from_bytes(base58.b58decode(pubkey), "little") & _WITHOUT_SIGN
    if y >= _PRIME:
        return "pubkey is not the canonical encoding of a point"
    return "pubkey is a point of small order, which proves nothing" if y in _SMALL_ORDER else None


def verifies(pubkey: str, signature: bytes, message: bytes) -> bool:
    """Whether ``signature`` is the key's signature of ``message``. ``pubkey`` is base58 of 32 bytes."""
    try:
        Ed25519PublicKey.from_public_bytes(base58.b58decode(pubkey)).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def public_of(key: Ed25519PrivateKey) -> str:
    """Return the public key in base58."""
    return base58.b58encode(key.public_key().public_bytes_raw()).decode()


def seed_of(key: Ed25519PrivateKey) -> str:
    """Return the private key as the text that `private_key` reads: its seed in base58."""
    return base58.b58encode(key.private_bytes_raw()).decode()


def private_key(text: str) -> Ed25519PrivateKey:
    """Return the private key in ``text``: the seed in base58, or PEM. Raises `ValueError`."""
    if "-----BEGIN" in text:
        key = load_pem_private_key(text.encode(), password=None)
        if not isinstance(key, Ed25519PrivateKey):
            raise ValueError("the PEM text holds a key of another kind than Ed25519")
        return key
    seed = base58.b58decode(text.strip())
    if len(seed) != 32:
        raise ValueError(f"the private key must decode to 32 bytes, got {len(seed)}")
    return Ed25519PrivateKey.from_private_bytes(seed)

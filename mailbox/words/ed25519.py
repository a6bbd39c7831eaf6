"""Ed25519 keys of agents, and proofs that the holder of a public key has the private key.

Public keys are base58. Private keys are the 32-byte seed in base58, or PEM. A holder gives a proof when it registers or
changes an agent's signing key.
"""

import base64
import binascii
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import base58
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from mailbox.words.envelopes import check_pubkey
from mailbox.words.errors import InvalidRequestError

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
VALID_FOR_MS = 24 * 3_600_000  # a proof may travel as a file
MOST_AHEAD_MS = 30_000


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


def statement(*, hub: str, display: str, pubkey: str, time_ms: int) -> bytes:
    """Return the text that the key signs. ``hub`` is the hub's public URL without a final slash."""
    lines = ["a2a-hub signing key", f"hub: {hub}", f"agent: {display}", f"pubkey: {pubkey}", f"time_ms: {time_ms}"]
    return "\n".join(lines).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyProof:
    """A public key, and the key's signature of its `statement`. ``time_ms`` is in Unix epoch milliseconds.

    ``previous_signature`` is the signature of the same statement by the agent's key until now; None without one.
    """

    pubkey: str
    time_ms: int
    signature: bytes
    previous_signature: bytes | None = None

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> Self:
        """Read a proof whose signatures are base64; raise `InvalidRequestError`. Other keys are ignored."""
        pubkey, time_ms = fields.get("pubkey"), fields.get("time_ms")
        if not isinstance(pubkey, str) or type(time_ms) is not int:
            raise InvalidRequestError({"pubkey": "and time_ms must be a text and a number"})
        check_pubkey(pubkey, "pubkey")
        previous = fields.get("previous_signature")
        return cls(
            pubkey=pubkey,
            time_ms=time_ms,
            signature=_bytes(fields.get("signature"), "signature"),
            previous_signature=None if previous is None else _bytes(previous, "previous_signature"),
        )

    @classmethod
    def made(
        cls,
        key: Ed25519PrivateKey,
        *,
        hub: str,
        display: str,
        previous: Ed25519PrivateKey | None = None,
        now: float | None = None,
    ) -> Self:
        """Return the proof of ``key`` for this agent at this hub, signed by the ``previous`` key, too."""
        pubkey, time_ms = public_of(key), int((time.time() if now is None else now) * 1000)
        text = statement(hub=hub, display=display, pubkey=pubkey, time_ms=time_ms)
        return cls(
            pubkey=pubkey,
            time_ms=time_ms,
            signature=key.sign(text),
            previous_signature=previous.sign(text) if previous else None,
        )

    def fields(self) -> dict[str, Any]:
        """Return the proof as JSON that `parse` reads."""
        previous = {"previous_signature": _text(self.previous_signature)} if self.previous_signature else {}
        return {"pubkey": self.pubkey, "time_ms": self.time_ms, "signature": _text(self.signature), **previous}

    def check(self, *, hub: str, display: str, now_ms: int) -> None:
        """Raise `InvalidRequestError` unless the key signed the statement lately, and can prove anything."""
        if problem := problem_with(self.pubkey):
            raise InvalidRequestError({"pubkey": problem.removeprefix("pubkey ")})
        if not now_ms - VALID_FOR_MS < self.time_ms <= now_ms + MOST_AHEAD_MS:
            raise InvalidRequestError({"time_ms": "must be a time of the last 24 hours"})
        text = statement(hub=hub, display=display, pubkey=self.pubkey, time_ms=self.time_ms)
        if not verifies(self.pubkey, self.signature, text):
            raise InvalidRequestError({"signature": f'is not the key\'s signature for "{display}" at {hub}'})

    def is_agreed_by(self, previous: str, *, hub: str, display: str) -> bool:
        """Whether the key ``previous`` signed the same statement."""
        text = statement(hub=hub, display=display, pubkey=self.pubkey, time_ms=self.time_ms)
        return self.previous_signature is not None and verifies(previous, self.previous_signature, text)


def _bytes(value: object, path: str) -> bytes:
    try:
        return base64.b64decode(value if isinstance(value, str) else "?", validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequestError({path: "must be base64"}) from error


def _text(signature: bytes) -> str:
    return base64.b64encode(signature).decode()

"""Proofs that the holder of a public key has the private key, as it registers or changes an agent's signing key."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mailbox.words import ed25519
from mailbox.words.envelopes import check_pubkey
from mailbox.words.errors import InvalidRequestError

VALID_FOR_MS = 24 * 3_600_000  # a proof may travel as a file
MOST_AHEAD_MS = 30_000


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
    def parse(cls, given: Mapping[str, Any]) -> Self:
        """Read a proof whose signatures are base64; raise `InvalidRequestError`. Other keys are ignored."""
        pubkey, time_ms = given.get("pubkey"), given.get("time_ms")
        if not isinstance(pubkey, str) or type(time_ms) is not int:
            raise InvalidRequestError({"pubkey": "and time_ms must be a text and a number"})
        check_pubkey(pubkey, "pubkey")
        previous = given.get("previous_signature")
        return cls(
            pubkey=pubkey,
            time_ms=time_ms,
            signature=_bytes(given.get("signature"), "signature"),
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
        pubkey, time_ms = ed25519.public_of(key), int((time.time() if now is None else now) * 1000)
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
        if problem := ed25519.problem_with(self.pubkey):
            raise InvalidRequestError({"pubkey": problem.removeprefix("pubkey ")})
        if not now_ms - VALID_FOR_MS < self.time_ms <= now_ms + MOST_AHEAD_MS:
            raise InvalidRequestError({"time_ms": "must be a time of the last 24 hours"})
        text = statement(hub=hub, display=display, pubkey=self.pubkey, time_ms=self.time_ms)
        if not ed25519.verifies(self.pubkey, self.signature, text):
            raise InvalidRequestError({"signature": f'is not the key\'s signature for "{display}" at {hub}'})

    def is_agreed_by(self, previous: str, *, hub: str, display: str) -> bool:
        """Whether the key ``previous`` signed the same statement."""
        text = statement(hub=hub, display=display, pubkey=self.pubkey, time_ms=self.time_ms)
        return self.previous_signature is not None and ed25519.verifies(previous, self.previous_signature, text)


def _bytes(given: object, path: str) -> bytes:
    try:
        return base64.b64decode(given if isinstance(given, str) else "?", validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequestError({path: "must be base64"}) from error


def _text(signature: bytes) -> str:
    return base64.b64encode(signature).decode()

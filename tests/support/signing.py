"""Signed requests of an agent, whole or changed on their way."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.test import Client
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.models import SigningKey
from mailbox.words import ed25519, signatures
from tests.support.api import assert_as_documented


@dataclass(frozen=True, kw_only=True)
class SignedRequest:
    """A request with all its headers. `send` sends it as it is."""

    method: str
    target: str  # the path and the query
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    def send(self) -> Any:
        return Client(headers=dict(self.headers)).generic(self.method, self.target, self.body, "application/json")


class Signer:
    """An agent that signs its requests by a proven key."""

    def __init__(self, caller: Caller) -> None:
        self.key = Ed25519PrivateKey.generate()
        self.pubkey = ed25519.public_of(self.key)
        assert caller.agent is not None
        SigningKey.objects.create(agent=caller.agent, pubkey=self.pubkey, proven_at=timezone.now())

    def request(
        self,
        method: str,
        target: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
        at: str | None = None,
        now: float | None = None,
    ) -> SignedRequest:
        """Return a signed request of JSON, and of ``headers``, which the signature covers.

        ``at`` is the address that is signed, None for the hub's public one.
        """
        raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        url = f"{at or settings.PUBLIC_URL}{target}"
        added = signatures.sign(self.key, method=method, url=url, body=raw, headers=headers, now=now)
        return SignedRequest(method=method, target=target, body=raw, headers={**(headers or {}), **added})

    def call(self, method: str, target: str, body: object = None, **how: Any) -> Any:
        """Send a signed request once; return its answer, which is as the OpenAPI document says."""
        response = self.request(method, target, body, **how).send()
        assert_as_documented(method, target.partition("?")[0], response)
        return response

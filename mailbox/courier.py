"""Callbacks on their way out: signed, through the outbound guard, one attempt at a time."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from concurrent.futures import ThreadPoolExecutor

from django.db import connection
from django.utils import timezone

from agentcards import outbound
from agentcards.errors import BlockedUrlError, ExternalServiceError
from mailbox import push, vault
from mailbox.models import PushDelivery
from mailbox.push import Outcome

TIMEOUT = 15.0  # seconds for one attempt, everything included
AT_ONCE = 8  # attempts under way together, so that one receiver that hangs delays no other


def deliver_due() -> int:
    """Make one attempt at every delivery that is due now; return how many were tried."""
    claimed = push.claim_due(limit=AT_ONCE)
    if not claimed:
        return 0
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        outcomes = list(pool.map(attempt, claimed))
    for delivery, outcome in zip(claimed, outcomes, strict=True):
        push.report(delivery, outcome)
    return len(claimed)


def deliver_for(seconds: float, *, pause: float = 0.5) -> None:
    """Keep delivering for about ``seconds``, holding no connection to the database between looks."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not deliver_due():
            if not connection.in_atomic_block:
                connection.close()
            time.sleep(pause)


def attempt(delivery: PushDelivery) -> Outcome:
    """Send one delivery; whatever goes wrong is an outcome. No row is read or written."""
    body = delivery.body.encode()
    try:
        secret = vault.unseal(delivery.sealed_secret) if delivery.sealed_secret else None
        answer = outbound.exchange(
            "POST", delivery.url, within=TIMEOUT, headers=headers(str(delivery.delivery_id), body, secret), content=body
        )
    except vault.UnreadableSecretError:
        return Outcome(status=None, problem="its secret was encrypted under another SECRET_KEY")
    except (BlockedUrlError, ExternalServiceError) as error:
        return Outcome(status=None, problem=error.message)
    problem = "" if answer.is_success else f"the receiver answered {answer.status}: {answer.text[:500]}"
    return Outcome(status=answer.status, problem=problem)


def headers(delivery_id: str, body: bytes, secret: str | None) -> dict[str, str]:
    """Return the headers of one attempt: Agnostic's signature over the bytes, and those of Standard Webhooks."""
    found = {"Content-Type": "application/json", "User-Agent": "A2A-Hub/callbacks", "webhook-id": delivery_id}
    stamp = str(int(timezone.now().timestamp()))
    found["webhook-timestamp"] = stamp
    if secret is None:
        return found
    key = secret.encode()
    found["X-Signature"] = "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest()
    signed = f"{delivery_id}.{stamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    found["webhook-signature"] = "v1," + base64.b64encode(digest).decode()
    return found

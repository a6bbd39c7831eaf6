"""Finds the agent that signed a request."""

from __future__ import annotations

from django.utils import timezone

from mailbox.access import nonces
from mailbox.access.callers import Caller
from mailbox.access.credentials import authentication, last_used
from mailbox.access.nonces import Nonce
from mailbox.models import Agent, AuditEvent, SigningKey
from mailbox.words.errors import BadSignatureError, SignatureFault
from mailbox.words.signatures import RequestSignature


def authenticate(
    signature: RequestSignature, *, source: AuditEvent.Source, request_id: str = "", address: str = ""
) -> Caller:
    """Return the agent whose live key made ``signature``, which the caller of this function has verified.

    One query reads the key, the agent, its live grants and whether the nonce was spent. The caller carries the nonce:
    the first transaction that the request commits spends it. Raises `BadSignatureError` for an unknown, an unproven
    and a retired key, and for a spent nonce.
    """
    authentication.note_failures()
    now = timezone.now()
    rows = SigningKey.objects.credential_rows(
        signature.pubkey, signature.nonce, now=now, unused_since=now - last_used.NOTED_EVERY
    )
    if not rows:
        raise _no_key(signature.pubkey)
    key_pk, use_is_due, is_spent, agent_pk, display, pubkey, *_ = rows[0]
    if is_spent:
        raise nonces.replayed()
    if use_is_due:
        last_used.note(SigningKey, key_pk, now)
    return Caller(
        name=display,
        source=source,
        agent=Agent.from_identity(agent_pk, display, pubkey),
        request_id=request_id,
        grants=tuple(authentication.grant_of(row[6:]) for row in rows if row[6] is not None),
        address=address,
        nonce=Nonce(signature.pubkey, signature.nonce, signature.expires_at),
    )


def _no_key(pubkey: str) -> BadSignatureError:
    if SigningKey.objects.filter(pubkey=pubkey).exists():
        return BadSignatureError(SignatureFault.UNKNOWN_KEY, "The key was retired.")
    if Agent.objects.filter(pubkey=pubkey).exists():
        return BadSignatureError(
            SignatureFault.UNPROVEN_KEY, "The key is registered, but its holder has not proved that it has it."
        )
    return BadSignatureError(SignatureFault.UNKNOWN_KEY, "No agent has registered this key.")

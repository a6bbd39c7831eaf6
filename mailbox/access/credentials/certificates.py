"""Client certificates, which a trusted proxy passes on. A certificate is stored as an API key of its agent."""

from __future__ import annotations

from mailbox.access import audit, own_agents
from mailbox.access.callers import Caller
from mailbox.access.credentials import keys
from mailbox.journal import entries
from mailbox.models import Agent, ApiKey
from mailbox.words import certificates
from mailbox.words.errors import InvalidRequestError, KeyLimitError


def bind(caller: Caller, agent: Agent, certificate: str) -> ApiKey:
    """Let the holder of the public key in ``certificate`` act as ``agent`` without an API key. Return the new row.

    The row counts among the agent's keys, expires as a new key does, and is revoked as a key is. Its digest is the hex
    SHA-256 of the certificate's SubjectPublicKeyInfo. Needs ``a2a.capabilities.grant``, unless the caller is the
    agent. Raises `InvalidRequestError` for text that is no certificate and for a public key that was bound before.
    Raises `CapabilityMissingError`, and `KeyLimitError` if the agent has two live keys. Locks the agent's row; journals
    ``key_added``.
    """
    caller.must_do_more_than_send()
    own_agents.refuse_credentials(agent)
    fingerprint = certificates.fingerprint(certificate)
    if fingerprint is None:
        raise InvalidRequestError({"certificate": "must be an X.509 certificate, as PEM or as DER in base64"})
    public_id = certificates.public_id(fingerprint)
    with audit.decision(caller) as journal:
        keys.require_own(caller, agent, agent.display, journal)
        keys.lock_owner(agent)
        if ApiKey.objects.filter(public_id=public_id).exists():
            raise InvalidRequestError({"certificate": "has a public key that was bound before; make a new key pair"})
        if ApiKey.objects.live(journal.now).filter(agent=agent).count() >= keys.LIVE_KEYS_PER_OWNER:
            raise KeyLimitError(f"{agent} already has {keys.LIVE_KEYS_PER_OWNER} live keys. Revoke one first.")
        expires_at, renews = keys.of_new(caller, None, journal.now)
        row = ApiKey.objects.create(
            public_id=public_id,
            digest=fingerprint,
            created_at=journal.now,
            expires_at=expires_at,
            renews=renews,
            made_by=caller.credential,
            agent=agent,
        )
        journal.beside(entries.key_added(agent.display, public_id))
    return row

"""Agents and grants as JSON. Only the answer that creates an API key or a private key shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mailbox.access.agents.registration import Registration
from mailbox.access.callers import Caller
from mailbox.access.credentials.keys import NewKey, Rotation
from mailbox.dialects.covenant.wire import agent_id, json, ms
from mailbox.models import Agent, ApiKey, CapabilityGrant
from mailbox.words.times import epoch_ms

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.covenant import admin_answers as answers


def registration(made: Registration) -> dict[str, Any]:
    """Render a new agent with its secrets, which no later answer shows."""
    return {
        "kind": "a2a_agent",
        "agent": agent_id(made.agent),
        "private_key": made.private_key,
        "api_key": made.api_key,
    }


def me(caller: Caller) -> dict[str, Any]:
    agent = agent_id(caller.agent) if caller.agent else None
    person = None if agent else caller.name.removeprefix("user:")
    return {"kind": "a2a_me", "agent": agent, "person": person, "role": caller.role}


def agent_entry(row: Agent, *, is_open: bool) -> dict[str, Any]:
    """Render an agent with the reason of its pause. ``is_open``: callers without a key may send to it."""
    return {
        "kind": "a2a_agent_entry",
        "agent": agent_id(row),
        "created_at_ms": epoch_ms(row.created_at),
        "paused_at_ms": ms(row.paused_at),
        "paused_reason": row.paused_reason or None,
        "is_open": is_open,
    }


def key(made: NewKey) -> dict[str, Any]:
    """Render a new API key with its secret, which no later answer shows."""
    return {
        "kind": "a2a_key",
        "public_id": made.row.public_id,
        "api_key": made.secret,
        "expires_at": ms(made.row.expires_at),
    }


def certificate(row: ApiKey) -> dict[str, Any]:
    """Render a client certificate that was bound to an agent. ``public_key_sha256`` is in hex."""
    return {
        "kind": "a2a_certificate",
        "public_id": row.public_id,
        "agent": row.owner,
        "public_key_sha256": row.digest,
        "expires_at": ms(row.expires_at),
    }


def rotated(made: Rotation) -> dict[str, Any]:
    """Render the successor of a key."""
    return {
        **key(made.new),
        "kind": "a2a_key_rotated",
        "replaces": made.new.row.replaces,
        "overlap_ends_at": epoch_ms(made.overlap_ends_at),
    }


def key_revoked(rows: Sequence[ApiKey]) -> dict[str, Any]:
    """Render the answer to the revocation of the first key, and of the keys made with it."""
    return {"kind": "a2a_key_revoked", "public_id": rows[0].public_id, "also": [row.public_id for row in rows[1:]]}


def paused(row: Agent) -> dict[str, Any]:
    """Render a paused agent with the reason."""
    return {
        "kind": "a2a_agent_paused",
        "agent": agent_id(row),
        "paused_at_ms": ms(row.paused_at),
        "reason": row.paused_reason,
    }


def granted(row: CapabilityGrant) -> dict[str, Any]:
    """Render the answer to a new grant."""
    return {
        "kind": "capability_granted",
        "grant_id": row.grant_id,
        "subject_display": row.subject.display,
        "action": row.action,
    }


def revoked(row: CapabilityGrant) -> dict[str, Any]:
    """Render the answer to the revocation of a grant."""
    return {"kind": "capability_revoked", "grant_id": row.grant_id, "revoked_at_ms": ms(row.revoked_at)}


def capability(row: CapabilityGrant) -> answers.Capability:
    """Render a grant, live, expired, used up or revoked."""
    return {
        "grant_id": row.grant_id,
        "subject": agent_id(row.subject),
        "action": row.action,
        "scope": json(row.scope),
        "granted_by": row.granted_by,
        "expires_at": ms(row.expires_at),
        "max_uses": row.max_uses,
        "uses": row.uses,
        "created_at_ms": epoch_ms(row.created_at),
        "revoked_at_ms": ms(row.revoked_at),
    }

"""The bodies and queries of the routes for grants, agents, keys and the journal."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field

from mailbox.access.credentials.public_routes import HIGHEST_RATE
from mailbox.dialects.base.fields import MAX_DATE_MS, AgentField, DateMs, Exact, Integer, QueryInteger, Text
from mailbox.dialects.covenant.requests import ListQuery


class GrantBody(Exact):
    """The capability to grant.

    ``scope`` limits the grant to a peer, a task, a lease or a duplicate risk. ``max_uses`` limits how often it is used.
    """

    subject: AgentField
    action: Text
    scope: dict[str, Any] | None = None
    expires_at: DateMs | None = None
    max_uses: Integer | None = Field(None, ge=1, le=2**31 - 1)


class RevokeBody(Exact):
    """The grant to revoke."""

    grant_id: UUID


class KeyProofBody(Exact):
    """The signature, in base64, of the statement in ``docs/guides/sign-requests.md``, by the ``pubkey`` beside it."""

    time_ms: DateMs
    signature: Text


class AgentBody(Exact):
    """The agent to register. Without a ``pubkey`` the hub makes a key pair.

    A ``pubkey`` signs requests once it was proved: by ``proof``, or later.
    """

    display: Text
    pubkey: Text | None = None
    proof: KeyProofBody | None = None


class PauseBody(Exact):
    """Why the agent is paused."""

    reason: Text


class ResumeBody(Exact):
    """Why the agent is resumed."""

    reason: Text = ""


class KeyBody(Exact):
    """The owner of the new key: an agent or, for automation, a person. Without either the caller gets the key."""

    agent: AgentField | None = None
    username: Text | None = None
    expires_at: DateMs | None = None


class RotateKeyBody(Exact):
    """How long the old key stays valid beside the new key."""

    overlap_ms: Integer = Field(3_600_000, ge=60_000, le=604_800_000)


class RevokeKeyBody(Exact):
    """The key to revoke, by its public id. ``with_made`` also revokes the keys that were made with it."""

    public_id: Text
    with_made: bool = Field(False, strict=True)


class RouteBody(Exact):
    """The agent that the new public route acts as, and the limit of its requests a minute.

    Without ``rate_limit`` the operator's setting counts.
    """

    agent: AgentField
    rate_limit: Integer | None = Field(None, ge=1, le=HIGHEST_RATE)


class RevokeRouteBody(Exact):
    """The public route to revoke, by its public id: the eight characters after ``p_`` in its URL."""

    public_id: Text


class AuditQuery(ListQuery):
    limit: QueryInteger = Field(20, ge=1, le=1000)
    since_ms: QueryInteger | None = Field(None, ge=0, le=MAX_DATE_MS)

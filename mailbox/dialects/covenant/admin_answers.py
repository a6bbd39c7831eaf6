"""The answers of the routes for grants, agents, keys and the journal, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel
from typing_extensions import TypedDict

from mailbox.dialects.base.wire import AgentId
from mailbox.dialects.covenant.answers import JournalEvent


class Granted(BaseModel):
    kind: Literal["capability_granted"]
    grant_id: UUID
    subject_display: str
    action: str


class Revoked(BaseModel):
    kind: Literal["capability_revoked"]
    grant_id: UUID
    revoked_at_ms: int


class Capability(TypedDict):
    """A grant. ``expires_at`` is in Unix epoch milliseconds. ``max_uses`` null means no limit."""

    grant_id: UUID
    subject: AgentId
    action: str
    scope: dict[str, Any]
    granted_by: str
    expires_at: int | None
    max_uses: int | None
    uses: int
    created_at_ms: int
    revoked_at_ms: int | None


class CapabilityList(BaseModel):
    kind: Literal["capabilities"]
    capabilities: list[Capability]
    next_cursor: str | None


class RegisteredAgent(BaseModel):
    """The new agent with its secrets, which are shown only here.

    ``private_key`` is null if the request had a ``pubkey``.
    """

    kind: Literal["a2a_agent"]
    agent: AgentId
    private_key: str | None
    api_key: str


class Me(BaseModel):
    """The owner of the request's key, signature or certificate: an ``agent``, or a ``person`` by name.

    The other one is null. ``role`` is the role of a person, and null for an agent.
    """

    kind: Literal["a2a_me"]
    agent: AgentId | None
    person: str | None
    role: Literal["viewer", "operator", "admin"] | None


class ListedAgents(BaseModel):
    kind: Literal["a2a_agents"]
    agents: list[AgentId]
    next_cursor: str | None


class AgentEntry(BaseModel):
    """An agent. ``paused_at_ms`` and ``paused_reason`` are null unless it is paused.

    ``is_open``: callers without a key may send tasks to it.
    """

    kind: Literal["a2a_agent_entry"]
    agent: AgentId
    created_at_ms: int
    paused_at_ms: int | None
    paused_reason: str | None
    is_open: bool


class AgentPaused(BaseModel):
    """The agent's tasks stay queued until it is resumed."""

    kind: Literal["a2a_agent_paused"]
    agent: AgentId
    paused_at_ms: int
    reason: str


class AgentResumed(BaseModel):
    kind: Literal["a2a_agent_resumed"]
    agent: AgentId


class KeyAdded(BaseModel):
    """The new key, which is shown only here. ``expires_at`` is in Unix epoch milliseconds, null for no expiry."""

    kind: Literal["a2a_key"]
    public_id: str
    api_key: str
    expires_at: int | None


class KeyRotated(BaseModel):
    """The new key, which is shown only here, and the time when the key of this request expires."""

    kind: Literal["a2a_key_rotated"]
    public_id: str
    api_key: str
    expires_at: int | None
    replaces: str
    overlap_ends_at: int


class KeyRevoked(BaseModel):
    """The public ids of the key and, with ``with_made``, of the keys that were made with it."""

    kind: Literal["a2a_key_revoked"]
    public_id: str
    also: list[str]


class AuditEvents(BaseModel):
    kind: Literal["audit_events"]
    events: list[JournalEvent]
    next_cursor: str | None

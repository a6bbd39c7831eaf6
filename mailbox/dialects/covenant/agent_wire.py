"""Agents, peers, quotas and signing keys as JSON. Only the answer that registers an agent shows its secrets."""

from datetime import datetime
from typing import Any, Literal

from typing_extensions import TypedDict

from mailbox.access.agents.registration import Registration
from mailbox.access.callers import Caller
from mailbox.access.limits import quota_usage
from mailbox.dialects.base.wire import AgentId, agent_id
from mailbox.dialects.covenant.wire import choice, ms
from mailbox.models import Agent, Peer, SigningKey
from mailbox.words.times import epoch_ms


class RegisteredAgent(TypedDict):
    """The new agent with its secrets, which are shown only here.

    ``private_key`` is null if the request had a ``pubkey``.
    """

    kind: Literal["a2a_agent"]
    agent: AgentId
    private_key: str | None
    api_key: str


def registered(made: Registration) -> RegisteredAgent:
    """Render a new agent with its secrets, which no later answer shows."""
    return {
        "kind": "a2a_agent",
        "agent": agent_id(made.agent),
        "private_key": made.private_key,
        "api_key": made.api_key,
    }


class Me(TypedDict):
    """The owner of the request's key, signature or certificate: an ``agent``, or a ``person`` by name.

    The other one is null. ``role`` is the role of a person, and null for an agent.
    """

    kind: Literal["a2a_me"]
    agent: AgentId | None
    person: str | None
    role: Literal["viewer", "operator", "admin"] | None


def me(caller: Caller) -> Me:
    agent = agent_id(caller.agent) if caller.agent else None
    person = None if agent else caller.name.removeprefix("user:")
    return {"kind": "a2a_me", "agent": agent, "person": person, "role": choice(caller.role)}


class ListedAgents(TypedDict):
    kind: Literal["a2a_agents"]
    agents: list[AgentId]
    next_cursor: str | None


class AgentEntry(TypedDict):
    """An agent. ``paused_at_ms`` and ``paused_reason`` are null unless it is paused.

    ``is_open``: callers without a key may send tasks to it.
    """

    kind: Literal["a2a_agent_entry"]
    agent: AgentId
    created_at_ms: int
    paused_at_ms: int | None
    paused_reason: str | None
    is_open: bool


def agent_entry(row: Agent, *, is_open: bool) -> AgentEntry:
    """Render an agent with the reason of its pause. ``is_open``: callers without a key may send to it."""
    return {
        "kind": "a2a_agent_entry",
        "agent": agent_id(row),
        "created_at_ms": epoch_ms(row.created_at),
        "paused_at_ms": ms(row.paused_at),
        "paused_reason": row.paused_reason or None,
        "is_open": is_open,
    }


class AgentPaused(TypedDict):
    """The agent's tasks stay queued until it is resumed."""

    kind: Literal["a2a_agent_paused"]
    agent: AgentId
    paused_at_ms: int
    reason: str


def paused(row: Agent) -> AgentPaused:
    """Render a paused agent with the reason."""
    return {
        "kind": "a2a_agent_paused",
        "agent": agent_id(row),
        "paused_at_ms": choice(ms(row.paused_at)),
        "reason": row.paused_reason,
    }


class AgentResumed(TypedDict):
    kind: Literal["a2a_agent_resumed"]
    agent: AgentId


class WirePeer(TypedDict):
    """A peer. ``agent`` is the agent whose key it uses.

    The hub sets ``status`` and the times, the peer the other fields.
    """

    agent: AgentId
    peer_id: str
    name: str
    url: str
    capabilities: Any
    status: Literal["online", "suspect", "offline"]
    first_seen_at_ms: int
    last_seen_at_ms: int


def peer(row: Peer, now: datetime) -> WirePeer:
    return {
        "agent": agent_id(row.agent),
        "peer_id": row.peer_id,
        "name": row.name,
        "url": row.url,
        "capabilities": row.announced,
        "status": choice(row.status(now)),
        "first_seen_at_ms": epoch_ms(row.first_seen_at),
        "last_seen_at_ms": epoch_ms(row.last_seen_at),
    }


class ListedPeers(TypedDict):
    kind: Literal["a2a_peers"]
    peers: list[WirePeer]
    next_cursor: str | None


class QuotaUsage(TypedDict):
    """One quota. ``used`` is null for a rate. ``is_own`` is false for the setting. ``recipient`` null: all of them."""

    quota: str
    recipient: str | None
    used: int | None
    limit: int
    is_own: bool


def quota(usage: quota_usage.Usage) -> QuotaUsage:
    return {
        "quota": usage.name,
        "recipient": usage.recipient or None,
        "used": usage.used,
        "limit": usage.limit,
        "is_own": usage.is_own,
    }


class ListedQuotas(TypedDict):
    kind: Literal["a2a_quotas"]
    quotas: list[QuotaUsage]


class WireSigningKey(TypedDict):
    """A signing key of an agent. ``retired_at_ms`` null: it signs requests now."""

    pubkey: str
    proven_at_ms: int
    retired_at_ms: int | None


def signing_key(row: SigningKey) -> WireSigningKey:
    return {
        "pubkey": row.pubkey,
        "proven_at_ms": epoch_ms(row.proven_at),
        "retired_at_ms": ms(row.retired_at),
    }


class ListedSigningKeys(TypedDict):
    """The signing keys, the oldest first. ``agent`` has the public key that names the agent for ever."""

    kind: Literal["a2a_signing_keys"]
    agent: AgentId
    signing_keys: list[WireSigningKey]

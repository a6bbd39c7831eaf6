"""Agents, people, keys, public routes, grants and quotas of a hub."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from msgspec import field

from a2a_hub_client.models.tasks import AgentId
from a2a_hub_client.models.wire import Moment, Wire

if TYPE_CHECKING:
    PersonRole = Literal["viewer", "operator", "admin"]
else:  # a later hub may have more words
    PersonRole = str


class Me(Wire, frozen=True, kw_only=True):
    """The owner of the key: an ``agent``, or a ``person`` by name. ``role`` is the role of a person."""

    agent: AgentId | None
    person: str | None
    role: PersonRole | None


class AgentEntry(Wire, frozen=True, kw_only=True):
    """An agent. ``is_open``: callers without a key may send tasks to it."""

    agent: AgentId
    created_at: Moment = field(name="created_at_ms")
    paused_at: Moment | None = field(name="paused_at_ms", default=None)
    paused_reason: str | None = None
    is_open: bool = False


class NewAgent(Wire, frozen=True, kw_only=True):
    """A new agent with its secrets, which no later answer shows. ``private_key`` None: the agent has its own."""

    agent: AgentId
    api_key: str
    private_key: str | None = None


class AgentPaused(Wire, frozen=True, kw_only=True):
    """The agent's tasks stay queued until it is resumed."""

    agent: AgentId
    paused_at: Moment = field(name="paused_at_ms")
    reason: str


class Quota(Wire, frozen=True, kw_only=True):
    """One quota. ``used`` is None for a rate. ``is_own`` False: it is the hub's setting.

    ``recipient`` None: it counts tasks for all recipients.
    """

    quota: str
    limit: int
    is_own: bool
    used: int | None = None
    recipient: str | None = None


class SigningKey(Wire, frozen=True, kw_only=True):
    """A signing key of an agent. ``retired_at`` None: it signs requests now."""

    pubkey: str
    proven_at: Moment = field(name="proven_at_ms")
    retired_at: Moment | None = field(name="retired_at_ms", default=None)


class Key(Wire, frozen=True, kw_only=True):
    """An API key without its secret, or a client certificate. It belongs to an ``agent`` or to a ``person``.

    ``made_by`` is the public id of the key with which it was made, ``replaces`` that of the key that it succeeds.
    """

    public_id: str
    created_at: Moment = field(name="created_at_ms")
    agent: AgentId | None = None
    person: str | None = None
    is_certificate: bool = False
    made_by: str | None = None
    replaces: str | None = None
    expires_at: Moment | None = None
    revoked_at: Moment | None = field(name="revoked_at_ms", default=None)
    last_used_at: Moment | None = field(name="last_used_at_ms", default=None)


class NewKey(Wire, frozen=True, kw_only=True):
    """A new API key, which no later answer shows. ``expires_at`` None: it does not expire."""

    public_id: str
    api_key: str
    expires_at: Moment | None = None


class RotatedKey(NewKey, frozen=True, kw_only=True):
    """The successor of a key. The key that it ``replaces`` is valid until ``overlap_ends_at``."""

    replaces: str
    overlap_ends_at: Moment


class RevokedKey(Wire, frozen=True, kw_only=True):
    """The public ids of a revoked key, and of the keys made with it that were revoked, too."""

    public_id: str
    also: list[str] = []


class Person(Wire, frozen=True, kw_only=True):
    """A person. ``role`` is the strongest of the ``groups``, None for a person who may not use the hub."""

    name: str
    groups: list[str]
    is_active: bool
    created_at: Moment = field(name="created_at_ms")
    role: PersonRole | None = None
    is_staff: bool = False
    has_second_factor: bool = False
    last_sign_in_at: Moment | None = field(name="last_sign_in_at_ms", default=None)


class Route(Wire, frozen=True, kw_only=True):
    """A public route: a secret URL that acts as an agent. ``rate_limit`` is in requests a minute."""

    public_id: str
    agent: AgentId
    rate_limit: int
    created_at: Moment = field(name="created_at_ms")
    revoked_at: Moment | None = field(name="revoked_at_ms", default=None)
    last_used_at: Moment | None = field(name="last_used_at_ms", default=None)


class NewRoute(Wire, frozen=True, kw_only=True):
    """A new public route. Its ``url`` is a secret, which no later answer shows."""

    public_id: str
    url: str


class Grant(Wire, frozen=True, kw_only=True):
    """A grant of a capability. ``max_uses`` None: it has no limit."""

    id: UUID = field(name="grant_id")
    subject: AgentId
    action: str
    scope: dict[str, Any]
    granted_by: str
    uses: int
    created_at: Moment = field(name="created_at_ms")
    expires_at: Moment | None = None
    max_uses: int | None = None
    revoked_at: Moment | None = field(name="revoked_at_ms", default=None)


class NewGrant(Wire, frozen=True, kw_only=True):
    """The id of a new grant, with its subject and its action."""

    id: UUID = field(name="grant_id")
    subject: str = field(name="subject_display")
    action: str


class Peer(Wire, frozen=True, kw_only=True):
    """A peer that sent heartbeats. ``agent`` is the agent whose key it uses."""

    agent: AgentId
    peer_id: str
    name: str
    url: str
    status: str
    first_seen_at: Moment = field(name="first_seen_at_ms")
    last_seen_at: Moment = field(name="last_seen_at_ms")
    capabilities: Any = None

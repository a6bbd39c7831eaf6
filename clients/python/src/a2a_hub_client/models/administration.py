"""Agents, people, keys, routes, grants and quotas of a hub, and what operators read and repair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from msgspec import field

from a2a_hub_client.models.tasks import AgentId, QueueEntry, Result, Status
from a2a_hub_client.models.wire import Moment, Span, Wire

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


class JournalEvent(Wire, frozen=True, kw_only=True):
    """A row of the journal. ``seq`` numbers the changes of one task, from 1; it is None in other rows.

    Only people get ``id`` and ``address``, the network address of the client.
    """

    kind: str
    actor: str
    at: Moment = field(name="at_ms")
    source: str
    data: dict[str, Any]
    task_id: UUID | None = None
    seq: int | None = None
    request_id: str | None = None
    id: int | None = None
    address: str | None = None


class HubStatus(Wire, frozen=True, kw_only=True):
    """The newest tasks that are not resolved, and the newest pending results."""

    tasks: list[QueueEntry]
    results: list[Result]


class RepairOutcome(Wire, frozen=True, kw_only=True):
    """The outcome of a repair. ``result`` is None after a requeue."""

    task_id: UUID
    action: str
    state: str
    attempt: int
    result: Result | None = None


class RetryPolicy(Wire, frozen=True, kw_only=True):
    """The limits of a pass of the retry gate. Without ``enabled`` it is a dry run."""

    enabled: bool
    min_lease_age: Span = field(name="min_lease_age_ms")
    max_attempts: int
    max_requeues: int
    scan_limit: int


class RetriedTask(Wire, frozen=True, kw_only=True):
    """A task that the pass requeued, or would requeue if it were enabled."""

    task_id: UUID
    lease_id: UUID
    attempt: int
    idempotency_key: str


class SkippedTask(Wire, frozen=True, kw_only=True):
    """A leased task that the pass left alone, with the reason."""

    task_id: UUID
    reason: str
    attempt: int
    lease_age: Span = field(name="lease_age_ms")


class RetryReport(Wire, frozen=True, kw_only=True):
    """The outcome of one pass of the retry gate."""

    policy: RetryPolicy
    considered: int
    requeued: list[RetriedTask]
    would_requeue: list[RetriedTask]
    skipped: list[SkippedTask]


class ReplayEntry(Wire, frozen=True, kw_only=True):
    """A cached result. ``hits`` counts the duplicates that it answered."""

    id: int
    sender_pubkey: str = field(name="sender_pubkey_b58")
    recipient_pubkey: str = field(name="recipient_pubkey_b58")
    task_kind: str
    key: str
    source_task_id: UUID
    status: Status
    hits: int
    stored_at: Moment = field(name="stored_at_ms")
    last_hit_at: Moment | None = field(name="last_hit_at_ms", default=None)
    expires_at: Moment | None = field(name="expires_at_ms", default=None)


class DeliveryAttempt(Wire, frozen=True, kw_only=True):
    """One attempt to deliver a callback. ``status`` is None when the receiver did not answer."""

    number: int
    at: Moment = field(name="at_ms")
    problem: str
    status: int | None = None


class Delivery(Wire, frozen=True, kw_only=True):
    """A callback or an event of a webhook, and its attempts. ``event`` None: it is a callback."""

    id: UUID = field(name="delivery_id")
    task_id: UUID
    sender: AgentId
    url: str
    signed: bool
    state: str
    attempts: int
    created_at: Moment = field(name="created_at_ms")
    event: str | None = None
    next_attempt_at: Moment | None = field(name="next_attempt_at_ms", default=None)
    delivered_at: Moment | None = field(name="delivered_at_ms", default=None)
    log: list[DeliveryAttempt] = []


class Finding(Wire, frozen=True, kw_only=True):
    """The first problem of a verification: the block by its ids, and the row, each None without one."""

    problem: str
    first_id: int | None = None
    last_id: int | None = None
    row: int | None = None


class SealHead(Wire, frozen=True, kw_only=True):
    """The last block that was checked, by its last row and its hash."""

    last_id: int
    hash: str


class Verification(Wire, frozen=True, kw_only=True):
    """A verification of some blocks of the journal. ``next_after`` None: no block is left.

    ``unproven`` says why the newest blocks are not proven, "" if they are.
    """

    whole: bool
    blocks: int
    rows: int
    unsealed: int
    finding: Finding | None = None
    erased: list[int] = []
    head: SealHead | None = None
    next_after: int | None = None
    unproven: str = ""

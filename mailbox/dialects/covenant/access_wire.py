"""Grants, API keys, people and public routes as JSON. Only the answer that adds a key or a route shows its secret."""

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from typing_extensions import TypedDict

from mailbox.access.credentials import authentication
from mailbox.access.credentials.keys import NewKey, Rotation
from mailbox.access.credentials.public_routes import NewRoute
from mailbox.dialects.base.wire import AgentId, agent_id
from mailbox.dialects.covenant.wire import choice, json, ms
from mailbox.models import ApiKey, CapabilityGrant, PublicRoute
from mailbox.words.times import epoch_ms

Role = Literal["viewer", "operator", "admin"]


class Granted(TypedDict):
    kind: Literal["capability_granted"]
    grant_id: UUID
    subject_display: str
    action: str


def granted(row: CapabilityGrant) -> Granted:
    """Render the answer to a new grant."""
    return {
        "kind": "capability_granted",
        "grant_id": row.grant_id,
        "subject_display": row.subject.display,
        "action": row.action,
    }


class Revoked(TypedDict):
    kind: Literal["capability_revoked"]
    grant_id: UUID
    revoked_at_ms: int


def revoked(row: CapabilityGrant) -> Revoked:
    """Render the answer to the revocation of a grant."""
    return {"kind": "capability_revoked", "grant_id": row.grant_id, "revoked_at_ms": choice(ms(row.revoked_at))}


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


def capability(row: CapabilityGrant) -> Capability:
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


class CapabilityList(TypedDict):
    kind: Literal["capabilities"]
    capabilities: list[Capability]
    next_cursor: str | None


class KeyAdded(TypedDict):
    """The new key, which is shown only here. ``expires_at`` is in Unix epoch milliseconds, null for no expiry."""

    kind: Literal["a2a_key"]
    public_id: str
    api_key: str
    expires_at: int | None


def new_key(made: NewKey) -> KeyAdded:
    """Render a new API key with its secret, which no later answer shows."""
    return {
        "kind": "a2a_key",
        "public_id": made.row.public_id,
        "api_key": made.secret,
        "expires_at": ms(made.row.expires_at),
    }


class KeyRotated(TypedDict):
    """The new key, which is shown only here, and the time when the key of this request expires."""

    kind: Literal["a2a_key_rotated"]
    public_id: str
    api_key: str
    expires_at: int | None
    replaces: str
    overlap_ends_at: int


def rotated(made: Rotation) -> KeyRotated:
    """Render the successor of a key."""
    return {
        **new_key(made.new),
        "kind": "a2a_key_rotated",
        "replaces": made.new.row.replaces,
        "overlap_ends_at": epoch_ms(made.overlap_ends_at),
    }


class KeyRevoked(TypedDict):
    """The public ids of the key and, with ``with_made``, of the keys that were made with it."""

    kind: Literal["a2a_key_revoked"]
    public_id: str
    also: list[str]


def key_revoked(rows: Sequence[ApiKey]) -> KeyRevoked:
    """Render the answer to the revocation of the first key, and of the keys made with it."""
    return {"kind": "a2a_key_revoked", "public_id": rows[0].public_id, "also": [row.public_id for row in rows[1:]]}


class WireKey(TypedDict):
    """An API key, or with ``is_certificate`` a client certificate. It belongs to an ``agent`` or to a ``person``.

    ``made_by`` is the public id of the key with which it was made, and ``replaces`` that of the key that it succeeds.
    Both are null without one. ``expires_at`` is in Unix epoch milliseconds, null for no expiry.
    """

    public_id: str
    agent: AgentId | None
    person: str | None
    is_certificate: bool
    made_by: str | None
    replaces: str | None
    created_at_ms: int
    expires_at: int | None
    revoked_at_ms: int | None
    last_used_at_ms: int | None


def key(row: ApiKey) -> WireKey:
    """Render a key without its secret, live, expired or revoked."""
    return {
        "public_id": row.public_id,
        "agent": agent_id(row.agent) if row.agent else None,
        "person": row.user.username if row.user else None,
        "is_certificate": row.is_certificate,
        "made_by": row.made_by or None,
        "replaces": row.replaces or None,
        "created_at_ms": epoch_ms(row.created_at),
        "expires_at": ms(row.expires_at),
        "revoked_at_ms": ms(row.revoked_at),
        "last_used_at_ms": ms(row.last_used_at),
    }


class ListedKeys(TypedDict):
    kind: Literal["a2a_keys"]
    keys: list[WireKey]
    next_cursor: str | None


class WirePerson(TypedDict):
    """A person. ``role`` is the strongest of the ``groups``, null for a person who may not use the hub.

    ``is_staff`` opens ``/admin/``. ``last_sign_in_at_ms`` null: the person never signed in.
    """

    name: str
    role: Role | None
    groups: list[str]
    is_active: bool
    is_staff: bool
    has_second_factor: bool
    created_at_ms: int
    last_sign_in_at_ms: int | None


def person(row: User) -> WirePerson:
    """Render a person of `mailbox.access.credential_lists.people`."""
    role = authentication.role_of(row)
    return {
        "name": row.username,
        "role": role.value if role else None,
        "groups": sorted(group.name for group in row.groups.all()),
        "is_active": row.is_active,
        "is_staff": row.is_staff,
        "has_second_factor": getattr(row, "has_second_factor"),  # noqa: B009 (an annotation)
        "created_at_ms": epoch_ms(row.date_joined),
        "last_sign_in_at_ms": ms(row.last_login),
    }


class ListedPeople(TypedDict):
    kind: Literal["a2a_people"]
    people: list[WirePerson]
    next_cursor: str | None


class WireRoute(TypedDict):
    """A public route: a secret URL that acts as an agent. ``rate_limit`` is in requests a minute."""

    public_id: str
    agent: AgentId
    rate_limit: int
    created_at_ms: int
    revoked_at_ms: int | None
    last_used_at_ms: int | None


def route(row: PublicRoute) -> WireRoute:
    """Render a public route without its token, open or revoked."""
    return {
        "public_id": row.public_id,
        "agent": agent_id(row.agent),
        "rate_limit": row.rate_limit,
        "created_at_ms": epoch_ms(row.created_at),
        "revoked_at_ms": ms(row.revoked_at),
        "last_used_at_ms": ms(row.last_used_at),
    }


class ListedRoutes(TypedDict):
    kind: Literal["a2a_routes"]
    routes: list[WireRoute]
    next_cursor: str | None


class RouteAdded(TypedDict):
    """The new route. Its ``url`` is a secret, which is shown only here."""

    kind: Literal["a2a_route"]
    public_id: str
    url: str


def new_route(made: NewRoute) -> RouteAdded:
    """Render a new public route with its URL, which no later answer shows."""
    return {"kind": "a2a_route", "public_id": made.route.public_id, "url": f"{settings.PUBLIC_URL}/p/{made.token}"}


class RouteRevoked(TypedDict):
    kind: Literal["a2a_route_revoked"]
    public_id: str


def route_revoked(row: PublicRoute) -> RouteRevoked:
    """Render the answer to the revocation of a public route."""
    return {"kind": "a2a_route_revoked", "public_id": row.public_id}


def certificate(row: ApiKey) -> dict[str, Any]:
    """Render a client certificate that was bound to an agent. ``public_key_sha256`` is in hex."""
    return {
        "kind": "a2a_certificate",
        "public_id": row.public_id,
        "agent": row.owner,
        "public_key_sha256": row.digest,
        "expires_at": ms(row.expires_at),
    }

"""The answers of the routes for API keys, people and public routes, for the OpenAPI document."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel
from typing_extensions import TypedDict

from mailbox.dialects.base.wire import AgentId

Role = Literal["viewer", "operator", "admin"]


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


class ListedKeys(BaseModel):
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


class ListedPeople(BaseModel):
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


class ListedRoutes(BaseModel):
    kind: Literal["a2a_routes"]
    routes: list[WireRoute]
    next_cursor: str | None


class RouteAdded(BaseModel):
    """The new route. Its ``url`` is a secret, which is shown only here."""

    kind: Literal["a2a_route"]
    public_id: str
    url: str


class RouteRevoked(BaseModel):
    kind: Literal["a2a_route_revoked"]
    public_id: str

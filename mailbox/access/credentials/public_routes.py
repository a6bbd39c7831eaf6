"""Public routes: secret URLs that act as an agent, for clients that cannot authenticate."""

import hmac
from dataclasses import dataclass

from django.utils import timezone

from mailbox.access import audit, own_agents
from mailbox.access.callers import Caller
from mailbox.access.credentials import last_used
from mailbox.access.requests import Request
from mailbox.journal import access_entries
from mailbox.models import Agent, AuditEvent, PublicRoute
from mailbox.words import tokens
from mailbox.words.errors import InvalidRequestError, UnknownRouteError

HIGHEST_RATE = 1_000_000
_NO_DIGEST = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRoute:
    """A new route with its token, which is shown once and not stored."""

    route: PublicRoute
    token: str


def add(caller: Caller, agent: Agent, *, rate_limit: int) -> NewRoute:
    """Open a route that acts as ``agent`` and answers at most ``rate_limit`` requests a minute.

    Needs ``a2a.routes``, which operators hold. A client of the route can send tasks as the agent, within its grants,
    and read the tasks that it sent. Raises `InvalidRequestError`, `CapabilityMissingError`. Journals
    ``capability_check`` and ``route_added``.
    """
    if not 1 <= rate_limit <= HIGHEST_RATE:
        raise InvalidRequestError({"rate_limit": f"must be between 1 and {HIGHEST_RATE} requests a minute"})
    own_agents.refuse_credentials(agent)
    with audit.decision(caller) as journal:
        journal.admit(Request.to_manage_route(agent))
        minted = tokens.mint(tokens.ROUTE)
        route = PublicRoute.objects.create(
            agent=agent,
            public_id=minted.public_id,
            digest=minted.digest,
            rate_limit=rate_limit,
            created_at=journal.now,
        )
        journal.beside(access_entries.RouteAddedEntry(agent.display, route.public_id, rate_limit))
    return NewRoute(route=route, token=minted.key)


def revoke(caller: Caller, public_id: str) -> PublicRoute:
    """Close a route from the next request on. A second call changes nothing.

    Needs ``a2a.routes``, which operators hold. Raises `CapabilityMissingError`, `UnknownRouteError`. Locks the route;
    journals ``capability_check`` and ``route_revoked``.
    """
    with audit.decision(caller) as journal:
        locked = PublicRoute.objects.select_for_update(of=("self",)).select_related("agent")
        route = locked.filter(public_id=public_id).first()
        journal.admit(Request.to_manage_route(route.agent if route else None))
        if route is None:
            raise UnknownRouteError(f'No route has the public id "{public_id[:8]}".', public_id=public_id[:8])
        if route.revoked_at is None:
            route.revoked_at = journal.now
            route.save(update_fields=["revoked_at"])
            journal.beside(access_entries.RouteRevokedEntry(route.agent.display, route.public_id))
    return route


def recognise(token: str) -> PublicRoute | None:
    """Return the live route of ``token``; None for any other token. A malformed token costs no query."""
    public_id = tokens.public_id(token, tokens.ROUTE)
    if public_id is None:
        return None
    route = PublicRoute.objects.live().select_related("agent").filter(public_id=public_id).first()
    known = route.digest if route else _NO_DIGEST
    if not hmac.compare_digest(known, tokens.digest(token)) or route is None:
        return None
    now = timezone.now()
    if route.last_used_at is None or now - route.last_used_at > last_used.NOTED_EVERY:
        last_used.note(PublicRoute, route.pk, now)
    return route


def caller(route: PublicRoute, *, request_id: str, address: str = "") -> Caller:
    """Return the caller by ``route``: its agent, limited to sending tasks and reading the tasks that it sent."""
    return Caller(
        name=f"{route.agent.display} (route {route.public_id})",
        source=AuditEvent.Source.API,
        agent=route.agent,
        request_id=request_id,
        sends_only=True,
        address=address,
    )

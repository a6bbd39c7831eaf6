"""API keys, people and public routes as JSON. Only the answer that adds a route shows its URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.models import User

from mailbox.access.credentials import authentication
from mailbox.access.credentials.public_routes import NewRoute
from mailbox.dialects.covenant.wire import agent_id, ms
from mailbox.models import ApiKey, PublicRoute
from mailbox.words.times import epoch_ms

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.covenant import access_answers as answers


def key(row: ApiKey) -> answers.WireKey:
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


def person(row: User) -> answers.WirePerson:
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


def route(row: PublicRoute) -> answers.WireRoute:
    """Render a public route without its token, open or revoked."""
    return {
        "public_id": row.public_id,
        "agent": agent_id(row.agent),
        "rate_limit": row.rate_limit,
        "created_at_ms": epoch_ms(row.created_at),
        "revoked_at_ms": ms(row.revoked_at),
        "last_used_at_ms": ms(row.last_used_at),
    }


def new_route(made: NewRoute) -> dict[str, Any]:
    """Render a new public route with its URL, which no later answer shows."""
    return {"kind": "a2a_route", "public_id": made.route.public_id, "url": f"{settings.PUBLIC_URL}/p/{made.token}"}


def route_revoked(row: PublicRoute) -> dict[str, Any]:
    """Render the answer to the revocation of a public route."""
    return {"kind": "a2a_route_revoked", "public_id": row.public_id}

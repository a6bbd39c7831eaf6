"""API keys, people and public routes. The hub stores no secret of theirs, so no list has one."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.database.paging import Page, keyset, newest
from mailbox.models import ApiKey, PublicRoute, SecondFactor

ALL = "*"  # names all owners in the scope id of a check


def keys(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[ApiKey]:
    """Return a page of API keys and client certificates, newest first, also revoked and expired.

    An agent gets its own keys. All other callers get all keys, and need ``a2a.capabilities.grant``. Raises
    `CapabilityMissingError`, and `InvalidRequestError` for an invalid cursor.
    """
    if caller.party is None:
        audit.require(caller, Request.to_manage_keys(ALL))
    found = ApiKey.objects.visible_to(caller.party).select_related("agent", "user")
    return newest(found, limit=limit, cursor=cursor, name="keys")


def people(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[User]:
    """Return a page of people with their groups, by name, also inactive people.

    ``has_second_factor`` is whether a person signs in with an authenticator app. Needs ``a2a.capabilities.grant``.
    Raises as `keys` does.
    """
    audit.require(caller, Request.to_manage_person(ALL))
    confirmed = SecondFactor.objects.filter(user=OuterRef("pk"), confirmed=True)
    found = User.objects.annotate(has_second_factor=Exists(confirmed)).prefetch_related("groups")
    return keyset(found, "username", str, is_unique=True, limit=limit, cursor=cursor, name="people")


def public_routes(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[PublicRoute]:
    """Return a page of public routes with their agents, newest first, also revoked routes.

    Needs ``a2a.routes``, which operators hold. Raises as `keys` does.
    """
    audit.require(caller, Request.to_manage_route(ALL))
    found = PublicRoute.objects.select_related("agent")
    return newest(found, limit=limit, cursor=cursor, name="routes")

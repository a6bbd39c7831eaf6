"""Lists of API keys, people, public routes and permissions. A matrix shows the grants of agents.

The hub stores no secret of theirs, so no list has one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef

from mailbox.access import audit, requests
from mailbox.access.callers import Caller
from mailbox.database.paging import Page, keyset, newest
from mailbox.models import Agent, ApiKey, CapabilityGrant, PublicRoute, SecondFactor
from mailbox.models.agent import AgentQuerySet

ALL = "*"  # names all owners in the scope id of a check
VERBS = (*requests.TARGETED, *requests.GRANTABLE)  # the columns of the matrix
GRANTS_READ = 2_000  # of the agents of one page of the matrix


def key_list(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[ApiKey]:
    """Return a page of API keys and client certificates, newest first, also revoked and expired.

    An agent gets its own keys. All other callers get all keys, and need ``a2a.capabilities.grant``. Raises
    `CapabilityMissingError`, and `InvalidRequestError` for an invalid cursor.
    """
    if caller.party is None:
        audit.require(caller, requests.Request.to_manage_keys(ALL))
    rows = ApiKey.objects.visible_to(caller.party).select_related("agent", "user")
    return newest(rows, limit=limit, cursor=cursor, name="keys")


def people(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[User]:
    """Return a page of people with their groups, by name, also inactive people.

    ``has_second_factor`` is whether a person signs in with an authenticator app. Needs ``a2a.capabilities.grant``.
    Raises as `keys` does.
    """
    audit.require(caller, requests.Request.to_manage_person(ALL))
    confirmed = SecondFactor.objects.filter(user=OuterRef("pk"), confirmed=True)
    rows = User.objects.annotate(has_second_factor=Exists(confirmed)).prefetch_related("groups")
    return keyset(rows, "username", str, is_unique=True, limit=limit, cursor=cursor, name="people")


def public_routes(caller: Caller, *, limit: int = 10, cursor: str | None = None) -> Page[PublicRoute]:
    """Return a page of public routes with their agents, newest first, also revoked routes.

    Needs ``a2a.routes``, which operators hold. Raises as `keys` does.
    """
    audit.require(caller, requests.Request.to_manage_route(ALL))
    rows = PublicRoute.objects.select_related("agent")
    return newest(rows, limit=limit, cursor=cursor, name="routes")


class Validity(StrEnum):
    """Which rows a list has."""

    ALL = "all"
    LIVE = "live"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """An agent with its live grants, by the verbs of `VERBS`."""

    agent: Agent
    grants: Mapping[str, list[CapabilityGrant]] = field(default_factory=dict)


def matrix(named: str, now: datetime, *, limit: int, cursor: str | None) -> Page[Agent]:
    """Return a page of the agents with a live grant, by name. ``named`` is an agent's display or local part, or ""."""
    live = CapabilityGrant.objects.live(now).filter(subject=OuterRef("pk"))
    rows = _named(Agent.objects.filter(Exists(live)), named)
    return keyset(rows, "display", str, is_unique=True, limit=limit, cursor=cursor, name="capabilities")


def capabilities_of(agents: Sequence[Agent], now: datetime) -> Sequence[Capabilities]:
    """Return the live grants of these agents, from the first `GRANTS_READ` of them."""
    rows = {agent.pk: Capabilities(agent, {verb: [] for verb in VERBS}) for agent in agents}
    for grant in CapabilityGrant.objects.live(now).filter(subject__in=rows).order_by("pk")[:GRANTS_READ]:
        verb = next((one for one in VERBS if grant.action == one or grant.action.startswith(f"{one}.")), None)
        if verb is not None:
            rows[grant.subject_id].grants[verb].append(grant)
    return list(rows.values())


def grant_matrix(
    named: str, validity: Validity, now: datetime, *, limit: int, cursor: str | None
) -> Page[CapabilityGrant]:
    """Return a page of the grants of the agent of this name, of all for "", newest first."""
    rows = CapabilityGrant.objects.select_related("subject")
    if named:
        rows = rows.filter(subject__in=_named(Agent.objects.all(), named))
    live = CapabilityGrant.objects.live(now).values("pk")
    if validity is Validity.LIVE:
        rows = rows.filter(pk__in=live)
    elif validity is Validity.ENDED:
        rows = rows.exclude(pk__in=live)
    return newest(rows, limit=limit, cursor=cursor, name="grants of agents")


def key_matrix(named: str, validity: Validity, now: datetime, *, limit: int, cursor: str | None) -> Page[ApiKey]:
    """Return a page of the API keys of the agent or person of this name, of all for "", newest first."""
    rows = ApiKey.objects.select_related("agent", "user")
    if named:
        owned = rows.filter(agent__in=_named(Agent.objects.all(), named))
        rows = owned | rows.filter(user__username=named)
    if validity is Validity.LIVE:
        rows = rows.live(now)
    elif validity is Validity.ENDED:
        rows = rows.exclude(pk__in=ApiKey.objects.live(now).values("pk"))
    return newest(rows, limit=limit, cursor=cursor, name="keys of all")


def _named(agents: AgentQuerySet, named: str) -> AgentQuerySet:
    if not named:
        return agents
    return agents.filter(display=named) if "@" in named else agents.filter(local=named)

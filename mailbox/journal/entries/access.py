"""Rows about access: checks of capabilities, grants, keys and public routes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict
from uuid import UUID

from mailbox.words.kinds import Entry, Kind
from mailbox.words.times import epoch_ms


class Authorization(TypedDict):
    action: Annotated[str, "action as the grant spells it"]
    granted_by_display: Annotated[str, "who granted it; `role:<group>` for a person, `local trust` in process"]
    grant_id: NotRequired[Annotated[str, "id of the grant; absent without one"]]


class CapabilityCheckData(TypedDict):
    agent_id: Annotated[str, "scope id of the request, such as `a2a-send:bob@local`"]
    required_actions: Annotated[list[str], "the one action that the request needs"]
    missing_actions: Annotated[list[str], "that action if the caller lacks it, otherwise empty"]
    passed: Annotated[bool, "whether the caller may take the action"]
    authorized_by: Annotated[list[Authorization], "what allows the action; empty if nothing does"]


def capability_check(
    scope_id: str, action: str, task_id: UUID | None, authorized_by: Authorization | None
) -> Entry[CapabilityCheckData]:
    """Record that the gate checked whether a caller may take an action.

    ``authorized_by`` is None for a caller that may not.
    """
    data = CapabilityCheckData(
        agent_id=scope_id,
        required_actions=[action],
        missing_actions=[] if authorized_by else [action],
        passed=authorized_by is not None,
        authorized_by=[authorized_by] if authorized_by else [],
    )
    return Entry(Kind.CAPABILITY_CHECK, data, task_id)


class CapabilityScopeRejectedData(TypedDict):
    agent_id: Annotated[str, "scope id of the request"]
    action: Annotated[str, "the action that the request needs"]
    reason: Annotated[str, "why no grant for the action covers the request"]


def capability_scope_rejected(
    scope_id: str, action: str, task_id: UUID | None, reason: str
) -> Entry[CapabilityScopeRejectedData]:
    """Record that a request was refused because every grant for its action is pinned to something else."""
    data = CapabilityScopeRejectedData(agent_id=scope_id, action=action, reason=reason)
    return Entry(Kind.CAPABILITY_SCOPE_REJECTED, data, task_id)


class CapabilityGrantedData(TypedDict):
    grant_id: Annotated[str, "id of the grant"]
    subject_display: Annotated[str, "display of the agent that holds it"]
    action: Annotated[str, "the action that it allows"]
    scope: Annotated[dict[str, Any], "fields that it pins; empty for any request"]
    granted_by_display: Annotated[str, "who granted it"]


def capability_granted(
    grant_id: UUID, subject: str, action: str, *, scope: Mapping[str, Any], granted_by: str
) -> Entry[CapabilityGrantedData]:
    """Record that an agent was granted a capability."""
    data = CapabilityGrantedData(
        grant_id=str(grant_id),
        subject_display=subject,
        action=action,
        scope=dict(scope),
        granted_by_display=granted_by,
    )
    return Entry(Kind.CAPABILITY_GRANTED, data)


class CapabilityRevokedData(TypedDict):
    grant_id: Annotated[str, "id of the grant"]
    subject_display: Annotated[str, "display of the agent that held it"]
    action: Annotated[str, "the action that it allowed"]


def capability_revoked(grant_id: UUID, subject: str, action: str) -> Entry[CapabilityRevokedData]:
    """Record that a grant was revoked, by itself or with the grant from which it was passed on."""
    data = CapabilityRevokedData(grant_id=str(grant_id), subject_display=subject, action=action)
    return Entry(Kind.CAPABILITY_REVOKED, data)


class AuthenticationFailedData(TypedDict):
    reason: Annotated[
        str, "missing, malformed, unknown, `no role`, or `signature` with the reason, such as `signature expired`"
    ]
    count: Annotated[int, "number of failures that the row stands for"]


def authentication_failed(reason: str, count: int) -> Entry[AuthenticationFailedData]:
    """Record that requests came without a valid API key or signature.

    One process writes at most one row a minute and reason.
    """
    return Entry(Kind.AUTHENTICATION_FAILED, AuthenticationFailedData(reason=reason, count=count))


class KeyData(TypedDict):
    owner: Annotated[str, "display of the agent, or username of the person, that the key belongs to"]
    public_id: Annotated[str, "public part of the key"]


def key_added(owner: str, public_id: str) -> Entry[KeyData]:
    """Record that an API key was created; the first key of a new agent has no such row."""
    return Entry(Kind.KEY_ADDED, KeyData(owner=owner, public_id=public_id))


def key_revoked(owner: str, public_id: str) -> Entry[KeyData]:
    """Record that an API key was revoked."""
    return Entry(Kind.KEY_REVOKED, KeyData(owner=owner, public_id=public_id))


class KeyRotatedData(TypedDict):
    owner: Annotated[str, "display of the agent, or username of the person, that the keys belong to"]
    public_id: Annotated[str, "public part of the new key"]
    replaces: Annotated[str, "public part of the key that it replaces"]
    overlap_ends_at_ms: Annotated[int, "time when the replaced key expires"]


def key_rotated(owner: str, public_id: str, replaces: str, *, overlap_ends_at: datetime) -> Entry[KeyRotatedData]:
    """Record that an API key got a successor."""
    data = KeyRotatedData(
        owner=owner, public_id=public_id, replaces=replaces, overlap_ends_at_ms=epoch_ms(overlap_ends_at)
    )
    return Entry(Kind.KEY_ROTATED, data)


class RouteAddedData(TypedDict):
    agent: Annotated[str, "display of the agent that the route acts as"]
    public_id: Annotated[str, "public part of the route's token"]
    rate_limit: Annotated[int, "requests allowed in a minute"]


def route_added(agent: str, public_id: str, rate_limit: int) -> Entry[RouteAddedData]:
    """Record that a public route was opened."""
    return Entry(Kind.ROUTE_ADDED, RouteAddedData(agent=agent, public_id=public_id, rate_limit=rate_limit))


class RouteRevokedData(TypedDict):
    agent: Annotated[str, "display of the agent that the route acted as"]
    public_id: Annotated[str, "public part of the route's token"]


def route_revoked(agent: str, public_id: str) -> Entry[RouteRevokedData]:
    """Record that a public route was closed."""
    return Entry(Kind.ROUTE_REVOKED, RouteRevokedData(agent=agent, public_id=public_id))

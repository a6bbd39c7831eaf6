"""Rows about access: checks of capabilities, grants, keys, public routes, and the accounts and sign-ins of people."""

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


UNKNOWN_NAME = "unknown name"


class PersonData(TypedDict):
    username: Annotated[str, "name that the person signs in with"]
    first_name: NotRequired[Annotated[str, "new first name"]]
    last_name: NotRequired[Annotated[str, "new last name"]]
    email: NotRequired[Annotated[str, "new address"]]
    groups: NotRequired[Annotated[list[str], "the groups of the person now"]]
    is_active: NotRequired[Annotated[bool, "whether the person can sign in now"]]
    is_staff: NotRequired[Annotated[bool, "whether the person can open the admin now"]]
    password: NotRequired[Annotated[str, "`changed` for a new password; the password itself is never kept"]]


def person_added(person: PersonData) -> Entry[PersonData]:
    """Record that an admin added a person."""
    return Entry(Kind.PERSON_ADDED, person)


def person_changed(person: PersonData) -> Entry[PersonData]:
    """Record that an admin changed a person, or a person the own password; only the changed fields are present."""
    return Entry(Kind.PERSON_CHANGED, person)


class PersonSignedInData(TypedDict):
    username: Annotated[str, "name that the person signed in with"]


def person_signed_in(username: str) -> Entry[PersonSignedInData]:
    """Record that a person signed in on a page."""
    return Entry(Kind.PERSON_SIGNED_IN, PersonSignedInData(username=username))


class RefusedSignInData(TypedDict):
    username: Annotated[str, "name of an existing person, otherwise `unknown name`: a typed name may be a password"]
    reason: Annotated[str, "what was wrong: `password`, `code`, or `provider` for a sign-in by OpenID Connect"]
    count: Annotated[int, "number of attempts that the row stands for"]


def person_sign_in_failed(username: str, reason: str, count: int) -> Entry[RefusedSignInData]:
    """Record that attempts to sign in failed; one process writes at most one row a minute, name and reason."""
    return Entry(Kind.PERSON_SIGN_IN_FAILED, RefusedSignInData(username=username, reason=reason, count=count))


class PersonLockedOutData(TypedDict):
    username: Annotated[str, "name of an existing person, otherwise `unknown name`"]
    count: Annotated[int, "number of refused attempts that the row stands for"]


def person_locked_out(username: str, count: int) -> Entry[PersonLockedOutData]:
    """Record that a name was locked at an address, or was still; one process writes at most one row a minute and name.

    The fifth failed attempt locks the name at the address for a quarter of an hour.
    """
    return Entry(Kind.PERSON_LOCKED_OUT, PersonLockedOutData(username=username, count=count))


class PersonSignedOutData(TypedDict):
    username: Annotated[str, "name of the person"]
    reason: Annotated[str, "`person` for the button, `idle` or `limit` for an old session, `everywhere` for all others"]


def person_signed_out(username: str, reason: str) -> Entry[PersonSignedOutData]:
    """Record that a session of a person ended; a session that no request presents again ends without a row."""
    return Entry(Kind.PERSON_SIGNED_OUT, PersonSignedOutData(username=username, reason=reason))


class SecondFactorData(TypedDict):
    username: Annotated[str, "name of the person"]


def second_factor_added(username: str) -> Entry[SecondFactorData]:
    """Record that a person confirmed a second factor with a code; sign-ins need a code from then on."""
    return Entry(Kind.SECOND_FACTOR_ADDED, SecondFactorData(username=username))


def second_factor_removed(username: str) -> Entry[SecondFactorData]:
    """Record that the second factor of a person was removed with its recovery codes, by the person or an admin."""
    return Entry(Kind.SECOND_FACTOR_REMOVED, SecondFactorData(username=username))


def recovery_codes_renewed(username: str) -> Entry[SecondFactorData]:
    """Record that a person got new recovery codes, which replaced the old codes."""
    return Entry(Kind.RECOVERY_CODES_RENEWED, SecondFactorData(username=username))


class RecoveryCodeUsedData(TypedDict):
    username: Annotated[str, "name of the person"]
    left: Annotated[int, "number of recovery codes that are left"]


def recovery_code_used(username: str, left: int) -> Entry[RecoveryCodeUsedData]:
    """Record that a person used a recovery code instead of a code of the second factor."""
    return Entry(Kind.RECOVERY_CODE_USED, RecoveryCodeUsedData(username=username, left=left))


class SharedViewData(TypedDict):
    username: Annotated[str, "name of the person whose view it is"]
    page: Annotated[str, "page of the dashboard, by the name of its route"]
    name: Annotated[str, "name of the view"]
    query: Annotated[str, "query string of the page"]


def view_shared(view: SharedViewData) -> Entry[SharedViewData]:
    """Record that a view was shared with all people of the hub, or that a shared one has a new name."""
    return Entry(Kind.VIEW_SHARED, view)


def view_unshared(view: SharedViewData) -> Entry[SharedViewData]:
    """Record that a view is no longer shared, or that a shared one was deleted."""
    return Entry(Kind.VIEW_UNSHARED, view)

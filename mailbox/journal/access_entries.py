"""Rows about access: checks of capabilities, grants, keys, public routes, and the accounts and sign-ins of people."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict
from uuid import UUID

from mailbox.words.kinds import Entry, Kind

UNKNOWN_NAME, CHANGED, LINKED, UNLINKED = "unknown name", "changed", "linked", "unlinked"


class Authorization(TypedDict):
    action: Annotated[str, "action as the grant spells it"]
    granted_by_display: Annotated[str, "who granted it; `role:<group>` for a person, `local trust` in process"]
    grant_id: NotRequired[Annotated[str, "id of the grant; absent without one"]]


class CapabilityCheckEntry(Entry, kind=Kind.CAPABILITY_CHECK):
    """The gate checked whether a caller may take an action."""

    agent_id: Annotated[str, "scope id of the request, such as `a2a-send:bob@local`"]
    required_actions: Annotated[list[str], "the one action that the request needs"]
    missing_actions: Annotated[list[str], "that action if the caller lacks it, otherwise empty"]
    passed: Annotated[bool, "whether the caller may take the action"]
    authorized_by: Annotated[list[Authorization], "what allows the action; empty if nothing does"]


class CapabilityScopeRejectedEntry(Entry, kind=Kind.CAPABILITY_SCOPE_REJECTED):
    """A request was refused because every grant for its action is pinned to something else."""

    agent_id: Annotated[str, "scope id of the request"]
    action: Annotated[str, "the action that the request needs"]
    reason: Annotated[str, "why no grant for the action covers the request"]


class CapabilityGrantedEntry(Entry, kind=Kind.CAPABILITY_GRANTED):
    """An agent was granted a capability."""

    grant_id: Annotated[UUID, "id of the grant"]
    subject_display: Annotated[str, "display of the agent that holds it"]
    action: Annotated[str, "the action that it allows"]
    scope: Annotated[Mapping[str, Any], "fields that it pins; empty for any request"]
    granted_by_display: Annotated[str, "who granted it"]


class CapabilityRevokedEntry(Entry, kind=Kind.CAPABILITY_REVOKED):
    """A grant was revoked, by itself or with the grant from which it was passed on."""

    grant_id: Annotated[UUID, "id of the grant"]
    subject_display: Annotated[str, "display of the agent that held it"]
    action: Annotated[str, "the action that it allowed"]


class AuthenticationFailedEntry(Entry, kind=Kind.AUTHENTICATION_FAILED):
    """Requests came without a valid API key or signature.

    One process writes at most one row a minute and reason.
    """

    reason: Annotated[
        str, "missing, malformed, unknown, `no role`, or `signature` with the reason, such as `signature expired`"
    ]
    count: Annotated[int, "number of failures that the row stands for"]


class _KeyEntry(Entry):
    owner: Annotated[str, "display of the agent, or username of the person, that the key belongs to"]
    public_id: Annotated[str, "public part of the key"]


class KeyAddedEntry(_KeyEntry, kind=Kind.KEY_ADDED):
    """An API key was created; the first key of a new agent has no such row."""


class KeyRevokedEntry(_KeyEntry, kind=Kind.KEY_REVOKED):
    """An API key was revoked."""


class KeyRotatedEntry(Entry, kind=Kind.KEY_ROTATED):
    """An API key got a successor."""

    owner: Annotated[str, "display of the agent, or username of the person, that the keys belong to"]
    public_id: Annotated[str, "public part of the new key"]
    replaces: Annotated[str, "public part of the key that it replaces"]
    overlap_ends_at_ms: Annotated[int, "time when the replaced key expires"]


class RouteAddedEntry(Entry, kind=Kind.ROUTE_ADDED):
    """A public route was opened."""

    agent: Annotated[str, "display of the agent that the route acts as"]
    public_id: Annotated[str, "public part of the route's token"]
    rate_limit: Annotated[int, "requests allowed in a minute"]


class RouteRevokedEntry(Entry, kind=Kind.ROUTE_REVOKED):
    """A public route was closed."""

    agent: Annotated[str, "display of the agent that the route acted as"]
    public_id: Annotated[str, "public part of the route's token"]


class _PersonEntry(Entry):
    username: Annotated[str, "name that the person signs in with"]
    first_name: Annotated[str | None, "new first name"] = None
    last_name: Annotated[str | None, "new last name"] = None
    email: Annotated[str | None, "new address"] = None
    is_active: Annotated[bool | None, "whether the person can sign in now"] = None
    groups: Annotated[list[str] | None, "the groups of the person now"] = None
    is_staff: Annotated[bool | None, "whether the person can open the admin now"] = None
    password: Annotated[str | None, "`changed` for a new password; the password itself is never kept"] = None
    provider_account: Annotated[str | None, "`linked` by a first sign-in by OpenID Connect, `unlinked` by an admin"] = (
        None
    )


class PersonAddedEntry(_PersonEntry, kind=Kind.PERSON_ADDED):
    """An admin added a person."""


class PersonChangedEntry(_PersonEntry, kind=Kind.PERSON_CHANGED):
    """An admin changed a person, or a person the own password; only the changed fields are present."""


class PersonSignedInEntry(Entry, kind=Kind.PERSON_SIGNED_IN):
    """A person signed in on a page."""

    username: Annotated[str, "name that the person signed in with"]


class PersonSignInFailedEntry(Entry, kind=Kind.PERSON_SIGN_IN_FAILED):
    """Attempts to sign in failed; one process writes at most one row a minute, name and reason."""

    username: Annotated[str, "name of an existing person, otherwise `unknown name`: a typed name may be a password"]
    reason: Annotated[
        str, "`password`, `code`, `provider`, or `account` for another account of the provider than the person's"
    ]
    count: Annotated[int, "number of attempts that the row stands for"]


class PersonLockedOutEntry(Entry, kind=Kind.PERSON_LOCKED_OUT):
    """A name was locked at an address, or was still; one process writes at most one row a minute and name.

    The fifth failed attempt locks the name at the address for a quarter of an hour.
    """

    username: Annotated[str, "name of an existing person, otherwise `unknown name`"]
    count: Annotated[int, "number of refused attempts that the row stands for"]


class PersonSignedOutEntry(Entry, kind=Kind.PERSON_SIGNED_OUT):
    """A session of a person ended; a session that no request presents again ends without a row."""

    username: Annotated[str, "name of the person"]
    reason: Annotated[
        str,
        "`person` for the button, `idle` or `limit` by age, `everywhere` for all others, `second factor` without one",
    ]


class _SecondFactorEntry(Entry):
    username: Annotated[str, "name of the person"]


class SecondFactorAddedEntry(_SecondFactorEntry, kind=Kind.SECOND_FACTOR_ADDED):
    """A person confirmed a second factor with a code; sign-ins need a code from then on."""


class SecondFactorRemovedEntry(_SecondFactorEntry, kind=Kind.SECOND_FACTOR_REMOVED):
    """The second factor of a person was removed with its recovery codes, by the person or an admin."""


class RecoveryCodesRenewedEntry(_SecondFactorEntry, kind=Kind.RECOVERY_CODES_RENEWED):
    """A person got new recovery codes, which replaced the old codes."""


class RecoveryCodeUsedEntry(Entry, kind=Kind.RECOVERY_CODE_USED):
    """A person used a recovery code instead of a code of the second factor."""

    username: Annotated[str, "name of the person"]
    left: Annotated[int, "number of recovery codes that are left"]


class _SharedViewEntry(Entry):
    username: Annotated[str, "name of the person whose view it is"]
    page: Annotated[str, "page of the dashboard, by the name of its route"]
    name: Annotated[str, "name of the view"]
    query: Annotated[str, "query string of the page"]


class ViewSharedEntry(_SharedViewEntry, kind=Kind.VIEW_SHARED):
    """A view was shared with all people of the hub, or a shared one has a new name."""


class ViewUnsharedEntry(_SharedViewEntry, kind=Kind.VIEW_UNSHARED):
    """A view is no longer shared, or a shared one was deleted."""

"""Rows about people: their accounts, how they sign in and out, and the views that they share."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from mailbox.words.kinds import Entry, Kind

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

"""The sign-ins of people in the journal, and their live sessions.

Failures are counted, so that a guesser cannot fill the journal.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.journal import access_entries
from mailbox.models import AuditEvent

MOST = 500  # the newest sessions of all people: their rows do not tell whose they are


class Cause(StrEnum):
    """Why a sign-in was refused."""

    PASSWORD = "password"  # noqa: S105 (a cause)
    CODE = "code"
    LOCKED = "locked"
    PROVIDER = "provider"
    ACCOUNT = "account"


_failures = audit.FailureCounts[tuple[str, Cause]]()  # by the name of the person, and the cause


def signed_in(username: str, address: str) -> None:
    """Journal that a person signed in from ``address``; ``username`` is the name of the account."""
    audit.note(Caller.at_dashboard(username, address), access_entries.PersonSignedInEntry(username))
    _note_failures()


def signed_out(username: str, address: str, reason: str) -> None:
    """Journal that a session of a person ended; ``reason`` is a word of the journal's row."""
    audit.note(Caller.at_dashboard(username, address), access_entries.PersonSignedOutEntry(username, reason))


def refused(typed: str, cause: Cause, address: str) -> None:
    """Count a refused sign-in with the name ``typed``, and journal the failures that are due.

    A process writes at most one row a minute for a name and a cause. The row has the count and the newest address. The
    first failure is written at once. Names of no account count together, and the row does not repeat them:
    people type passwords into the wrong field. Failures counted since the last row are lost when the process ends.
    """
    name = typed if User.objects.filter(username=typed).exists() else access_entries.UNKNOWN_NAME
    _failures.add((name, cause), address)
    _note_failures()


def active(pk: int) -> User | None:
    """Return the person with this key; None for an unknown or inactive person."""
    return User.objects.filter(pk=pk, is_active=True).first()


def forget() -> None:
    """Forget the counted failures, as a new process has none."""
    _failures.clear()


def _note_failures() -> None:
    """Write the rows that are due. Each sign-in calls this, so the last failures of a storm get their row later."""
    for (name, cause), count, address in _failures.due():
        stranger = Caller(name="anonymous", source=AuditEvent.Source.DASHBOARD, address=address)
        is_lock = cause is Cause.LOCKED
        entry = access_entries.PersonLockedOutEntry(name, count) if is_lock else None
        audit.note(stranger, entry or access_entries.PersonSignInFailedEntry(name, cause, count))


def of_person(pk: int, now: datetime) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the key and the data of each session of the person with this key, among the newest `MOST` of the hub."""
    newest = Session.objects.filter(expire_date__gt=now).order_by("-expire_date")[:MOST]
    read = ((row.session_key, row.get_decoded()) for row in newest)
    return [(key, data) for key, data in read if data.get(SESSION_KEY) == str(pk)]

"""A person's session: its address, when it began, when its person last used it, and when it is too old."""

import time
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY, logout
from django.contrib.auth.models import User
from django.contrib.sessions.backends.base import SessionBase, UpdateError
from django.db import DatabaseError
from django.http import HttpRequest

from mailbox.access.callers import Caller, Role
from mailbox.access.people import sign_ins

SIGNED_IN_AT = "signed_in_at"  # seconds since 1970, like the next
SEEN_AT = "seen_at"
PROVED_AT = "proved_at"  # when the person last proved who they are
SECOND_FACTOR = "second_factor"  # whether a code was part of the sign-in
ADDRESS = "address"  # of the sign-in
SEEN_EVERY = 60  # seconds: each note rewrites the session's row
LIVE = "X-Seen"  # the header of the requests by which live pages refresh themselves


def address_of(request: HttpRequest) -> str:
    address: str = request.META.get("REMOTE_ADDR", "")
    return address


def caller_of(request: HttpRequest, person: User, role: Role | None = None) -> Caller:
    """Return the person as the caller of a request, as the journal names them."""
    return Caller.at_dashboard(person.get_username(), address_of(request), role)


def begin(request: HttpRequest, **_: Any) -> None:
    """Note the time and the address of a sign-in; a receiver of Django's signal ``user_logged_in``."""
    now = int(time.time())
    address = address_of(request)
    request.session.update({SIGNED_IN_AT: now, SEEN_AT: now, PROVED_AT: now, ADDRESS: address})


def keep(request: HttpRequest) -> None:
    """End the session if it is too old, and journal that; otherwise note that its person uses it.

    A page that refreshes itself is no use by a person. A session without its times is of an earlier version, and ends.
    """
    session = request.session
    if not session.session_key or SESSION_KEY not in session:
        return
    now = time.time()
    if reason := _end_of(session, now):
        end(request, reason)
    elif LIVE not in request.headers and now - session[SEEN_AT] >= SEEN_EVERY:
        session[SEEN_AT] = int(now)
        with suppress(DatabaseError, UpdateError):  # of a read-only database, whose pages people can still read
            session.save()
        session.modified = False


def end(request: HttpRequest, reason: str) -> None:
    """End the session, and journal that its person is signed out."""
    username = request.user.get_username()
    logout(request)
    if username:
        sign_ins.signed_out(username, address_of(request), reason)


def _end_of(session: SessionBase, now: float) -> str:
    """Return why the session is too old; "" if it is not."""
    if now - session.get(SIGNED_IN_AT, 0) >= settings.A2A_SESSION_LIMIT.total_seconds():
        return "limit"
    return "idle" if now - session.get(SEEN_AT, 0) >= settings.A2A_SESSION_IDLE.total_seconds() else ""

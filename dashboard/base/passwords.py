"""The check of a person's password on a page: bounded, guarded by django-axes, and journalled if it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import authenticate
from django.contrib.auth.models import User

from mailbox.access.people import passwords, sign_ins
from mailbox.access.people.sign_ins import Cause

if TYPE_CHECKING:
    from django.http import HttpRequest

TICKET = "ticket"  # the field with the ticket of a delay


def person_with(request: HttpRequest, username: str, password: str) -> User | None:
    """Return the person with this name and password, None for a wrong one; raise `NotYetError` without a check.

    After too many failures django-axes marks the request, and its middleware answers with `session.locked_out`.
    """
    address = address_of(request)
    with passwords.admitted(username, address, request.POST.get(TICKET, "")):
        user = authenticate(request, username=username, password=password)
    if isinstance(user, User):
        return user
    passwords.failed(username, address)
    is_locked = getattr(request, "axes_locked_out", False)
    sign_ins.refused(username, Cause.LOCKED if is_locked else Cause.PASSWORD, address)
    return None


def address_of(request: HttpRequest) -> str:
    address: str = request.META.get("REMOTE_ADDR", "")
    return address

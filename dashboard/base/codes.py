"""The check of a code of a person's second factor on a page: journalled if it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboard.base import passwords
from mailbox.access.callers import Caller
from mailbox.access.people import second_factor, sign_ins
from mailbox.access.people.sign_ins import Cause
from mailbox.models import AuditEvent

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest

MOST_TYPED = 40  # characters


def problem_of(request: HttpRequest, person: User, typed: str) -> str:
    """Check a code that the person typed; return why it does not count, "" if it does."""
    address = passwords.address_of(request)
    caller = Caller(name=f"user:{person.username}", source=AuditEvent.Source.DASHBOARD, address=address)
    check = second_factor.check(caller, person, typed[:MOST_TYPED])
    if not check.is_right:
        sign_ins.refused(person.username, Cause.CODE, address)
    return in_words(check)


def in_words(check: second_factor.Check) -> str:
    if check.wait:
        return f"Too many wrong codes. Try again in {check.wait} seconds."
    return "" if check.is_right else "Incorrect code. Each code works once, for about a minute."

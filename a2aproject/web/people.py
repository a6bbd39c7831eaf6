"""The conditions of every page for people: a session of some age, a second factor, and a recent proof."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse

from a2aproject.web.errors import PAGES_FOR_PEOPLE
from dashboard.base import sessions
from dashboard.people import proof
from mailbox.access.callers import Role
from mailbox.access.credentials.authentication import role_of
from mailbox.access.people import second_factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http.response import HttpResponseBase

    from dashboard.base.frame import HtmxRequest

ICON = "/ops/favicon.svg"
DOORS = ("/ops/sign-in/", "/ops/sign-out/", "/admin/login/", "/admin/logout/", ICON)
ENROLMENT = ("/ops/settings/second-factor/", "/ops/settings/password/", "/admin/password_change/")
# Pages of the admin on which an admin types a password: the proof comes before, so that no typed password is lost.
FORMS_WITH_A_PASSWORD = re.compile(r"/admin/auth/user/(add|[^/]+/password)/")


class PeopleMiddleware:
    """Ends old sessions, asks for the second factor that a setting requires, and for a proof before admins' changes.

    It covers the dashboard and Django's admin.
    """

    def __init__(self, get_response: Callable[[HtmxRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HtmxRequest) -> HttpResponseBase:
        if request.path.startswith(PAGES_FOR_PEOPLE) and request.path != ICON:
            sessions.keep(request)
        return self.get_response(request)

    def process_view(self, request: HtmxRequest, *view: Any) -> HttpResponseBase | None:
        if not request.path.startswith(PAGES_FOR_PEOPLE) or request.path in DOORS:
            return None
        user = request.user
        if not isinstance(user, User):
            return None
        if request.path not in ENROLMENT and _lacks_second_factor(request, user):
            return _to_second_factor(request, user)
        if not request.path.startswith("/admin/") or not user.is_staff:
            return None
        is_change = request.method == "POST" or FORMS_WITH_A_PASSWORD.fullmatch(request.path)
        return proof.demanded(request) if is_change else None


def _lacks_second_factor(request: HtmxRequest, user: User) -> bool:
    required = settings.A2A_REQUIRE_SECOND_FACTOR
    if required == "off" or request.session.get(sessions.SECOND_FACTOR):
        return False
    return required == "everyone" or role_of(user) == Role.ADMIN


def _to_second_factor(request: HtmxRequest, user: User) -> HttpResponseBase:
    """Redirect to the set-up; or to the sign-in, if the session began before there was a second factor."""
    here = request.htmx.current_url_abs_path if request.htmx else request.get_full_path()
    if second_factor.of_person(user) is not None:
        logout(request)
        target = reverse("ops:sign-in")
    else:
        target = reverse("ops:second-factor")
    address = f"{target}?{urlencode({'next': here or reverse('ops:overview')})}"
    if request.htmx:
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    return HttpResponseRedirect(address)

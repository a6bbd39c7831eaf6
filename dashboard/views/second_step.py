from __future__ import annotations

import time
from http import HTTPStatus
from typing import Any

from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views import View

from dashboard.base import codes, frame, passwords, sessions
from mailbox.access.people import sign_ins

PENDING = "second_step"  # in a session that is not signed in: whose password was right, and where they go
LASTS = 300  # seconds
BACKEND = "django.contrib.auth.backends.ModelBackend"


def begin(request: HttpRequest, person: User, after: str) -> HttpResponse:
    """Note that the person's password was right, and redirect to the page that asks for a code."""
    request.session.cycle_key()
    known = {"pk": person.pk, "hash": person.get_session_auth_hash(), "at": int(time.time()), "after": after}
    request.session[PENDING] = known
    return HttpResponseRedirect(reverse("ops:second-step"))


class SecondStep(View):
    """The second step of the sign-in of a person with a second factor."""

    http_method_names = ["get", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show() if self._person() else self._from_the_start()

    def post(self, request: HttpRequest) -> HttpResponse:
        person = self._person()
        if person is None:
            return self._from_the_start()
        if problem := codes.problem_of(request, person, request.POST.get("code", "")):
            return self._show(problem)
        after = request.session.pop(PENDING)["after"]
        login(request, person, backend=BACKEND)
        request.session[sessions.SECOND_FACTOR] = True
        sign_ins.signed_in(person.username, passwords.address_of(request))
        return HttpResponseRedirect(after)

    def _person(self) -> User | None:
        """Return the person whose password was right a short time ago and is still theirs; None for no person."""
        pending: dict[str, Any] = self.request.session.get(PENDING, {})
        if not pending or time.time() - pending["at"] > LASTS:
            return None
        person = sign_ins.active(pending["pk"])
        return person if person and person.get_session_auth_hash() == pending["hash"] else None

    def _from_the_start(self) -> HttpResponse:
        return HttpResponseRedirect(reverse("ops:sign-in"))

    def _show(self, problem: str = "") -> HttpResponse:
        context = {**frame.look(self.request), "problem": problem}
        status = HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK
        response = render(self.request, "ops/second_step.html", context, status=status)
        add_never_cache_headers(response)
        return response

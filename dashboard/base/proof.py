"""The proof that the signed-in person is there: a password or a code, at most a quarter of an hour old."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers

from dashboard.base import codes, frame, lost_form, passwords, sessions
from mailbox.access.people import second_factor
from mailbox.access.people.passwords import NotYetError

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from dashboard.base.htmx import HtmxRequest

LASTS = 900  # seconds
PASSWORD, CODE = "proof_password", "proof_code"


def demanded(request: HtmxRequest) -> HttpResponse | None:
    """Return the page that asks the person for a proof; None once there is one.

    The page holds all fields of the request but secrets. The person sends them with the proof to the same address, so
    the action goes on. A request that had no fields of its own is repeated as a GET.
    """
    person = cast("User", request.user)
    if time.time() - request.session.get(sessions.PROVED_AT, 0) < LASTS:
        return _without_proof(request)
    if PASSWORD not in request.POST:
        return _page(request, person)
    try:
        problem = _problem_of(request, person)
    except NotYetError as later:
        status = HTTPStatus.SERVICE_UNAVAILABLE if later.is_busy else HTTPStatus.TOO_MANY_REQUESTS
        response = _page(request, person, later.message, ticket=later.ticket, status=status)
        response["Retry-After"] = str(later.retry_after)
        return response
    if problem:
        return _page(request, person, problem)
    request.session[sessions.PROVED_AT] = int(time.time())
    return _without_proof(request)


def _problem_of(request: HtmxRequest, person: User) -> str:
    if typed := request.POST.get(CODE, ""):
        return codes.problem_of(request, person, typed)
    is_right = passwords.person_with(request, person.username, request.POST[PASSWORD])
    return "" if is_right else "Incorrect password."


def _without_proof(request: HtmxRequest) -> HttpResponse | None:
    """Take the proof out of the request; redirect to its page if the proof was all that it held."""
    if PASSWORD not in request.POST:
        return None
    fields = request.POST.copy()
    for name in (PASSWORD, CODE, passwords.TICKET):
        fields.pop(name, None)
    if not set(fields) - {"csrfmiddlewaretoken"}:
        return HttpResponseRedirect(request.get_full_path(), status=HTTPStatus.SEE_OTHER)
    request.POST = fields  # type: ignore[assignment]
    return None


def _page(
    request: HtmxRequest, person: User, problem: str = "", *, ticket: str = "", status: int = HTTPStatus.FORBIDDEN
) -> HttpResponse:
    context = {
        **frame.look(request),
        "problem": problem,
        "ticket": ticket,
        "path": request.get_full_path(),
        "fields": lost_form.open_fields(request),
        "has_second_factor": second_factor.of_person(person) is not None,
        "username": person.username,
    }
    template = "ops/proof.html#panel" if request.htmx else "ops/proof.html"
    response = render(request, template, context, status=status)
    add_never_cache_headers(response)
    return response

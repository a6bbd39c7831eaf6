"""The checks of a person's password and of a code on a page: bounded, and journalled if they fail.

An act may demand such a proof that the signed-in person is there. The proof lasts a quarter of an hour.
"""

import time
from http import HTTPStatus
from typing import cast

from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from dashboard.base import frame, lost_form, sessions
from dashboard.base.frame import HtmxRequest
from mailbox.access.people import passwords, second_factor, sign_ins

MOST_TYPED = 40  # characters
TICKET = "ticket"  # the field with the ticket of a delay
LASTS = 900  # seconds
PASSWORD, CODE = "proof_password", "proof_code"


def code_problem(request: HttpRequest, person: User, typed: str) -> str:
    """Check a code that the person typed; return why it does not count, "" if it does."""
    check = second_factor.check(sessions.caller_of(request, person), person, typed[:MOST_TYPED])
    if not check.is_right:
        sign_ins.refused(person.username, sign_ins.Cause.CODE, sessions.address_of(request))
    return problem_of_check(check)


def problem_of_check(check: second_factor.Check) -> str:
    if check.wait:
        return f"Too many wrong codes. Try again in {check.wait} seconds."
    return "" if check.is_right else "Incorrect code. Each code works once, for about a minute."


def person_with(request: HttpRequest, username: str, password: str) -> User | None:
    """Return the person with this name and password, None for a wrong one; raise `NotYetError` without a check.

    After too many failures django-axes marks the request, and its middleware answers with `sign_in.locked_out`.
    """
    address = sessions.address_of(request)
    with passwords.admitted(username, address, request.POST.get(TICKET, "")):
        user = authenticate(request, username=username, password=password)
    if isinstance(user, User):
        return user
    passwords.failed(username, address)
    is_locked = getattr(request, "axes_locked_out", False)
    sign_ins.refused(username, sign_ins.Cause.LOCKED if is_locked else sign_ins.Cause.PASSWORD, address)
    return None


def postponed(response: HttpResponse, later: passwords.NotYetError) -> HttpResponse:
    """Return the response with the status and the header that say when to try again."""
    response.status_code = HTTPStatus.SERVICE_UNAVAILABLE if later.is_busy else HTTPStatus.TOO_MANY_REQUESTS
    response["Retry-After"] = str(later.retry_after)
    return response


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
    except passwords.NotYetError as later:
        return postponed(_page(request, person, later.message, ticket=later.ticket), later)
    if problem:
        return _page(request, person, problem)
    request.session[sessions.PROVED_AT] = int(time.time())
    return _without_proof(request)


def _problem_of(request: HtmxRequest, person: User) -> str:
    if typed := request.POST.get(CODE, ""):
        return code_problem(request, person, typed)
    is_right = person_with(request, person.username, request.POST[PASSWORD])
    return "" if is_right else "Incorrect password."


def _without_proof(request: HtmxRequest) -> HttpResponse | None:
    """Take the proof out of the request; redirect to its page if the proof was all that it held."""
    if PASSWORD not in request.POST:
        return None
    fields = request.POST.copy()
    for name in (PASSWORD, CODE, TICKET):
        fields.pop(name, None)
    if not set(fields) - {"csrfmiddlewaretoken"}:
        return HttpResponseRedirect(request.get_full_path(), status=HTTPStatus.SEE_OTHER)
    request.POST = fields  # type: ignore[assignment]
    return None


def _page(request: HtmxRequest, person: User, problem: str = "", *, ticket: str = "") -> HttpResponse:
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
    return render(request, template, context, status=HTTPStatus.FORBIDDEN)

"""A form that the hub cannot accept because it is old, incomplete, or from a signed-out person. Its text is kept."""

from http import HTTPStatus
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from dashboard.base import frame, reasons
from dashboard.base.frame import HtmxRequest

SECRET = ("csrf", "password", "code", "ticket")  # in the names of fields that no page repeats


def answer(request: HtmxRequest, *, status: int = HTTPStatus.FORBIDDEN) -> HttpResponse:
    """Return the page that leads to the form again, through the sign-in if needed; within a dialog, its panel."""
    again, reason = request.path if request.htmx else "", kept(request)
    if reason:
        again = with_reason(request.path, reason)
    is_signed_out = not request.user.is_authenticated
    fields = fields_of(request) if status == HTTPStatus.FORBIDDEN else []
    if is_signed_out and again:
        again = f"{reverse('ops:sign-in')}?{urlencode({'next': again})}"
    context = {**frame.look(request), "kept": reason, "again": again, "is_signed_out": is_signed_out}
    context |= {"fields": fields, "path": request.get_full_path(), "offers_again": not (fields and is_signed_out)}
    template = "ops/unheeded.html#panel" if request.htmx else "ops/unheeded.html"
    return render(request, template, context, status=status)


def kept(request: HttpRequest) -> str:
    """Return the reason that was typed; "" for none and for a form from another site."""
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        return ""
    return request.POST.get("reason", "").strip()[: reasons.REASON_MAX_LENGTH]


def fields_of(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the name and value of each field of a form of this site, to be sent again; none of another site's form."""
    return open_fields(request) if request.headers.get("Sec-Fetch-Site") == "same-origin" else []


def open_fields(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the name and value of each field of a form that has a valid token, without passwords and codes."""
    return [
        (name, value)
        for name, values in request.POST.lists()
        if not any(secret in name for secret in SECRET)
        for value in values
    ]


def with_reason(path: str, reason: str) -> str:
    """Return the address of a form with its reason filled in."""
    return f"{path}?{urlencode({'reason': reason})}"

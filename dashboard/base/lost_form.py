"""A form that the hub cannot accept because it is old, incomplete, or from a signed-out person. Its reason is kept."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from dashboard.base import frame
from dashboard.base.htmx import HtmxRequest
from dashboard.forms.repair import REASON_MAX_LENGTH


def answer(request: HtmxRequest, *, status: int = 403) -> HttpResponse:
    """Return the page that leads to the form again, through the sign-in if needed; within a dialog, its panel."""
    again, reason = request.path if request.htmx else "", kept(request)
    if reason:
        again = with_reason(request.path, reason)
    is_signed_out = bool(again) and not request.user.is_authenticated
    if is_signed_out:
        again = f"{reverse('ops:sign-in')}?{urlencode({'next': again})}"
    context = {**frame.look(request), "kept": reason, "again": again, "is_signed_out": is_signed_out}
    template = "ops/unheeded.html#panel" if request.htmx else "ops/unheeded.html"
    return render(request, template, context, status=status)


def kept(request: HttpRequest) -> str:
    """Return the reason that was typed; "" for none and for a form from another site."""
    if request.headers.get("Sec-Fetch-Site") == "cross-site":
        return ""
    return request.POST.get("reason", "").strip()[:REASON_MAX_LENGTH]


def with_reason(path: str, reason: str) -> str:
    """Return the address of a form with its reason filled in."""
    return f"{path}?{urlencode({'reason': reason})}"

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import View

from dashboard.base import frame
from dashboard.base.page import DashboardView
from dashboard.base.preferences import COMMON_ZONES, DENSITIES, LIVE_SECONDS, READ, THEMES, TIMES, Preferences, is_zone


class SignIn(auth_views.LoginView):
    """The sign-in. Django-axes slows down the guessing of passwords."""

    template_name = "ops/sign_in.html"
    redirect_authenticated_user = True
    http_method_names = ["get", "post"]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), **frame.look(self.request)}


class SignOut(auth_views.LogoutView):
    """The sign-out. Only its button signs out, because otherwise any link could. A GET redirects to the sign-in."""

    next_page = "ops:sign-in"
    http_method_names = ["get", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return auth_views.redirect_to_login(reverse("ops:overview"), reverse("ops:sign-in"))


class Settings(DashboardView):
    """The person's preferences. They change nothing but the cookies of this browser."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._form(Preferences.of(request).zone)

    def post(self, request: HttpRequest) -> HttpResponse:
        old, zone = Preferences.of(request), request.POST.get("zone")
        if zone is not None and not is_zone(zone.strip()):
            return self._form(zone, f'"{zone[:100]}" is no time zone; write one like Europe/Berlin.')
        chosen = old.with_changes(_asked(request))
        after = request.POST.get("next", "")
        known = url_has_allowed_host_and_scheme(after, {request.get_host()})
        if not known:
            messages.success(request, "Saved, in this browser.")
        response = HttpResponseRedirect(after if known else request.path, status=303)
        chosen.remember(response, secure=request.is_secure())
        return response

    def _form(self, zone: str, problem: str = "") -> HttpResponse:
        kept = Preferences.of(self.request)
        shown = kept.with_changes(_asked(self.request)) if problem else kept
        context = {
            "chosen": shown,
            "zone": zone,
            "themes": THEMES,
            "times": TIMES,
            "densities": DENSITIES,
            "zones": dict.fromkeys([*COMMON_ZONES, kept.zone]),
            "live_seconds": LIVE_SECONDS,
            "problem": problem,
        }
        return self.page("ops/settings.html", context, status=422 if problem else 200)


def _asked(request: HttpRequest) -> dict[str, str]:
    return {name: request.POST.get(name, "").strip() for name in READ if name in request.POST}


class Favicon(View):
    """The icon of the hub, with the number of stale leases if there are any."""

    def get(self, request: HttpRequest) -> HttpResponse:
        number = request.GET.get("stale", "0")
        stale = int(number) if number.isdecimal() and len(number) < 9 else 0
        response = render(request, "ops/favicon.svg", {"stale": min(stale, 99)}, content_type="image/svg+xml")
        response["Cache-Control"] = "public, max-age=3600"
        return response


def locked_out(request: HttpRequest, response: object = None, credentials: object = None) -> HttpResponse:
    """Return the page for a person whom django-axes has locked out."""
    return render(request, "ops/locked_out.html", frame.look(request), status=429)

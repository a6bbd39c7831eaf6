from __future__ import annotations

from typing import Any

from django.contrib.auth import views as auth_views
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import View

from dashboard import frame
from dashboard.access import Page
from dashboard.preferences import COMMON_ZONES, LIVE_SECONDS, THEMES, Preferences, is_zone


class SignIn(auth_views.LoginView):
    """Names and passwords; guessing is slowed down by django-axes."""

    template_name = "ops/sign_in.html"
    redirect_authenticated_user = True
    http_method_names = ["get", "post"]

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), **frame.look(self.request)}


class SignOut(auth_views.LogoutView):
    next_page = "ops:sign-in"
    http_method_names = ["post"]


class Settings(Page):
    """The person's own choices; they change nothing but this browser's cookies."""

    def get(self, request: HttpRequest) -> HttpResponse:
        chosen = Preferences.of(request)
        context = {
            "themes": THEMES,
            "zones": dict.fromkeys([*COMMON_ZONES, chosen.zone]),
            "live_seconds": LIVE_SECONDS,
            "problem": "",
        }
        return self.page("ops/settings.html", context)

    def post(self, request: HttpRequest) -> HttpResponse:
        old, asked = Preferences.of(request), request.POST
        zone = asked.get("zone", old.zone).strip()
        if not is_zone(zone):
            return self.problem(
                422, "Nothing was saved", f'"{zone[:100]}" is no time zone; write one like Europe/Berlin.'
            )
        theme, live = asked.get("theme", old.theme), asked.get("live", str(old.live))
        chosen = Preferences(
            theme=theme if theme in THEMES else old.theme,
            zone=zone,
            live=int(live) if live in map(str, LIVE_SECONDS) else old.live,
        )
        after = asked.get("next", "")
        known = url_has_allowed_host_and_scheme(after, {request.get_host()})
        response = HttpResponseRedirect(after if known else request.path, status=303)
        chosen.remember(response, secure=request.is_secure())
        return response


class Favicon(View):
    """The mark of the hub, with the number of stale leases when there are any."""

    def get(self, request: HttpRequest) -> HttpResponse:
        number = request.GET.get("stale", "0")
        stale = int(number) if number.isdecimal() and len(number) < 9 else 0
        response = render(request, "ops/favicon.svg", {"stale": min(stale, 99)}, content_type="image/svg+xml")
        response["Cache-Control"] = "public, max-age=3600"
        return response


def locked_out(request: HttpRequest, response: object = None, credentials: object = None) -> HttpResponse:
    """Answer whoever guessed too often."""
    return render(request, "ops/locked_out.html", frame.look(request), status=429)

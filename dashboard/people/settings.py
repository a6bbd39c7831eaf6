"""The pages of a person's own settings: preferences, password, sessions and second factor."""

from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, NamedTuple

import segno
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme

from dashboard.base import preferences, sessions
from dashboard.base.page import DashboardView
from dashboard.people import proof
from mailbox.access.people import passwords, second_factor, sign_ins
from mailbox.access.people.passwords import NotYetError

_CURRENT = forms.PasswordInput(attrs={"autocomplete": "current-password"})
QR_SCALE = 5  # pixels of a module


class Settings(DashboardView):
    """The person's preferences. They change nothing but the cookies of this browser."""

    needs = ""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._form(preferences.Preferences.of(request).zone)

    def post(self, request: HttpRequest) -> HttpResponse:
        old, zone = preferences.Preferences.of(request), request.POST.get("zone")
        if zone is not None and not preferences.is_zone(zone.strip()):
            return self._form(zone, f'"{zone[:100]}" is not a time zone. Example: Europe/Berlin.')
        chosen = old.with_changes(_posted(request))
        after = request.POST.get("next", "")
        known = url_has_allowed_host_and_scheme(after, {request.get_host()})
        if not known:
            messages.success(request, "Saved in this browser.")
        response = HttpResponseRedirect(after if known else request.path, status=303)
        chosen.remember(response, secure=request.is_secure())
        return response

    def _form(self, zone: str, problem: str = "") -> HttpResponse:
        kept = preferences.Preferences.of(self.request)
        shown = kept.with_changes(_posted(self.request)) if problem else kept
        context = {
            "chosen": shown,
            "zone": zone,
            "themes": preferences.THEMES,
            "times": preferences.TIMES,
            "densities": preferences.DENSITIES,
            "zones": dict.fromkeys([*preferences.COMMON_ZONES, kept.zone]),
            "live_seconds": preferences.LIVE_SECONDS,
            "problem": problem,
        }
        return self.page("ops/settings.html", context, status=422 if problem else 200)


def _posted(request: HttpRequest) -> dict[str, str]:
    return {name: request.POST.get(name, "").strip() for name in preferences.READ if name in request.POST}


class ChangeForm(SetPasswordForm):  # type: ignore[type-arg]
    """The current password and a new one, twice."""

    old_password = forms.CharField(label="Current password", strip=False, widget=_CURRENT)
    field_order = ("old_password", "new_password1", "new_password2")


class OtherSessionsForm(forms.Form):
    """The current password."""

    old_password = forms.CharField(label="Current password", strip=False, widget=_CURRENT)

    def __init__(self, person: User, data: Any = None) -> None:
        super().__init__(data, auto_id="elsewhere_%s")


class OwnSession(NamedTuple):
    """A session of the person; ``is_this`` marks the session of this request."""

    signed_in_at: datetime
    seen_at: datetime
    address: str
    is_this: bool


class Password(DashboardView):
    """The person's own password and sessions. Each form asks for the current password."""

    needs = ""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show()

    def post(self, request: HttpRequest) -> HttpResponse:
        is_change = request.POST.get("act") != "elsewhere"
        form = (ChangeForm if is_change else OtherSessionsForm)(self.person, request.POST)
        if not form.is_valid():
            return self._show(form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        try:
            is_right = proof.person_with(request, self.person.username, form.cleaned_data["old_password"])
        except NotYetError as later:
            form.add_error("old_password", later.message)
            return proof.postponed(self._show(form, later), later)
        if not is_right:
            form.add_error("old_password", "Incorrect current password.")
            return self._show(form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        self._apply(form, is_change=is_change)
        return HttpResponseRedirect(request.path, status=HTTPStatus.SEE_OTHER)

    def _apply(self, form: ChangeForm | OtherSessionsForm, *, is_change: bool) -> None:
        if is_change:
            stored = passwords.change(self.caller, self.person, form.cleaned_data["new_password1"])
            messages.success(self.request, "Password changed. Your other sessions have ended.")
        else:
            stored = passwords.end_other_sessions(self.caller, self.person, form.cleaned_data["old_password"])
            messages.success(self.request, "Your other sessions have ended.")
        update_session_auth_hash(self.request, stored)

    def _show(
        self, form: ChangeForm | OtherSessionsForm | None = None, later: NotYetError | None = None, *, status: int = 200
    ) -> HttpResponse:
        context: dict[str, Any] = {
            "change": form if isinstance(form, ChangeForm) else ChangeForm(self.person),
            "elsewhere": form if isinstance(form, OtherSessionsForm) else OtherSessionsForm(self.person),
            "has_problem": form is not None,
            "ticket": later.ticket if later else "",
            "sessions": self._sessions(),
        }
        return self.page("ops/password.html", context, status=status)

    def _sessions(self) -> list[OwnSession]:
        """Return the person's sessions, the newest use first."""
        own = [
            OwnSession(
                signed_in_at=_time(data.get(sessions.SIGNED_IN_AT, 0)),
                seen_at=_time(data.get(sessions.SEEN_AT, 0)),
                address=data.get(sessions.ADDRESS, ""),
                is_this=key == self.request.session.session_key,
            )
            for key, data in sign_ins.of_person(self.person.pk, self.now)
        ]
        return sorted(own, key=lambda session: session.seen_at, reverse=True)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


class SecondFactorPage(DashboardView):
    """The person's own second factor: set up, confirmed by a code, recovery codes, removed."""

    needs = ""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show()

    def post(self, request: HttpRequest) -> HttpResponse:
        act = request.POST.get("act", "")
        if act == "confirm":
            return self._confirm(request.POST.get("code", ""))
        if (page := proof.demanded(self.request)) is not None:
            return page
        person = self.person
        if act == "renew":
            return self._show(new_codes=second_factor.renew_codes(self.caller, person))
        if act == "start":
            second_factor.start(self.caller, person)
        elif act == "remove":
            second_factor.remove(self.caller, person)
            request.session.pop(sessions.SECOND_FACTOR, None)
            messages.success(request, "Second factor removed. Sign-in now needs only your password.")
        return HttpResponseRedirect(request.get_full_path(), status=HTTPStatus.SEE_OTHER)

    def _confirm(self, typed: str) -> HttpResponse:
        this = self.request.session.session_key
        others = [key for key, _ in sign_ins.of_person(self.person.pk, self.now) if key != this]
        confirmed = second_factor.confirm(self.caller, self.person, typed[: proof.MOST_TYPED], ending=others)
        if isinstance(confirmed, second_factor.Check):
            return self._show(proof.problem_of_check(confirmed), status=HTTPStatus.UNPROCESSABLE_ENTITY)
        self.request.session[sessions.SECOND_FACTOR] = True
        return self._show(new_codes=confirmed)

    def _show(self, problem: str = "", *, new_codes: Sequence[str] = (), status: int = HTTPStatus.OK) -> HttpResponse:
        confirmed, pending = second_factor.of_person(self.person), second_factor.pending_of(self.person)
        after = self.request.GET.get("next", "")
        context: dict[str, Any] = {
            "confirmed": confirmed,
            "codes_left": second_factor.codes_left(self.person) if confirmed else 0,
            "new_codes": "\n".join(new_codes),
            "problem": problem,
            "required": settings.A2A_REQUIRE_SECOND_FACTOR,
            "after": after if url_has_allowed_host_and_scheme(after, {self.request.get_host()}) else "",
        }
        if pending and not confirmed:
            picture = segno.make(pending.address, error="m").svg_data_uri(scale=QR_SCALE, border=4, light="white")
            context |= {"pending": pending, "picture": picture, "typed_key": second_factor.typed_key(pending)}
        return self.page("ops/second_factor.html", context, status=status)

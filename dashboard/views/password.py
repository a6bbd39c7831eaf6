"""The forms of a person's own password and sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from dashboard.base import passwords, sessions
from dashboard.base.page import DashboardView
from mailbox.access.people import passwords as passwords_module
from mailbox.access.people import sign_ins
from mailbox.access.people.passwords import NotYetError

if TYPE_CHECKING:
    SetPasswordBase = SetPasswordForm[User]
else:
    SetPasswordBase = SetPasswordForm


_CURRENT = forms.PasswordInput(attrs={"autocomplete": "current-password"})


class ChangeForm(SetPasswordBase):
    """The current password and a new one, twice."""

    old_password = forms.CharField(label="Current password", strip=False, widget=_CURRENT)
    field_order = ("old_password", "new_password1", "new_password2")


class OtherSessionsForm(forms.Form):
    """The current password."""

    old_password = forms.CharField(label="Current password", strip=False, widget=_CURRENT)

    def __init__(self, person: User, data: Any = None) -> None:
        super().__init__(data, auto_id="elsewhere_%s")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSession:
    """A session of the person; ``is_this`` marks the session of this request."""

    signed_in_at: datetime
    seen_at: datetime
    address: str
    is_this: bool


class Password(DashboardView):
    """The person's own password and sessions. Each form asks for the current password."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show()

    def post(self, request: HttpRequest) -> HttpResponse:
        is_change = request.POST.get("act") != "elsewhere"
        form = (ChangeForm if is_change else OtherSessionsForm)(self.person, request.POST)
        if not form.is_valid():
            return self._show(form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        try:
            is_right = passwords.person_with(request, self.person.username, form.cleaned_data["old_password"])
        except NotYetError as later:
            form.add_error("old_password", later.message)
            status = HTTPStatus.SERVICE_UNAVAILABLE if later.is_busy else HTTPStatus.TOO_MANY_REQUESTS
            response = self._show(form, later, status=status)
            response["Retry-After"] = str(later.retry_after)
            return response
        if not is_right:
            form.add_error("old_password", "Incorrect current password.")
            return self._show(form, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        self._apply(form, is_change=is_change)
        return HttpResponseRedirect(request.path, status=HTTPStatus.SEE_OTHER)

    def _apply(self, form: ChangeForm | OtherSessionsForm, *, is_change: bool) -> None:
        if is_change:
            stored = passwords_module.change(self.caller, self.person, form.cleaned_data["new_password1"])
            messages.success(self.request, "Password changed. Your other sessions have ended.")
        else:
            stored = passwords_module.end_other_sessions(self.caller, self.person, form.cleaned_data["old_password"])
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
        found = [
            OwnSession(
                signed_in_at=_time(data.get(sessions.SIGNED_IN_AT, 0)),
                seen_at=_time(data.get(sessions.SEEN_AT, 0)),
                address=data.get(sessions.ADDRESS, ""),
                is_this=key == self.request.session.session_key,
            )
            for key, data in sign_ins.of_person(self.person.pk, self.now)
        ]
        return sorted(found, key=lambda session: session.seen_at, reverse=True)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)

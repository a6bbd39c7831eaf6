"""The forms by which people prove who they are."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.forms import AuthenticationForm

from dashboard.base import passwords


class SignInForm(AuthenticationForm):
    """A name and a password, which are checked within the hub's bounds."""

    def clean(self) -> dict[str, Any]:
        """Check the password. Raises `NotYetError` if it is not checked now."""
        username, password = (self.cleaned_data.get(name) for name in ("username", "password"))
        if username is not None and password and self.request is not None:
            user = passwords.person_with(self.request, username, password)
            if user is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(user)
            self.user_cache = user
        return self.cleaned_data

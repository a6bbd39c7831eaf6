"""The forms of a person's own password and sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import User

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

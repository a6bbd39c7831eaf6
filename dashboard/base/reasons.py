"""The reason of a change: its form, and the person's latest reasons, offered again in an incident of several acts."""

from django import forms
from django.http import HttpRequest

REASON_MAX_LENGTH = 500
OFFERED = 5


class ReasonForm(forms.Form):
    """A reason for the journal."""

    reason = forms.CharField(
        max_length=REASON_MAX_LENGTH,
        error_messages={"required": "Enter a reason. It is recorded in the audit log."},
        widget=forms.TextInput(attrs={"list": "reasons", "autocomplete": "off"}),
    )
    form_token = forms.UUIDField(widget=forms.HiddenInput)

    @property
    def is_broken(self) -> bool:
        """Whether a hidden field is invalid, which no person typed or can correct."""
        return any(name in self.fields and self[name].is_hidden for name in self.errors)

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        if not any(character.isalnum() for character in reason):
            raise forms.ValidationError("Enter a reason in words. It is recorded in the audit log.")
        return reason


def remember(request: HttpRequest, reason: str) -> None:
    """Put the reason before the others in the session, from which every form offers them."""
    earlier = [old for old in request.session.get("reasons", []) if old != reason]
    request.session["reasons"] = [reason, *earlier][:OFFERED]

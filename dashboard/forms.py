"""What people fill in. The verbs decide; these forms only say early, and beside the field, what they would refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms

from mailbox.repair import MESSAGE_MAX_LENGTH, DuplicateRisk

if TYPE_CHECKING:
    from mailbox.models import Task

REASON_MAX_LENGTH = 500


class ReasonForm(forms.Form):
    """A reason for the journal."""

    reason = forms.CharField(
        max_length=REASON_MAX_LENGTH,
        error_messages={"required": "Say why: the reason is kept in the audit log."},
        widget=forms.TextInput(attrs={"list": "reasons", "autocomplete": "off"}),
    )
    form_token = forms.UUIDField(widget=forms.HiddenInput)

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"]
        if not any(character.isalnum() for character in reason):
            raise forms.ValidationError("Say why in words: the reason is kept in the audit log.")
        return reason


class RepairForm(ReasonForm):
    """One repair of the lease that was on screen."""

    lease_id = forms.UUIDField(widget=forms.HiddenInput)
    attempt = forms.IntegerField(widget=forms.HiddenInput)


class RequeueForm(RepairForm):
    """``posture`` is offered as `idempotent` only where the task declares it."""

    posture = forms.ChoiceField(
        choices=[(risk.value, risk.value) for risk in DuplicateRisk],
        error_messages={"required": "Choose one: could this work run twice safely?"},
    )

    def __init__(self, *args: Any, task: Task, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.task = task

    def clean_posture(self) -> DuplicateRisk:
        posture = DuplicateRisk(self.cleaned_data["posture"])
        if posture is DuplicateRisk.IDEMPOTENT and not self.task.is_idempotent:
            raise forms.ValidationError("The task does not declare itself idempotent with a key.")
        return posture


class ForceErrorForm(RepairForm):
    """``message`` is what the sender reads; left empty it is the reason."""

    message = forms.CharField(
        max_length=MESSAGE_MAX_LENGTH, required=False, widget=forms.Textarea(attrs={"rows": 3, "autocomplete": "off"})
    )

"""The forms of repairs. The verbs decide. A form reports early, beside the field, what its verb would refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from django import forms
from django.http import QueryDict

from dashboard.base.reasons import ReasonForm
from mailbox.inspection.search.queries import LONGEST
from mailbox.models import RepairPlan
from mailbox.repairs import plans
from mailbox.repairs.repair import MESSAGE_MAX_LENGTH, DuplicateRisk

if TYPE_CHECKING:
    from mailbox.models import Task


class RepairForm(ReasonForm):
    """A repair of the lease that was on screen."""

    lease_id = forms.UUIDField(widget=forms.HiddenInput)
    task_id = forms.UUIDField(widget=forms.HiddenInput)
    attempt = forms.IntegerField(widget=forms.HiddenInput)


def id_in(data: QueryDict, name: str) -> UUID | None:
    """Return the id in a form's data, even if the form is invalid; None without an id."""
    try:
        return UUID(data.get(name) or "")
    except ValueError:
        return None


class RequeueForm(RepairForm):
    """The form of a requeue. ``posture`` `idempotent` is offered only if the task declares it."""

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
            raise forms.ValidationError("The sender didn't declare this task idempotent.")
        return posture


class ForceErrorForm(RepairForm):
    """The form of a forced error. ``message`` is for the sender; it defaults to the reason."""

    message = forms.CharField(
        max_length=MESSAGE_MAX_LENGTH, required=False, widget=forms.Textarea(attrs={"rows": 3, "autocomplete": "off"})
    )


class LeaseIdsField(forms.Field):
    """The ids of the ticked leases, at most as many as a plan takes."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: list[str] | None) -> list[UUID]:
        try:
            return [UUID(one) for one in (value or [])[: plans.CAP]]
        except ValueError as error:
            raise forms.ValidationError("Invalid lease ID.") from error


class PlanForm(forms.Form):
    """The leases to plan: ticked leases, all leases that match ``q``, or those of an earlier plan."""

    verb = forms.ChoiceField(choices=RepairPlan.Verb.choices)
    form_token = forms.UUIDField()
    lease = LeaseIdsField(required=False)
    everything = forms.BooleanField(required=False)
    q = forms.CharField(max_length=LONGEST, required=False, empty_value="")
    after = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
    which = forms.ChoiceField(choices=[("changed", "changed"), ("all", "all")], required=False)

    @property
    def asked(self) -> UUID:
        """The identity of the request.

        The form sent twice makes the same request. Another verb or choice makes another request.
        """
        chosen = self.cleaned_data
        if chosen["after"] is not None:
            leases = f"{chosen['which'] or 'changed'} of {chosen['after']}"
        elif chosen["everything"]:
            leases = f"all of {chosen['q']}"
        else:
            leases = " ".join(sorted(map(str, chosen["lease"])))
        return uuid5(chosen["form_token"], f"{chosen['verb']} {leases}")


class PlanOfCopiesForm(forms.Form):
    """The request to plan that the tasks of a group are sent again."""

    form_token = forms.UUIDField()


class ApplyForm(ReasonForm):
    """The consent to a plan. ``with_unsafe`` is None until it is chosen; ``typed`` is the typed number of leases."""

    message = forms.CharField(max_length=MESSAGE_MAX_LENGTH, required=False)
    with_unsafe = forms.TypedChoiceField(
        choices=[("leave", "leave"), ("include", "include")],
        coerce=lambda chosen: chosen == "include",
        empty_value=None,
        required=False,
    )
    typed = forms.IntegerField(required=False, min_value=0, max_value=plans.CAP)

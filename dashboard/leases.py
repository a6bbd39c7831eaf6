"""The list of leases, the page of a lease, and the two repairs of one lease: a requeue and a forced error."""

import uuid
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar
from urllib.parse import urlsplit
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.html import format_html

from dashboard.base import export, reasons
from dashboard.base.act import Act, Wording
from dashboard.base.list_page import ListPage
from dashboard.base.page import DashboardView, choice_of, id_in, present
from dashboard.figures import thresholds
from dashboard.tasks import conversation
from dashboard.wording import commands
from dashboard.wording.journal import in_words
from mailbox.access import requests
from mailbox.database.paging import Page
from mailbox.inspection import journal, leases, lookup, tasks
from mailbox.inspection.search import keys, queries
from mailbox.models import AuditEvent, Lease, Task
from mailbox.models.lease import LeaseQuerySet
from mailbox.repairs import plans, repair
from mailbox.repairs.repair import MESSAGE_MAX_LENGTH, DuplicateRisk
from mailbox.words.errors import AlreadyResolvedError, LeaseMismatchError, NotInFlightError, UnknownTaskError

ATTEMPTS_SHOWN = 20
BETWEEN_SHOWN, CHILDREN_SHOWN = 10, 5
CHANGED = (LeaseMismatchError, NotInFlightError, AlreadyResolvedError)


class LeaseList(ListPage):
    """Live leases, oldest first, because operators look for stuck work."""

    name = "leases"
    field = "leased_at"
    kind = datetime
    keys = keys.LEASE_KEYS
    tab = "state"
    parameters: ClassVar = {
        "agent": ("agent", ""),
        "safety": ("safety", ""),
        "min_age": ("age", ">="),
        "max_age": ("age", "<"),
    }
    columns: ClassVar = export.columns(
        "lease_id task_id=task.uuid sender=task.sender.display recipient=task.recipient.display holder=holder.display "
        "attempt leased_at last_seen_at times_out_at safety idempotency_key=task.idempotency_key "
        "intent_text=task.intent_text",
        safety=lambda lease: "idempotent" if lease.task.is_idempotent else "unsafe",
    )

    @property
    def newest_first(self) -> bool:  # type: ignore[override]
        return choice_of("sort", self.request.GET.get("sort"), ["newest"]) == "newest"

    def chosen_values(self) -> dict[str, str]:
        return {**super().chosen_values(), **({"sort": "newest"} if self.newest_first else {})}

    def matching(self, text: str) -> LeaseQuerySet:
        return queries.leases(text, self.at).with_task()

    def listed(self, rows: LeaseQuerySet) -> LeaseQuerySet:
        return rows.with_task_opening()

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        return {
            "stale_after": thresholds.stale_after(),
            "stale_before": self.now - thresholds.stale_after(),
            "newest_first": self.newest_first,
            "cap": plans.CAP,
            "form_token": uuid.uuid4(),
        }

    def version_of(self, row: Any) -> object:
        return row.pk, row.last_seen_at, row.is_stale(self.now, self.at.stale_after)


class LeaseDetailPage(DashboardView):
    """A lease at a permanent address, which stays valid after the lease has ended."""

    def get(self, request: object, lease_id: UUID) -> HttpResponse:
        lease = lookup.lease(lease_id)
        if lease is None:
            return self.gone(lease_id)
        context = {
            "lease": lease,
            "task": lease.task,
            "ending": conversation.ending_of(lease, lease.task),
            "is_stale": lease.is_stale(self.now, thresholds.stale_after()),
            "stale_by": self.now - lease.leased_at - thresholds.stale_after(),
            "attempts": conversation.attempts(
                lease.task, leases.attempts_at(lease.task, most=ATTEMPTS_SHOWN), self.now
            ),
        }
        return self.page("ops/lease.html", context)


class RepairForm(reasons.ReasonForm):
    """A repair of the lease that was on screen."""

    lease_id = forms.UUIDField(widget=forms.HiddenInput)
    task_id = forms.UUIDField(widget=forms.HiddenInput)
    attempt = forms.IntegerField(widget=forms.HiddenInput)


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


class Repair(Act[Lease], is_base=True):
    """A repair of exactly the lease that the form shows. ``route`` is the verb's part of the address."""

    home = "ops:leases"
    template = "ops/repair.html"
    route: ClassVar[str]

    @cached_property
    def lease(self) -> Lease | None:
        return lookup.lease(self.kwargs["lease_id"])

    def absent(self, **where: Any) -> HttpResponse | None:
        if self.lease is not None:
            return None
        return self.gone(where["lease_id"], id_in(self.request.POST.get("task_id")))

    def subject(self, **where: Any) -> Lease:
        return present(self.lease)  # `absent` returns a page first

    def after(self, subject: Lease) -> str:
        return reverse("ops:lease", args=[subject.lease_id])

    def initial(self, subject: Lease) -> dict[str, Any]:
        shown = {"lease_id": subject.lease_id, "task_id": subject.task.uuid, "attempt": subject.attempt}
        return {**super().initial(subject), **shown}

    def is_open(self, lease: Lease) -> bool:
        """Whether there is something to repair."""
        return lease.ended_at is None

    def get(self, request: HttpRequest, **where: Any) -> HttpResponse:
        if self.lease is not None and not self.is_open(self.lease):
            return self._conflict(self.lease, request.GET.get("reason", ""))
        return super().get(request, **where)

    def act(self, subject: Lease, chosen: dict[str, Any]) -> HttpResponse:
        if (chosen["lease_id"], chosen["attempt"]) != (subject.lease_id, subject.attempt):
            return self.problem(400, "Nothing was changed", "This form was made for another lease.")
        if self._journalled(subject) is None:
            try:
                self.apply(subject, chosen)
            except CHANGED:
                if self._journalled(subject) is None:
                    return self._conflict(subject, chosen["reason"])
            except UnknownTaskError:
                return self.gone(subject.lease_id, subject.task.uuid)
        return self._receipt(subject)

    def repeat(self, chosen: dict[str, Any], **where: Any) -> HttpResponse:
        """Return the receipt again. The lease protects a repair that was interrupted before it was journalled."""
        return self.act(self.subject(**where), chosen)

    def gate_request(self, **where: Any) -> requests.Request:
        """Return the request that the verb itself would make, so that its refusal belongs to the task."""
        task_id = lookup.task_of_lease(where["lease_id"])
        if task_id is None:
            return super().gate_request(**where)
        return requests.Request.to_repair(self.needs, task_id, lease_id=where["lease_id"])

    def confirmation(self, lease: Lease) -> str:
        """Return the confirmation for the person."""
        raise NotImplementedError

    def command(self, lease: Lease, form: reasons.ReasonForm) -> str:
        """Return the equivalent command."""
        raise NotImplementedError

    def besides(self, subject: Lease, form: reasons.ReasonForm) -> dict[str, Any]:
        command = self.command(subject, form)
        return {"lease": subject, "task": subject.task, "route": self.route, "command": command}

    def _journalled(self, lease: Lease) -> AuditEvent | None:
        """Return the first row that this form wrote into the task's life; None if it wrote none."""
        return journal.of_request(self.caller, lease.task)

    def _conflict(self, lease: Lease, reason: str) -> HttpResponse:
        after = leases.aftermath(lease, most=BETWEEN_SHOWN)
        between = [in_words(event) for event in after.events]
        context = {"conflict": after, "between": between, "route": self.route, "reason": reason}
        return self.page(self.panel_of("ops/conflict.html"), context, status=409)

    def _receipt(self, lease: Lease) -> HttpResponse:
        event = self._journalled(lease)
        lease.task.refresh_from_db()
        number = ""
        if event is not None:
            number = format_html(' <a href="{}">Event #{}</a>', reverse("ops:audit-event", args=[event.pk]), event.pk)
        message = format_html("{}{}", self.confirmation(lease), number)
        if self.is_fragment and urlsplit(self.request.htmx.current_url or "").path == reverse("ops:leases"):
            lease.refresh_from_db(fields=["ended_at", "end"])
            return self.page("ops/repaired.html", {"lease": lease, "message": message})
        messages.success(self.request, message)
        return self.done(self.after(lease))


class Requeue(Repair):
    needs = requests.REQUEUE
    route = "requeue"
    wording = Wording(heading="Requeue 1 lease", verb="Requeue lease", busy="Requeueing…")

    def form_of(self, data: QueryDict | None, **options: Any) -> RequeueForm:
        return RequeueForm(data, task=self.subject().task, **options)

    def apply(self, subject: Lease, chosen: dict[str, Any]) -> str:
        reason, risk = chosen["reason"], chosen["posture"]
        repair.requeue(self.caller, subject.task.uuid, reason=reason, duplicate_risk=risk, lease_id=subject.lease_id)
        return self.confirmation(subject)

    def confirmation(self, lease: Lease) -> str:
        return f"Requeued. Attempt {lease.attempt} stays recorded; the next lease is attempt {lease.attempt + 1}."

    def command(self, lease: Lease, form: reasons.ReasonForm) -> str:
        risk, reason = (str(form[name].value() or "") for name in ("posture", "reason"))
        return commands.requeue(lease.task.uuid, lease.lease_id, risk=risk, reason=reason)


class ForceError(Repair):
    needs = requests.FORCE_ERROR
    route = "force-error"
    wording = Wording(heading="Force error on 1 lease", verb="Force error", busy="Forcing…")

    def is_open(self, lease: Lease) -> bool:
        """Whether the lease is live, or its holder's question still interrupts the task."""
        return super().is_open(lease) or lease.still_asks

    def form_of(self, data: QueryDict | None, **options: Any) -> ForceErrorForm:
        return ForceErrorForm(data, **options)

    def besides(self, subject: Lease, form: reasons.ReasonForm) -> dict[str, Any]:
        children = tasks.open_children(subject.task).with_opening().with_stale(self.now, thresholds.stale_after())
        shown = {"open_children": list(children[: CHILDREN_SHOWN + 1]), "children_shown": CHILDREN_SHOWN}
        return {**super().besides(subject, form), **shown}

    def apply(self, subject: Lease, chosen: dict[str, Any]) -> str:
        reason = chosen["reason"]
        message = chosen["message"].strip() or reason
        guard = "asking_lease_id" if subject.end == Lease.End.ASKED else "lease_id"
        repair.force_error(self.caller, subject.task.uuid, reason=reason, message=message, **{guard: subject.lease_id})
        return self.confirmation(subject)

    def confirmation(self, lease: Lease) -> str:
        return f"Task closed as an error. {lease.task.sender} will receive it."

    def command(self, lease: Lease, form: reasons.ReasonForm) -> str:
        message, reason = (str(form[name].value() or "") for name in ("message", "reason"))
        guard = None if lease.end == Lease.End.ASKED else lease.lease_id
        return commands.force_error(lease.task.uuid, guard, message=message, reason=reason)

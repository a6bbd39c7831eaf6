from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.html import format_html

from dashboard.base import lost_form
from dashboard.base.htmx import HtmxRequest
from dashboard.base.page import DashboardView
from dashboard.figures import thresholds
from dashboard.forms import reasons
from dashboard.forms import repair as forms
from dashboard.forms.repair import ForceErrorForm, RepairForm, RequeueForm
from dashboard.wording import commands, lease_conflict
from mailbox.gate import actions
from mailbox.gate.requests import Request
from mailbox.inspection import journal, lookup, tasks
from mailbox.models import AuditEvent, Lease, Task
from mailbox.verbs.repairs import repair
from mailbox.words.errors import AlreadyResolvedError, LeaseMismatchError, NotInFlightError, UnknownTaskError

CHILDREN_SHOWN = 5
CHANGED = (LeaseMismatchError, NotInFlightError, AlreadyResolvedError)


@dataclass(frozen=True, slots=True)
class Wording:
    """What one of the two verbs is called on the page."""

    route: str
    verb: str
    busy: str
    done: str


class Repair(DashboardView):
    """A form that repairs the very lease it shows, as a page of its own and, the same, within a dialog."""

    wording: ClassVar[Wording]

    def get(self, request: HttpRequest, lease_id: UUID) -> HttpResponse:
        lease = lookup.lease(lease_id)
        if lease is None:
            return self.gone(lease_id)
        if lease.ended_at is not None:
            return self._conflict(lease, request.GET.get("reason", ""))
        fresh = {
            "reason": request.GET.get("reason", "")[:500],
            "form_token": str(uuid.uuid4()),
            "lease_id": str(lease.lease_id),
            "task_id": str(lease.task.uuid),
            "attempt": lease.attempt,
        }
        return self._form(lease, self.form(lease, None, initial=fresh))

    def post(self, request: HtmxRequest, lease_id: UUID) -> HttpResponse:
        lease = lookup.lease(lease_id)
        if lease is None:
            return self.gone(lease_id, forms.id_in(request.POST, "task_id"))
        form = self.form(lease, request.POST)
        if not form.is_valid():
            return lost_form.answer(request, status=400) if form.is_broken else self._form(lease, form, status=422)
        if form.cleaned_data["lease_id"] != lease_id or form.cleaned_data["attempt"] != lease.attempt:
            return self.problem(400, "Nothing was changed", "This form was made for another lease.")
        self.caller = self.named(form.cleaned_data["form_token"])
        reasons.remember(request, form.cleaned_data["reason"])
        done = journal.of_request(self.caller, lease.task)
        if done is None:
            try:
                self.apply(lease.task, lease_id, form.cleaned_data)
            except CHANGED:
                done = journal.of_request(self.caller, lease.task)
                if done is None:
                    return self._conflict(lease, form.cleaned_data["reason"])
            except UnknownTaskError:
                return self.gone(lease_id, lease.task.uuid)
        return self._receipt(lease, done or journal.of_request(self.caller, lease.task))

    def asked(self, **where: Any) -> Request:
        """Return the request that the verb itself would make, so that its refusal stands with the task."""
        task_id = lookup.task_of_lease(where["lease_id"])
        if task_id is None:
            return super().asked(**where)
        return Request.to_repair(self.needs, task_id, lease_id=where["lease_id"])

    def form(self, lease: Lease, data: QueryDict | None, **options: Any) -> RepairForm:
        raise NotImplementedError

    def apply(self, task: Task, lease_id: UUID, chosen: dict[str, Any]) -> None:
        """Take the verb."""
        raise NotImplementedError

    def besides(self, lease: Lease) -> dict[str, Any]:
        """Return what the form of this verb shows besides."""
        return {}

    def _form(self, lease: Lease, form: RepairForm, *, status: int = 200) -> HttpResponse:
        task = lease.task
        context = {
            "lease": lease,
            "task": task,
            "form": form,
            "wording": self.wording,
            "action": reverse(f"ops:{self.wording.route}", args=[lease.lease_id]),
            "allowed": self.holds(self.needs),
            "needs": self.needs,
            "reasons": reasons.offered(self.request),
            "command": self.command(lease, form),
            **self.besides(lease),
        }
        return self.page(self._template("ops/repair.html"), context, status=status)

    def _conflict(self, seen: Lease, reason: str) -> HttpResponse:
        context = {
            "conflict": lease_conflict.what_happened(seen, self.now),
            "wording": self.wording,
            "reason": reason,
        }
        return self.page(self._template("ops/conflict.html"), context, status=409)

    def _receipt(self, lease: Lease, event: AuditEvent | None) -> HttpResponse:
        lease.task.refresh_from_db()
        number = ""
        if event is not None:
            number = format_html(' <a href="{}">Journal #{}</a>', reverse("ops:audit-event", args=[event.pk]), event.pk)
        message = format_html("{}{}", self.said(lease), number)
        if self.is_fragment and urlsplit(self.request.htmx.current_url or "").path == reverse("ops:leases"):
            lease.refresh_from_db(fields=["ended_at", "end"])
            return self.page("ops/repaired.html", {"lease": lease, "message": message, "may_select": True})
        messages.success(self.request, message)
        return self.done(reverse("ops:lease", args=[lease.lease_id]))

    def said(self, lease: Lease) -> str:
        """Return the sentence that tells what the repair did."""
        raise NotImplementedError

    def _template(self, name: str) -> str:
        return f"{name}#panel" if self.is_fragment else name

    def command(self, lease: Lease, form: RepairForm) -> str:
        """Return the command line that does the same."""
        raise NotImplementedError


class Requeue(Repair):
    needs = actions.REQUEUE
    wording = Wording("requeue", "Requeue lease", "Requeueing…", "Requeued")

    def form(self, lease: Lease, data: QueryDict | None, **options: Any) -> RequeueForm:
        return RequeueForm(data, task=lease.task, **options)

    def apply(self, task: Task, lease_id: UUID, chosen: dict[str, Any]) -> None:
        repair.requeue(
            self.caller, task.uuid, reason=chosen["reason"], duplicate_risk=chosen["posture"], lease_id=lease_id
        )

    def said(self, lease: Lease) -> str:
        return f"Requeued. Attempt {lease.attempt} stays recorded; the next lease is attempt {lease.attempt + 1}."

    def command(self, lease: Lease, form: RepairForm) -> str:
        risk, reason = (str(form[name].value() or "") for name in ("posture", "reason"))
        return commands.requeue(lease.task.uuid, lease.lease_id, risk=risk, reason=reason)


class ForceError(Repair):
    needs = actions.FORCE_ERROR
    wording = Wording("force-error", "Force error", "Forcing…", "Forced to an error")

    def form(self, lease: Lease, data: QueryDict | None, **options: Any) -> ForceErrorForm:
        return ForceErrorForm(data, **options)

    def besides(self, lease: Lease) -> dict[str, Any]:
        children = tasks.open_children(lease.task).with_stale(self.now, thresholds.stale_after())
        return {"open_children": list(children[: CHILDREN_SHOWN + 1]), "children_shown": CHILDREN_SHOWN}

    def apply(self, task: Task, lease_id: UUID, chosen: dict[str, Any]) -> None:
        message = chosen["message"].strip() or chosen["reason"]
        repair.force_error(self.caller, task.uuid, reason=chosen["reason"], message=message, lease_id=lease_id)

    def said(self, lease: Lease) -> str:
        return f"Forced to an error. {lease.task.sender} will drain it; attempt {lease.attempt} stays recorded."

    def command(self, lease: Lease, form: RepairForm) -> str:
        message, reason = (str(form[name].value() or "") for name in ("message", "reason"))
        return commands.force_error(lease.task.uuid, lease.lease_id, message=message, reason=reason)

"""What all simple acts are: a form that asks why, as a page of its own and, the same, within a dialog."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from dashboard.base import lost_form
from dashboard.base.htmx import HtmxRequest
from dashboard.base.page import DashboardView
from dashboard.forms import reasons
from dashboard.forms.repair import REASON_MAX_LENGTH, ReasonForm
from mailbox.gate import limits

Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What one act is called: ``verb`` on its button, ``busy`` while it runs, ``keep`` on the way out.

    ``about`` is the template of what the form shows above the reason.
    """

    heading: str
    verb: str
    busy: str
    keep: str
    about: str


class Act(DashboardView, Generic[Subject]):
    """One change that needs a reason. Its POST acts once, however often the form is sent. ``home`` is its list."""

    wording: ClassVar[Wording]
    home: ClassVar[str]

    def subject(self, **where: Any) -> Subject:
        """Return what the address names; raise the refusal of what is not there."""
        raise NotImplementedError

    def apply(self, subject: Subject, reason: str) -> str:
        """Take the verb; return the sentence that tells what it did."""
        raise NotImplementedError

    def after(self, subject: Subject) -> str:
        """Return the address that shows what became of it."""
        return reverse(self.home)

    def again(self) -> str:
        """Return the address that a form leads to which had been sent already; its subject may be gone."""
        return reverse(self.home)

    def closed(self, subject: Subject) -> str:
        """Say why there is nothing to do, "" when there is."""
        return ""

    def seen(self, subject: Subject) -> str:
        """Return by what a person would know the subject again: a form acts only on what it showed."""
        return ""

    def besides(self, subject: Subject, reason: str) -> dict[str, Any]:
        """Return what the form of this act shows besides."""
        return {}

    def get(self, request: HttpRequest, **where: Any) -> HttpResponse:
        fresh = {"form_token": uuid.uuid4(), "reason": request.GET.get("reason", "")[:REASON_MAX_LENGTH]}
        return self.form(self.subject(**where), ReasonForm(initial=fresh))

    def post(self, request: HtmxRequest, **where: Any) -> HttpResponse:
        form = ReasonForm(request.POST)
        if form.is_broken:
            return lost_form.answer(request, status=400)
        if not form.is_valid():
            return self.form(self.subject(**where), form, status=422)
        self.caller = self.named(form.cleaned_data["form_token"])
        reason = form.cleaned_data["reason"]
        reasons.remember(request, reason)
        with limits.once(self.caller.request_id) as is_first:
            if is_first:
                return self._act(self.subject(**where), reason)
        messages.info(request, "This form had been sent already; it acts once.")
        return self.done(self.again())

    def _act(self, subject: Subject, reason: str) -> HttpResponse:
        if closed := self.closed(subject):
            return self.problem(409, "Nothing was changed", closed)
        if self.request.POST.get("seen", "") != self.seen(subject):
            return self.form(subject, ReasonForm(initial={"form_token": uuid.uuid4(), "reason": reason}), status=409)
        messages.success(self.request, self.apply(subject, reason))
        return self.done(self.after(subject))

    def form(self, subject: Subject, form: ReasonForm, *, status: int = 200) -> HttpResponse:
        context = {
            "subject": subject,
            "form": form,
            "wording": self.wording,
            "action": self.request.path,
            "closed": self.closed(subject),
            "seen": self.seen(subject),
            "has_changed": status == 409,
            "keep": self.after(subject),
            "allowed": self.holds(self.needs),
            "needs": self.needs,
            "reasons": reasons.offered(self.request),
            **self.besides(subject, str(form["reason"].value() or "…")),
        }
        return self.page("ops/act.html#panel" if self.is_fragment else "ops/act.html", context, status=status)

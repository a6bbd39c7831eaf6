"""A change that needs a reason: its form as a page of its own and, the same, within a dialog."""

import uuid
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse

from dashboard.base import lost_form, reasons
from dashboard.base.frame import HtmxRequest
from dashboard.base.page import DashboardView
from mailbox.access.limits import rates

Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The texts of an act: ``verb`` on its button, and ``busy`` while it runs.

    ``about`` names the template of what the form shows above the reason; "" if the act has a template of its own.
    """

    heading: str
    verb: str
    busy: str
    about: str = ""


class Act(DashboardView, Generic[Subject], is_base=True):
    """One change that needs a reason. A form acts once, however often it is sent.

    ``home`` names the list of subjects.
    """

    wording: ClassVar[Wording]
    home: ClassVar[str]
    template: ClassVar[str] = "ops/act.html"

    def subject(self, **where: Any) -> Subject:
        """Return what the address names; raise the refusal of what does not exist."""
        raise NotImplementedError

    def apply(self, subject: Subject, chosen: dict[str, Any]) -> str:
        """Take the verb with the form's cleaned data; return the sentence that tells what it did."""
        raise NotImplementedError

    def after(self, subject: Subject) -> str:
        """Return the address that shows the subject after the act."""
        return reverse(self.home)

    def again(self) -> str:
        """Return the address for a form that was sent before. The subject may be gone."""
        return reverse(self.home)

    def absent(self, **where: Any) -> HttpResponse | None:
        """Return the page for a subject that is no longer kept; None while it is."""
        return None

    def closed(self, subject: Subject) -> str:
        """Return why there is nothing to do; "" if there is."""
        return ""

    def seen(self, subject: Subject) -> str:
        """Return the version of the subject that the form shows. The form acts on no other version."""
        return ""

    def besides(self, subject: Subject, form: reasons.ReasonForm) -> dict[str, Any]:
        """Return what the template of this act needs besides."""
        return {}

    def form_of(self, data: QueryDict | None, **options: Any) -> reasons.ReasonForm:
        """Return the form, bound to ``data`` or fresh."""
        return reasons.ReasonForm(data, **options)

    def initial(self, subject: Subject) -> dict[str, Any]:
        """Return the values of a fresh form."""
        return {"form_token": uuid.uuid4(), "reason": self.request.GET.get("reason", "")[: reasons.REASON_MAX_LENGTH]}

    def get(self, request: HttpRequest, **where: Any) -> HttpResponse:
        if (page := self.absent(**where)) is not None:
            return page
        subject = self.subject(**where)
        return self.show(subject, self.form_of(None, initial=self.initial(subject)))

    def post(self, request: HtmxRequest, **where: Any) -> HttpResponse:
        if (page := self.absent(**where)) is not None:
            return page
        form = self.form_of(request.POST)
        if form.is_broken:
            return lost_form.answer(request, status=400)
        if not form.is_valid():
            return self.show(self.subject(**where), form, status=422)
        self.caller = self.named(form.cleaned_data["form_token"])
        reasons.remember(request, form.cleaned_data["reason"])
        with rates.once(self.caller.request_id) as is_first:
            if is_first:
                return self.act(self.subject(**where), form.cleaned_data)
        return self.repeat(form.cleaned_data, **where)

    def act(self, subject: Subject, chosen: dict[str, Any]) -> HttpResponse:
        """Take the verb, unless the subject changed since the form was shown."""
        if closed := self.closed(subject):
            return self.problem(409, "Nothing was changed", closed)
        if self.request.POST.get("seen", "") != self.seen(subject):
            fresh = {"form_token": uuid.uuid4(), "reason": chosen["reason"]}
            return self.show(subject, self.form_of(None, initial=fresh), status=409)
        messages.success(self.request, self.apply(subject, chosen))
        return self.done(self.after(subject))

    def repeat(self, chosen: dict[str, Any], **where: Any) -> HttpResponse:
        """Return the answer to a form that was sent before."""
        messages.info(self.request, "This form was already submitted.")
        return self.done(self.again())

    def show(self, subject: Subject, form: reasons.ReasonForm, *, status: int = 200) -> HttpResponse:
        context = {
            "subject": subject,
            "form": form,
            "wording": self.wording,
            "action": self.request.path,
            "closed": self.closed(subject),
            "seen": self.seen(subject),
            "has_changed": status == 409,
            "keep": self.after(subject),
            **self.besides(subject, form),
        }
        return self.page(self.panel_of(self.template), context, status=status)

    def panel_of(self, template: str) -> str:
        """Return the name of the template, within a dialog of its panel only."""
        return f"{template}#panel" if self.is_fragment else template

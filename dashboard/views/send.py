from __future__ import annotations

import uuid
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html

from dashboard.base.page import DashboardView
from dashboard.forms.send import CannotCopyError, SendForm, copied
from mailbox.access import requests
from mailbox.access.agents import directory
from mailbox.access.own_agents import OPERATORS
from mailbox.inspection import tasks
from mailbox.life import operator_tasks
from mailbox.models import Task
from mailbox.words.errors import InvalidRequestError, TaskConflictError, UnknownAgentError

AGENTS_OFFERED = 200


class Send(DashboardView):
    """A task that a person sends as ``operators@hub``. The task's page keeps its result until a person has read it."""

    needs = requests.SEND

    def get(self, request: HttpRequest) -> HttpResponse:
        token = uuid.uuid4()
        asked = {name: request.GET.get(name, "") for name in ("recipient", "parent", "intent_text", "task_kind")}
        if original := request.GET.get("copy", ""):
            try:
                asked = copied(tasks.whole_task(UUID(original)), token)
            except ValueError:
                return self.problem(400, "Nothing to copy", "The address names no full task ID.")
            except CannotCopyError as refusal:
                return self.problem(409, "This task can't be copied", str(refusal))
        return self._form(SendForm(initial={"form_token": token, **asked}))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = SendForm(request.POST)
        if "form_token" in form.errors:
            form = SendForm({**request.POST.dict(), "form_token": uuid.uuid4()})
            form.add_error(None, "The form was incomplete. Your input is kept: check it and send again.")
        if not form.is_valid():
            return self._form(form, status=422)
        self.caller = self.named(form.cleaned_data["form_token"])
        try:
            task = operator_tasks.send_task(self.caller, form.envelope())
        except InvalidRequestError as error:
            form.refuse(error.fields)
        except UnknownAgentError as error:
            form.refuse({"recipient": error.message})
        except TaskConflictError:
            return self.problem(409, "Nothing was sent", "This form was already sent with different content.")
        else:
            self._report(task)
            return HttpResponseRedirect(reverse("ops:task", args=[task.uuid]), status=303)
        return self._form(form, status=422)

    def _report(self, task: Task) -> None:
        if task.is_compacted:
            messages.info(self.request, "This form was already sent. Its task has ended and was compacted.")
            return
        messages.success(self.request, f"Sent to {task.recipient}. The result will appear here.")
        if not operator_tasks.may_answer(task.recipient):
            how = f"a2a grant give {task.recipient} {requests.RESPOND}.{OPERATORS}"
            messages.warning(
                self.request,
                format_html(
                    "{} isn't allowed to answer yet. Grant it: <code data-command>{}</code>", task.recipient, how
                ),
            )

    def _form(self, form: SendForm, *, status: int = 200) -> HttpResponse:
        context = {
            "form": form,
            "sender": OPERATORS,
            "agents": directory.first_names(most=AGENTS_OFFERED),
            "allowed": self.holds(self.needs),
            "needs": self.needs,
            "copy_of": form["copy_of"].value(),
        }
        return self.page("ops/send.html", context, status=status)


class Acknowledge(DashboardView):
    """The button that acknowledges the result of such a task."""

    needs = requests.SEND
    http_method_names = ["post"]

    def post(self, request: HttpRequest, task_id: UUID) -> HttpResponse:
        operator_tasks.acknowledge(self.caller, task_id)
        messages.success(request, "Marked as read.")
        return HttpResponseRedirect(reverse("ops:task", args=[task_id]), status=303)

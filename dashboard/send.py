"""The page and the form of a task that a person sends."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html

from dashboard.base.page import DashboardView
from mailbox.access import own_agents, requests
from mailbox.access.agents import directory
from mailbox.inspection import tasks
from mailbox.life import operator_tasks
from mailbox.models import Task
from mailbox.words import content, errors, json_text, redaction, sealed, times
from mailbox.words.envelopes import AgentRef, DuplicateSafety, Idempotency, TaskEnvelope

LARGEST_COPY = 256 * 1024  # characters
FIELD_OF = {"idempotency.key": "idempotency_key", "deadline_ms": "deadline"}
AGENTS_OFFERED = 200


class CannotCopyError(Exception):
    """A task that the form cannot copy. Its text is for the person."""


class SendForm(forms.Form):
    """A task that a person sends to an agent. ``form_token`` is its id, so it is sent once."""

    form_token = forms.UUIDField(widget=forms.HiddenInput)
    copy_of = forms.UUIDField(widget=forms.HiddenInput, required=False)
    recipient = forms.CharField(help_text="required", error_messages={"required": "Choose an agent."})
    intent_text = forms.CharField(
        label="Instructions",
        help_text="required",
        strip=False,
        error_messages={"required": "Enter instructions."},
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    task_kind = forms.CharField(label="Kind", help_text="such as booking", required=False)
    duplicate_safety = forms.ChoiceField(
        required=False, choices=[("", ""), *((safety.value, safety.value) for safety in DuplicateSafety)]
    )
    idempotency_key = forms.CharField(
        label="Key", help_text="required for Unsafe and Idempotent, such as inv-7", required=False
    )
    deadline = forms.DateTimeField(
        help_text="in your time zone; expires if not started by then",
        required=False,
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"],
        error_messages={"invalid": "Enter a time such as 2026-11-21 14:00, in your time zone."},
    )
    work_timeout = forms.CharField(
        label="Work timeout", help_text="such as 90s, 10m or 2h; an attempt that takes longer ends", required=False
    )
    parent = forms.UUIDField(
        help_text="ID of the parent task",
        required=False,
        error_messages={"invalid": "Enter a full task ID."},
    )
    content = forms.CharField(
        label="Content blocks",
        help_text="JSON array; stored as content in the metadata",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    metadata = forms.CharField(
        help_text="JSON object; not supported by every dialect",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    @classmethod
    def trial(cls, recipient: str) -> SendForm:
        """Return the form of a short task for this agent, to stand beside another form on its page."""
        form = cls(initial={"form_token": uuid4(), "recipient": recipient}, auto_id="trial_%s")
        form.fields["recipient"].widget = forms.HiddenInput()
        form.fields["intent_text"].widget.attrs = {"rows": 3, "autocomplete": "off", "dir": "auto"}
        return form

    def clean_intent_text(self) -> str:
        text: str = self.cleaned_data["intent_text"]
        return text.replace("\r\n", "\n")

    def clean_work_timeout(self) -> timedelta | None:
        if not (text := self.cleaned_data["work_timeout"]):
            return None
        span = times.parse(text)
        if not span:
            raise forms.ValidationError("Enter a duration such as 90s, 10m, 2h or 1d.")
        return span

    def clean_content(self) -> list[dict[str, Any]]:
        blocks = _json(self.cleaned_data["content"], [])
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            raise forms.ValidationError('Enter an array of blocks, such as [{"type": "text", "text": "…"}].')
        problems = [f"{path}: {problem}" for path, problem in content.problems(blocks)]
        if problems:
            raise forms.ValidationError(problems)
        return blocks

    def clean_metadata(self) -> dict[str, Any]:
        metadata = _json(self.cleaned_data["metadata"], {})
        if not isinstance(metadata, dict):
            raise forms.ValidationError('Enter an object, such as {"ticket": "INC-4412"}.')
        if "content" in metadata and self.cleaned_data.get("content"):
            raise forms.ValidationError("The metadata has content, too. Use one of the two.")
        return metadata

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and bool(cleaned["duplicate_safety"]) != bool(cleaned["idempotency_key"].strip()):
            self.add_error("idempotency_key", "Safety and key go together: set both or neither.")
        return cleaned

    def envelope(self) -> TaskEnvelope:
        """Return the task's envelope; raise `InvalidRequestError` if the recipient is no name."""
        values = self.cleaned_data
        safety, deadline = values["duplicate_safety"], values["deadline"]
        key = values["idempotency_key"]
        return TaskEnvelope(
            id=values["form_token"],
            recipient=AgentRef.parse(values["recipient"], "recipient"),
            intent_text=values["intent_text"],
            task_kind=values["task_kind"] or None,
            parent=values["parent"],
            deadline_ms=int(deadline.timestamp() * 1000) if deadline else None,
            work_timeout=values["work_timeout"],
            idempotency=Idempotency(duplicate_safety=DuplicateSafety(safety), key=key) if safety else None,
            copy_of=values["copy_of"],
            metadata={**values["metadata"], **({"content": values["content"]} if values["content"] else {})},
        )

    def refuse(self, fields: Mapping[str, str]) -> None:
        """Add the verb's problems beside the fields that they concern."""
        for path, problem in fields.items():
            field = FIELD_OF.get(path, path)
            self.add_error(field if field in self.fields else None, problem)


def copied(task: Task, token: UUID) -> dict[str, Any]:
    """Return the values of a form that sends a copy of ``task``; raise `CannotCopyError`.

    ``token`` is the id of the copy. It names the copy's key, as `copies.key_of_copy` says.
    """
    metadata = json_text.loads(task.metadata)
    if task.state != Task.State.RESOLVED:
        raise CannotCopyError("This task hasn't finished. Only finished tasks can be copied.")
    if task.intent_text.startswith(sealed.ERASED):
        raise CannotCopyError("The payload of this task was erased, so there is nothing to copy.")
    if redaction.fields(metadata, settings.A2A_REDACTED_FIELDS) != metadata:
        raise CannotCopyError("The payload has fields that the dashboard hides, so it can't be copied here.")
    if len(task.metadata) + len(task.intent_text) > LARGEST_COPY:
        raise CannotCopyError("The payload is too large for a form. Send the copy by the API or the CLI.")
    blocks = metadata.pop("content", None) if _is_content(metadata.get("content")) else None
    return {
        "copy_of": task.uuid,
        "recipient": task.recipient.display,
        "intent_text": task.intent_text,
        "task_kind": task.task_kind,
        "duplicate_safety": task.duplicate_safety,
        "idempotency_key": operator_tasks.key_of_copy(task, own=token) or "",
        "work_timeout": f"{task.work_timeout // timedelta(seconds=1)}s" if task.work_timeout else "",
        "parent": task.parent,
        "content": _written(blocks),
        "metadata": _written(metadata),
    }


def _is_content(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and not list(content.problems(value))


def _written(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) if value else ""


def _json(text: str, blank: Any) -> Any:
    try:
        return json_text.loads(text) if text.strip() else blank
    except errors.InvalidJsonError as error:
        raise forms.ValidationError(error.message) from error


class Send(DashboardView):
    """A task that a person sends as ``operators@hub``. The task's page keeps its result until a person has read it."""

    needs = requests.SEND

    def get(self, request: HttpRequest) -> HttpResponse:
        token = uuid.uuid4()
        values = {name: request.GET.get(name, "") for name in ("recipient", "parent", "intent_text", "task_kind")}
        if original := request.GET.get("copy", ""):
            try:
                values = copied(tasks.whole_task(UUID(original)), token)
            except ValueError:
                return self.problem(400, "Nothing to copy", "The address names no full task ID.")
            except CannotCopyError as refusal:
                return self.problem(409, "This task can't be copied", str(refusal))
        return self._form(SendForm(initial={"form_token": token, **values}))

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
        except errors.InvalidRequestError as error:
            form.refuse(error.fields)
        except errors.UnknownAgentError as error:
            form.refuse({"recipient": error.message})
        except errors.TaskConflictError:
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
            how = f"a2a grant give {task.recipient} {requests.RESPOND}.{own_agents.OPERATORS}"
            messages.warning(
                self.request,
                format_html(
                    "{} isn't allowed to answer yet. Grant it: <code data-command>{}</code>", task.recipient, how
                ),
            )

    def _form(self, form: SendForm, *, status: int = 200) -> HttpResponse:
        context = {
            "form": form,
            "sender": own_agents.OPERATORS,
            "agents": directory.first_names(most=AGENTS_OFFERED),
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

"""The form of a task that a person sends."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django import forms

from mailbox.words import content, json_text, times
from mailbox.words.envelopes import AgentRef, DuplicateSafety, Idempotency, TaskEnvelope
from mailbox.words.errors import InvalidJsonError


class SendForm(forms.Form):
    """A task that a person sends to an agent. ``form_token`` is its id, so it is sent once."""

    form_token = forms.UUIDField(widget=forms.HiddenInput)
    recipient = forms.CharField(
        help_text="required: who is to do it", error_messages={"required": "Say which agent is to do it."}
    )
    intent_text = forms.CharField(
        label="Intent",
        help_text="required: what is to be done, in words",
        strip=False,
        error_messages={"required": "Say what is to be done."},
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    task_kind = forms.CharField(label="Kind", help_text="such as booking", required=False)
    duplicate_safety = forms.ChoiceField(
        required=False, choices=[("", ""), *((safety.value, safety.value) for safety in DuplicateSafety)]
    )
    idempotency_key = forms.CharField(
        label="Key", help_text="for the last two: names the work, such as inv-7", required=False
    )
    deadline = forms.DateTimeField(
        help_text="in your time zone; past it, it is not begun",
        required=False,
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"],
        error_messages={"invalid": "Write a moment like 2026-11-21 14:00, in your time zone."},
    )
    work_timeout = forms.CharField(
        label="Work timeout", help_text="such as 90s, 10m or 2h; past it, the work is given up", required=False
    )
    parent = forms.UUIDField(
        help_text="the id of the task that this is a part of",
        required=False,
        error_messages={"invalid": "Write the whole id of a task."},
    )
    content = forms.CharField(
        label="Content blocks",
        help_text="JSON: an array; kept in the metadata as content",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    metadata = forms.CharField(
        help_text="JSON: an object; agents get it where their dialect carries it",
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
            raise forms.ValidationError("Write a duration such as 90s, 10m, 2h or 1d.")
        return span

    def clean_content(self) -> list[dict[str, Any]]:
        blocks = _json(self.cleaned_data["content"], [])
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            raise forms.ValidationError('Write an array of blocks, such as [{"type": "text", "text": "…"}].')
        problems = [f"{path}: {problem}" for path, problem in content.problems(blocks)]
        if problems:
            raise forms.ValidationError(problems)
        return blocks

    def clean_metadata(self) -> dict[str, Any]:
        metadata = _json(self.cleaned_data["metadata"], {})
        if not isinstance(metadata, dict):
            raise forms.ValidationError('Write an object, such as {"ticket": "INC-4412"}.')
        if "content" in metadata and self.cleaned_data.get("content"):
            raise forms.ValidationError("It has content of its own; leave one of the two out.")
        return metadata

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if not self.errors and bool(found["duplicate_safety"]) != bool(found["idempotency_key"].strip()):
            self.add_error(
                "idempotency_key", "Duplicate safety and key go together: both, or neither for work that is unsafe."
            )
        return found

    def envelope(self) -> TaskEnvelope:
        """Return the task's envelope; raise `InvalidRequestError` if the recipient is no name."""
        said = self.cleaned_data
        safety, deadline = said["duplicate_safety"], said["deadline"]
        key = said["idempotency_key"]
        return TaskEnvelope(
            id=said["form_token"],
            recipient=AgentRef.parse(said["recipient"], "recipient"),
            intent_text=said["intent_text"],
            task_kind=said["task_kind"] or None,
            parent=said["parent"],
            deadline_ms=int(deadline.timestamp() * 1000) if deadline else None,
            work_timeout=said["work_timeout"],
            idempotency=Idempotency(duplicate_safety=DuplicateSafety(safety), key=key) if safety else None,
            metadata={**said["metadata"], **({"content": said["content"]} if said["content"] else {})},
        )

    def refuse(self, fields: Mapping[str, str]) -> None:
        """Add the verb's problems beside the fields that they concern."""
        for path, problem in fields.items():
            field = FIELD_OF.get(path, path)
            self.add_error(field if field in self.fields else None, problem)


FIELD_OF = {"idempotency.key": "idempotency_key", "deadline_ms": "deadline"}


def _json(text: str, blank: Any) -> Any:
    try:
        return json_text.loads(text) if text.strip() else blank
    except InvalidJsonError as error:
        raise forms.ValidationError(error.message) from error

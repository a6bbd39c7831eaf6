"""The task as a Python handler gets it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from a2a_hub_client.models.conversation import Message, Update
from a2a_hub_client.models.tasks import AgentId, Answer, AnswerStatus, BaseMessage
from a2a_hub_client.models.tasks import Task as ShownTask
from a2a_hub_client.models.wire import ContentInput, TextBlock, hook
from a2a_hub_client.worker.job import LeasedTask, Updates, plain


class LeaseEndedError(Exception):
    """The task is no longer this handler's: its lease has ended, or the handler was given up."""


class Task:
    """A leased task, for its handler. Threads may share it.

    ``attempt`` counts the leases of the task, ``turn`` the messages of its sender, both from 1. ``cancelled`` is set
    when the work shall end: the task was cancelled, requeued or answered, its time is over, or the worker stops.
    """

    def __init__(self, leased: LeasedTask, updates: Updates, *, may_wait: bool) -> None:
        """``may_wait``: an update may wait until the hub has taken earlier updates."""
        self.shown = msgspec.convert(leased.task, ShownTask, dec_hook=hook)
        self.lease_id = UUID(leased.lease_id)
        self.attempt = leased.attempt
        self.turn = leased.turn
        self.cancelled = threading.Event()
        self.closing: Update | Answer | None = None  # what `ask` or `reject` made, which the handler has to return
        self._messages: tuple[BaseMessage, ...] = ()
        self._updates = updates
        self._may_wait = may_wait
        self._is_over = False

    @property
    def id(self) -> UUID:
        """The id of the task."""
        return self.shown.id

    @property
    def text(self) -> str:
        """The text of the task, which is its first message."""
        return self.shown.text

    @property
    def kind(self) -> str | None:
        """The kind of the task, None without one."""
        return self.shown.kind

    @property
    def sender(self) -> AgentId:
        """The agent that sent the task."""
        return self.shown.sender

    @property
    def parent(self) -> UUID | None:
        """The id of the task that this one is a part of, None without one."""
        return self.shown.parent

    @property
    def deadline(self) -> datetime | None:
        """The time at which the task expires if it is queued, None without one."""
        return self.shown.deadline

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata that the sender added in another protocol; empty without any."""
        return self.shown.metadata or {}

    @property
    def messages(self) -> Sequence[BaseMessage]:
        """The messages of both parties, oldest first. The first is the task's. More may come while the handler runs."""
        return self._messages

    def say(self, content: ContentInput, *, metadata: Mapping[str, Any] | None = None) -> None:
        """Send a message to the task's sender. Raises `LeaseEndedError`, as the next two methods do."""
        self._post(Update.saying(content, metadata=metadata))

    def progress(self, fraction: float, note: str = "") -> None:
        """Report that a ``fraction`` of the work is done, from 0 to 1."""
        self._post(Update.of_progress(fraction, note))

    def artifact(
        self,
        artifact_id: str,
        content: ContentInput,
        *,
        append: bool = False,
        last_chunk: bool = False,
        **details: Any,
    ) -> None:
        """Add an artifact, or replace the one of that id; with ``append`` add a chunk to it.

        ``details`` are ``name``, ``description``, ``metadata`` and ``extensions``.
        """
        made = Update.with_artifact(content, artifact_id=artifact_id, append=append, last_chunk=last_chunk, **details)
        self._post(made)

    def ask(self, question: ContentInput, *, authorization: bool = False) -> Update:
        """Put a question to the sender: ``return task.ask("Which colour?")``. The question ends this lease.

        The answer brings a new lease with the next ``turn``, here or at another worker. Then ``messages`` has it.
        """
        self.closing = Update.asking(question, awaits="authorization" if authorization else "input")
        return self.closing

    def reject(self, reason: str) -> Answer:
        """Refuse the task: ``return task.reject("not my work")``."""
        self.closing = self.answer(status="rejected", error_message=reason)
        return self.closing

    def answer(
        self,
        content: ContentInput = (),
        *,
        status: AnswerStatus = "ok",
        error_message: str | None = None,
        message: ContentInput = (),
        direct: bool = False,
    ) -> Answer:
        """Make a result with more than its content, to be returned. The fields are those of `Answer`."""
        return Answer(
            task_id=self.id,
            lease_id=self.lease_id,
            content=content,
            status=status,
            error_message=error_message,
            message=message,
            direct=direct,
        )

    def hear(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Take further messages, as the hub shows them."""
        heard = tuple(self._message(one) for one in messages)
        self._messages += heard
        self.turn = max(self.turn, sum(one.role == "user" for one in self._messages))

    def end(self) -> None:
        """Take no update from now on."""
        self._is_over = True
        self.cancelled.set()

    def _message(self, message: Mapping[str, Any]) -> BaseMessage:
        if "message_id" in message:
            return msgspec.convert(message, Message if "seq" in message else BaseMessage, dec_hook=hook)
        return BaseMessage(message_id="", role="user", content=[TextBlock(self.text)])

    def _post(self, update: Update) -> None:
        """Queue the update. Raises `ValueError` for content that is not JSON, and `LeaseEndedError`."""
        fields, size = plain(update.fields)
        while self._may_wait and not self._is_over and not self._updates.await_room(1.0):
            pass
        if self._is_over:
            raise LeaseEndedError(f"task {self.id} is no longer this handler's")
        self._updates.add(fields, size=size)

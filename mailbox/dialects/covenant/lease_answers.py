"""The answers of the routes that lease tasks, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from pydantic import BaseModel
from typing_extensions import TypedDict

from mailbox.dialects.base.wire import BlockList
from mailbox.dialects.covenant.answers import WireLease, WireWork


class SaidMessage(TypedDict):
    """A message as its author sent it. ``role`` is ``user`` for the task's sender, ``agent`` for its holder."""

    message_id: str
    role: Literal["user", "agent"]
    content: BlockList
    metadata: NotRequired[dict[str, Any]]
    extensions: NotRequired[list[str]]
    reference_task_ids: NotRequired[list[str]]


class WireLeased(TypedDict):
    """A task with its lease. ``turn`` counts the messages of its sender, from 1: the task's text.

    ``message`` is the newest of them. It is left out while the task's text is the only message. A task of the official
    protocol always has it, with all parts of the message.
    """

    task: WireWork
    lease: WireLease
    turn: int
    message: NotRequired[SaidMessage]


class TaskOpt(BaseModel):
    """The leased task with its lease. Both are null when nothing was there to lease.

    ``turn`` counts the messages of the task's sender, from 1: the task's text. ``message`` is the newest of them; it is
    left out while the text is the only message. ``attempt_spent`` is there only when the attempt id is spent: its
    leases have ended. Use a new id.
    """

    kind: Literal["a2a_task_opt"]
    task: WireWork | None
    lease: WireLease | None
    turn: int | None = None
    message: SaidMessage | None = None
    attempt_spent: bool = False


class TaskLeased(BaseModel):
    """The task with its lease. ``turn`` and ``message`` are as in the answer of the next task."""

    kind: Literal["a2a_task_leased"]
    task: WireWork
    lease: WireLease
    turn: int
    message: SaidMessage | None = None

"""Requests about single tasks: send, read, talk, cancel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from a2a_hub_client._calls.call import Call, Id, Page, get, inner, nothing, page, path, post, whole
from a2a_hub_client.models.content import GivenContent, blocks_of
from a2a_hub_client.models.conversation import Artifact, Messages, MessageSent
from a2a_hub_client.models.sent import Posted, TaskQueued
from a2a_hub_client.models.tasks import Result, TaskEntry, TreeNode
from a2a_hub_client.models.upkeep import JournalEvent
from a2a_hub_client.models.wire import milliseconds

MOST_SENT = 500
MOST_BYTES = 800_000  # of one request, well below the default body limit of a hub
LONGEST_POLL = 50.0  # seconds; many proxies cut a request after 60

_queued, _posted = whole(TaskQueued), whole(Posted)
_entry, _result = inner("entry", TaskEntry), inner("result", Result | None)  # type: ignore[arg-type]
_messages, _said = whole(Messages), whole(MessageSent)
_artifacts, _nodes, _events = page("artifacts", Artifact), page("nodes", TreeNode), page("events", JournalEvent)


def _of(task_id: Id, *more: str) -> str:
    return path("a2a", "tasks", task_id, *more)


def send(task: Mapping[str, Any]) -> Call[TaskQueued]:
    """Send ``task``, which is `NewTask.body`. Its id makes a repeat safe."""
    return post("/a2a/tasks", task, _queued)


def send_many(tasks: Sequence[Mapping[str, Any] | msgspec.Raw]) -> Call[Posted]:
    """Send ``tasks``, at most `MOST_SENT`."""
    return post("/a2a/tasks/batch", {"tasks": tasks}, _posted)


def entry(task_id: Id) -> Call[TaskEntry]:
    return get(_of(task_id, "entry"), _entry)


def result(task_id: Id, *, wait: float = 0.0) -> Call[Result | None]:
    """Read the result, and wait up to ``wait`` seconds for it. The answer None: there is none yet."""
    wait_ms = milliseconds(wait) or None  # a hub of an earlier version refuses the parameter
    return get(_of(task_id, "result"), _result, wait=wait, wait_ms=wait_ms)


def messages(task_id: Id, *, after: int = 0, limit: int = 100, wait: float = 0.0) -> Call[Messages]:
    """Read the messages after the number ``after``, and wait up to ``wait`` seconds for one."""
    wait_ms = milliseconds(wait) or None
    return get(_of(task_id, "messages"), _messages, wait=wait, after=after, limit=limit, wait_ms=wait_ms)


def say(
    task_id: Id,
    content: GivenContent,
    *,
    attempt_id: Id,
    message_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Call[MessageSent]:
    fields = {"content": blocks_of(content), "attempt_id": attempt_id, "message_id": message_id, "metadata": metadata}
    return post(_of(task_id, "messages"), fields, _said)


def artifacts(task_id: Id, cursor: str | None = None) -> Call[Page[Artifact]]:
    return get(_of(task_id, "artifacts"), _artifacts, cursor=cursor)


def timeline(task_id: Id, cursor: str | None = None) -> Call[Page[JournalEvent]]:
    return get(_of(task_id, "timeline"), _events, cursor=cursor)


def tree(task_id: Id, cursor: str | None = None) -> Call[Page[TreeNode]]:
    return get(_of(task_id, "tree"), _nodes, cursor=cursor)


def cancel(task_id: Id, reason: str = "") -> Call[None]:
    """Cancel the task. A repeat changes nothing."""
    return post(_of(task_id, "cancel"), {"reason": reason}, nothing)

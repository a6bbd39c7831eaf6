"""Requests about tasks: send, read, talk and cancel; lease, post updates and results, drain results."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from a2a_hub_client._calls.call import Call, Id, Page, get, inner, nothing, page, path, post, whole
from a2a_hub_client.models.administration import JournalEvent
from a2a_hub_client.models.conversation import Artifact, Messages, MessageSent, TaskUpdated, Update
from a2a_hub_client.models.tasks import (
    Acked,
    Answer,
    DeliveredResult,
    Drained,
    HeldLease,
    LeasedTask,
    LeaseState,
    Posted,
    Received,
    Result,
    TaskEntry,
    TaskQueued,
    TreeNode,
)
from a2a_hub_client.models.wire import ContentInput, blocks_of, milliseconds

MOST_SENT = 500
MOST_BYTES = 800_000  # of one request, well below the default body limit of a hub
LONGEST_POLL = 50.0  # seconds; many proxies cut a request after 60
MOST_LEASED = MOST_POSTED = MOST_DRAINED = MOST_ACKED = 100

_queued, _posted = whole(TaskQueued), whole(Posted)
_entry, _result = inner("entry", TaskEntry), inner("result", Result | None)  # type: ignore[arg-type]
_messages, _message_sent = whole(Messages), whole(MessageSent)
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
    content: ContentInput,
    *,
    attempt_id: Id,
    message_id: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Call[MessageSent]:
    fields = {"content": blocks_of(content), "attempt_id": attempt_id, "message_id": message_id, "metadata": metadata}
    return post(_of(task_id, "messages"), fields, _message_sent)


def artifacts(task_id: Id, cursor: str | None = None) -> Call[Page[Artifact]]:
    return get(_of(task_id, "artifacts"), _artifacts, cursor=cursor)


def timeline(task_id: Id, cursor: str | None = None) -> Call[Page[JournalEvent]]:
    return get(_of(task_id, "timeline"), _events, cursor=cursor)


def tree(task_id: Id, cursor: str | None = None) -> Call[Page[TreeNode]]:
    return get(_of(task_id, "tree"), _nodes, cursor=cursor)


def cancel(task_id: Id, reason: str = "") -> Call[None]:
    """Cancel the task. A repeat changes nothing."""
    return post(_of(task_id, "cancel"), {"reason": reason}, nothing)


_received, _drained, _acked = whole(Received), whole(Drained), whole(Acked)
_leased, _lease_state, _updated = whole(LeasedTask), whole(LeaseState), whole(TaskUpdated)
_leases, _results = page("leases", HeldLease), page("results", Result)
_delivered = page("results", DeliveredResult)


def receive(
    attempt_id: Id, *, most: int = 1, wait: float = 0.0, answers: Sequence[Mapping[str, Any]] = ()
) -> Call[Received]:
    """Post ``answers``, which are `Answer.body`, and lease up to ``most`` tasks. The hub waits for the first one."""
    fields = {"max": most, "wait_ms": milliseconds(wait), "attempt_id": attempt_id, "results": answers or None}
    return post("/a2a/tasks/lease", fields, _received, wait=wait)


def lease(task_id: Id, attempt_id: Id) -> Call[LeasedTask]:
    return post(path("a2a", "tasks", task_id, "lease"), {"attempt_id": attempt_id}, _leased)


def leases(cursor: str | None = None) -> Call[Page[HeldLease]]:
    return get("/a2a/leases", _leases, cursor=cursor, limit=100)


def heartbeat(task_id: Id, lease_id: Id | None = None) -> Call[LeaseState]:
    return post(path("a2a", "tasks", task_id, "heartbeat"), {"lease_id": lease_id}, _lease_state)


def post_updates(
    task_id: Id, updates: Sequence[Update | Mapping[str, Any]], *, attempt_id: Id, lease_id: Id | None = None
) -> Call[TaskUpdated]:
    posted = [update.fields if isinstance(update, Update) else update for update in updates]
    fields = {"updates": posted, "lease_id": lease_id, "attempt_id": attempt_id}
    return post(path("a2a", "tasks", task_id, "updates"), fields, _updated)


def post_result(answer: Answer) -> Call[None]:
    """Post a result. A repeat of the same result changes nothing."""
    return post("/a2a/results", answer.body(), nothing)


def post_results(answers: Sequence[Mapping[str, Any]]) -> Call[Posted]:
    """Post ``answers``, which are `Answer.body`, at most `MOST_POSTED`."""
    return post("/a2a/results/batch", {"results": answers}, _posted)


def release(task_id: Id, reason: str, lease_id: Id | None = None) -> Call[None]:
    fields = {"reason": reason, "lease_id": lease_id}
    return post(path("a2a", "tasks", task_id, "release"), fields, nothing, is_repeatable=lease_id is not None)


def drain(attempt_id: Id, *, most: int = 1, wait: float = 0.0, ack: Sequence[Id] = ()) -> Call[Drained]:
    """Acknowledge the results of the tasks in ``ack``, and drain up to ``most``. The hub waits for the first one."""
    fields = {"max": most, "wait_ms": milliseconds(wait), "attempt_id": attempt_id, "ack": ack or None}
    return post("/a2a/results/drain", fields, _drained, wait=wait)


def ack(task_ids: Sequence[Id]) -> Call[Acked]:
    """Acknowledge results. A repeat changes nothing."""
    return post("/a2a/results/ack", {"task_ids": task_ids}, _acked)


def pending_results(cursor: str | None = None) -> Call[Page[Result]]:
    return get("/a2a/results/recent", _results, cursor=cursor, limit=100)


def delivered_results(cursor: str | None = None) -> Call[Page[DeliveredResult]]:
    return get("/a2a/results/delivered", _delivered, cursor=cursor, limit=100)

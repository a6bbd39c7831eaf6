"""Tasks, results and leases as Covenant's JSON. Pure: no queries, no clock.

Source: Covenant A2A, "Wire types" and "Daemon-mediated flow". ``kind`` is spelled as in Covenant's documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

import orjson

from mailbox.access.callers import Caller
from mailbox.database.paging import Page
from mailbox.dialects.base import wire
from mailbox.dialects.base.wire import AgentId
from mailbox.inspection.answers import Beside, Named
from mailbox.inspection.tasks import QueueEntry
from mailbox.inspection.trees import Node
from mailbox.journal import compacted_tasks
from mailbox.models import Agent, AuditEvent, Lease, Result, Task
from mailbox.words import times
from mailbox.words.times import epoch_ms

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.base.wire import AgentId
    from mailbox.dialects.covenant import answers, lease_answers

NOTHING: Mapping[int, Beside] = {}  # for results whose closing words and artifacts are shown elsewhere


def agent_id(agent: Agent) -> AgentId:
    return {"display": agent.display, "pubkey": agent.pubkey}


def task(row: Task) -> answers.WireTask:
    """Render an A2ATask. Its four required keys are always there, an optional key only if it has a value."""
    rendered: answers.WireTask = {
        "id": row.uuid,
        "sender": agent_id(row.sender),
        "recipient": agent_id(row.recipient),
        "intent_text": row.intent_text,
    }
    if row.task_kind is not None:
        rendered["task_kind"] = row.task_kind
    if row.parent is not None:
        rendered["parent"] = row.parent
    if row.deadline_ms is not None:
        rendered["deadline_ms"] = row.deadline_ms
    if row.idempotency_key is not None:
        rendered["idempotency"] = {"duplicate_safety": choice(row.duplicate_safety), "key": row.idempotency_key}
    return rendered


def work(row: Task) -> answers.WireWork:
    """Render an A2ATask for its holder, with the fields that its sender wrote beside the text in another protocol.

    A task without these, as every task of this dialect is, has neither ``context_id`` nor ``metadata``.
    """
    rendered = cast("answers.WireWork", task(row))
    if row.context_id is not None:
        rendered["context_id"] = row.context_id
    if row.metadata != "{}":
        rendered["metadata"] = json(row.metadata)
    return rendered


def queued(row: Task) -> dict[str, Any]:
    """Render the answer to a send. A repeat of a compacted task also gets the task's outcome: no drain will."""
    answer = {"kind": "a2a_task_queued", "task_id": row.uuid}
    return {**answer, "outcome": row.outcome, "compacted": True} if compacted_tasks.is_compacted(row) else answer


def next_task(leased: lease_answers.WireLeased | None, *, spent: bool) -> dict[str, Any]:
    """Render the answer to a receive. ``spent``: its attempt id takes no task any more."""
    return {"kind": "a2a_task_opt", **(leased or {"task": None, "lease": None}), **_spent(spent)}


def next_result(row: Result | None, beside: Mapping[int, Beside], *, spent: bool = False) -> dict[str, Any]:
    """Render the answer to a drain. ``spent``: its attempt id takes no result any more."""
    return {"kind": "a2a_result_opt", "result": None if row is None else result(row, beside), **_spent(spent)}


def _spent(spent: bool) -> dict[str, bool]:
    return {"attempt_spent": True} if spent else {}


def result(row: Result, beside: Mapping[int, Beside] = NOTHING) -> answers.WireResult:
    """Render an A2ATaskResult. Its content is the stored text, byte for byte.

    ``beside`` has the closing words and the artifacts of results by their keys, nothing for a plain result.
    """
    rendered: answers.WireResult = {
        "task_id": row.task.uuid,
        "status": choice(row.status),
        "content": json(row.content),
    }
    if row.error_message is not None:
        rendered["error_message"] = row.error_message
    if row.pk in beside:
        _add(rendered, beside[row.pk], row.task)
    return rendered


def _add(rendered: answers.WireResult, more: Beside, task: Task) -> None:
    if more.closing:
        rendered["message"] = [dict(block) for block in more.closing]
    if more.artifacts:
        rendered["artifacts"] = [_named(one) for one in more.artifacts]
        rendered["artifacts_left"] = more.left
        rendered["artifacts_route"] = f"/a2a/tasks/{task.uuid}/artifacts"


def _named(one: Named) -> answers.ResultArtifact:
    named: answers.ResultArtifact = {
        "artifact_id": one.artifact_id,
        "last_chunk": one.is_complete,
        "characters": one.characters,
    }
    if one.name:
        named["name"] = one.name
    return named


def delivered_page(page: Page[Result], beside: Mapping[int, Beside]) -> dict[str, Any]:
    """Render a page of results that were delivered and not acknowledged."""
    rendered: list[answers.DeliveredResult] = [
        {**result(row, beside), "delivered_at_ms": ms(row.delivered_at) or 0, "attempt_id": row.receive_attempt_id}
        for row in page.items
    ]
    return {"kind": "a2a_results_delivered", "results": rendered, "next_cursor": page.next_cursor}


def posted(row: Result) -> dict[str, Any]:
    """Render the answer to a posted result."""
    return {"kind": "a2a_result_posted", "task_id": row.task.uuid}


def lease(row: Lease) -> answers.WireLease:
    """Render a lease for its holder. ``work_timeout_ms`` counts from ``leased_at_ms``; null is no limit."""
    limit = None if row.times_out_at is None else row.times_out_at - row.leased_at
    return {
        "lease_id": row.lease_id,
        "attempt": row.attempt,
        "leased_at_ms": epoch_ms(row.leased_at),
        "last_seen_at_ms": epoch_ms(row.last_seen_at),
        "work_timeout_ms": times.to_ms(limit),
    }


def held(row: Lease) -> answers.HeldLease:
    """Render a live lease with its task."""
    return {"task": work(row.task), "leased_to": agent_id(row.holder), **lease(row)}


def queue_entry(entry: QueueEntry) -> answers.WireQueueEntry:
    """Render an A2ATaskQueueEntry. A queued task has no lease keys."""
    rendered: answers.WireQueueEntry = {
        "state": choice(entry.task.state),
        "task": task(entry.task),
        "attempt": entry.task.attempt,
    }
    if entry.task.awaits is not None:
        rendered["awaits"] = choice(entry.task.awaits)
    if entry.task.waits_on is not None:
        rendered["waits_on"] = entry.task.waits_on.uuid
    if entry.lease is not None:
        rendered["lease_id"] = entry.lease.lease_id
        rendered["leased_to"] = agent_id(entry.lease.holder)
        rendered["leased_at_ms"] = epoch_ms(entry.lease.leased_at)
    return rendered


def task_entry(entry: QueueEntry) -> answers.TaskEntry:
    """Render a queue entry with the task's times and its outcome."""
    row = entry.task
    return {
        **queue_entry(entry),
        "task": work(row),
        "outcome": choice(row.outcome),
        "work_timeout_ms": times.to_ms(row.work_timeout),
        "sent_at_ms": epoch_ms(row.sent_at),
        "queued_at_ms": epoch_ms(row.queued_at),
        "resolved_at_ms": ms(row.resolved_at),
    }


def status(
    entries: Sequence[QueueEntry],
    pending: Sequence[Result],
    beside: Mapping[int, Beside],
    *,
    limit: int,
    state_filter: str | None,
    min_lease_age_ms: int | None,
    deadline_within_ms: int | None,
) -> dict[str, Any]:
    """Render the object that the command line prints. It has seven keys, null for a filter that is not set."""
    return {
        "kind": "a2a_status",
        "limit": limit,
        "min_lease_age_ms": min_lease_age_ms,
        "deadline_within_ms": deadline_within_ms,
        "state_filter": state_filter,
        "tasks": [queue_entry(entry) for entry in entries],
        "results": [result(row, beside) for row in pending],
    }


def node(row: Node, beside: Mapping[int, Beside]) -> answers.TreeNode:
    """Render one task of a tree. Order and ``depth`` of the tasks give the tree its shape."""
    return {
        "depth": row.depth,
        "state": choice(row.task.state),
        "awaits": choice(row.task.awaits),
        "outcome": row.task.outcome,
        "attempt": row.task.attempt,
        "waits_on": row.task.waits_on.uuid if row.task.waits_on else None,
        "task": task(row.task),
        "result": result(row.result, beside) if row.result else None,
    }


def event(row: AuditEvent, caller: Caller) -> answers.JournalEvent:
    """Render a journal row. ``seq`` numbers the rows of one task.

    An agent sees neither the number of the row, which counts the rows of the whole hub, nor an address. It sees other
    agents by name, people and the command line as `actors.SOME_OPERATOR`, and the ids of its own requests alone.
    """
    is_own = caller.agent is None or caller.agent.pubkey == row.actor_pubkey
    rendered: answers.JournalEvent = {
        "kind": row.kind,
        "actor": wire.actor(row, caller),
        "task_id": row.task_id,
        "seq": row.seq,
        "at_ms": epoch_ms(row.at),
        "source": choice(row.source),
        "request_id": row.request_id if is_own else None,
        "data": json(row.data),
    }
    return rendered if caller.agent else {**rendered, "id": row.pk, "address": row.address}


def ms(moment: datetime | None) -> int | None:
    return None if moment is None else epoch_ms(moment)


def choice(value: str | None) -> Any:
    """Return the value of a field. The choices of its model are the choices of the answer."""
    return value


def json(text: str) -> Any:
    """Return stored JSON, which the renderer writes into the answer unchanged."""
    return orjson.Fragment(text)

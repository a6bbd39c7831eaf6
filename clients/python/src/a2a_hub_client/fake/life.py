"""The life of tasks in the hub in memory: sent, and ended."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from a2a_hub_client.fake.state import (
    AGENT,
    QUEUED,
    RESOLVED,
    Json,
    Party,
    Refusal,
    Tables,
    TaskRow,
    invalid,
    optional_uuid,
)
from a2a_hub_client.models.wire import blocks_of

FIELDS = (
    "task_kind",
    "parent",
    "deadline_ms",
    "work_timeout_ms",
    "idempotency",
    "callback_url",
    "callback_secret",
)


def send(tables: Tables, caller: Party, body: Json) -> TaskRow:
    """Store a task. A repeat with the same content stores none."""
    must_be_agent(caller)
    text = body.get("intent_text")
    if not isinstance(text, str) or not text.strip():
        raise invalid(intent_text="must not be blank")
    fields = {"intent_text": text, **{name: body[name] for name in FIELDS if body.get(name) is not None}}
    tables.require(caller, "a2a.send", _named(tables, body.get("recipient")))
    recipient = tables.agent(body.get("recipient"))
    task_id = optional_uuid(body.get("id"), "id") or uuid4()
    if (earlier := tables.tasks.get(task_id)) is not None:
        if (earlier.sender, earlier.recipient, earlier.fields) == (caller, recipient, fields):
            return earlier
        raise Refusal("task_conflict", f"The id {task_id} is already taken; choose another.", task_id=task_id)
    now = tables.now()
    row = TaskRow(
        id=task_id,
        sender=caller,
        recipient=recipient,
        fields=fields,
        number=tables.next_number(),
        sent_at=now,
        queued_at=now,
    )
    tables.tasks[task_id] = row
    tables.note(row, "a2a_task_sent", caller.name)
    row.messages.append(message_of(tables, row, "user", {"content": text, "message_id": str(task_id)}, seq=1))
    _replay_or_wait(tables, row)
    return row


def _named(tables: Tables, name: object) -> Party:
    """Return the agent, or a stand-in with a name that fits no agent, for the check of the capability."""
    try:
        return tables.agent(name)
    except Refusal:
        return Party(name=str(name))


def _replay_or_wait(tables: Tables, row: TaskRow) -> None:
    key = row.cache_key
    if key is None:
        return
    if (cached := tables.cached.get(key)) is not None:
        resolve(tables, row, "ok", {**cached, "task_id": row.id}, kind="a2a_result_replayed", actor=row.recipient.name)
        return
    others = (one for one in tables.tasks.values() if one.cache_key == key and one is not row)
    row.waits_on = next((one for one in others if one.state != RESOLVED and one.waits_on is None), None)


def resolve(tables: Tables, row: TaskRow, outcome: str, result: Json, *, kind: str, actor: str, end: str = "") -> None:
    """End a task with its result."""
    if row.lease is not None:
        row.lease.end = end or outcome
    row.state, row.outcome, row.result, row.awaits, row.question = RESOLVED, outcome, result, None, None
    row.waits_on = None
    row.resolved_at = row.posted_at = tables.now()
    row.number = tables.next_number()  # results are drained in the order of their posting
    tables.note(row, kind, actor)
    if outcome == "ok" and row.cache_key is not None:
        tables.cached.setdefault(row.cache_key, result)
    waiters = [one for one in tables.tasks.values() if one.waits_on is row]
    for waiter in waiters:
        waiter.waits_on = None
        if waiter.state != RESOLVED:
            _replay_or_wait(tables, waiter)


def expire_due(tables: Tables) -> None:
    """End the tasks whose deadline or work timeout is over."""
    now = tables.now()
    for row in list(tables.tasks.values()):
        deadline, limit = row.fields.get("deadline_ms"), row.fields.get("work_timeout_ms")
        if row.state == QUEUED and deadline is not None and deadline <= now:
            _expire(tables, row, "deadline exceeded")
        elif row.lease is not None and limit is not None and row.lease.at + limit <= now:
            _expire(tables, row, "Task timed out")


def _expire(tables: Tables, row: TaskRow, problem: str) -> None:
    resolve(tables, row, "expired", failure(row, problem), kind="a2a_task_expired", actor="hub", end="expired")


def failure(row: TaskRow, problem: str) -> Json:
    """Return the result of a task that failed."""
    return {"task_id": row.id, "status": "error", "content": [], "error_message": problem}


def cancel(tables: Tables, caller: Party, row: TaskRow, reason: str) -> None:
    """Cancel a task, as its sender."""
    if row.sender is not caller:
        raise not_known(row.id)
    if row.outcome == "cancelled":
        return
    must_be_open(row)
    problem = f"cancelled by the sender: {reason}" if reason else "cancelled by the sender"
    resolve(tables, row, "cancelled", failure(row, problem), kind="a2a_task_cancelled", actor=caller.name, end="cancel")


def not_known(task_id: UUID) -> Refusal:
    """Return the refusal of a task that does not exist, or that is not the caller's."""
    return Refusal("unknown_task", f"no task {task_id} is known to you", task_id=task_id)


def must_be_open(row: TaskRow) -> None:
    """Raise `Refusal` for a resolved task."""
    if row.state == RESOLVED:
        raise Refusal("already_resolved", f"Task {row.id} is already resolved as {row.outcome}.", task_id=row.id)


def requeue(tables: Tables, row: TaskRow, end: str, kind: str, actor: str) -> None:
    """End the lease and return the task to the end of the queue."""
    if row.lease is not None:
        row.lease.end = end
    row.state, row.queued_at, row.number = QUEUED, tables.now(), tables.next_number()
    tables.note(row, kind, actor)


def must_be_agent(caller: Party) -> None:
    """Raise `Refusal` for people."""
    if caller.role != AGENT:
        raise Refusal("not_an_agent", "Only agents can do this. Use the API key of an agent.")


def message_of(tables: Tables, row: TaskRow, role: str, said: Json, *, seq: int) -> Json:
    """Return a message with its number and its time."""
    optional = {name: said[name] for name in ("metadata", "progress") if said.get(name) is not None}
    message: dict[str, Any] = {
        "message_id": said.get("message_id") or str(uuid4()),
        "role": role,
        "content": list(blocks_of(said["content"])),
        "seq": seq,
        "said_at_ms": tables.now(),
    }
    return {**message, **optional}

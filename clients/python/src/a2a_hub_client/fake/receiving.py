"""Receiving at the hub in memory: tasks are leased and answered, results are drained."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from a2a_hub_client.fake.life import message_of, must_be_agent, must_be_open, not_known, requeue, resolve
from a2a_hub_client.fake.state import (
    ACKED,
    DELIVERED,
    IN_FLIGHT,
    PENDING,
    QUEUED,
    RESOLVED,
    Json,
    LeaseRow,
    Party,
    Refusal,
    Tables,
    TaskRow,
    invalid,
    optional_uuid,
    uuid_of,
)
from a2a_hub_client.models.wire import blocks_of


def receive(tables: Tables, caller: Party, most: int, attempt_id: UUID | None) -> tuple[list[TaskRow], bool]:
    """Lease the oldest tasks; return them, and whether the attempt id is spent."""
    must_be_agent(caller)
    earlier = _leased_by(tables, caller, attempt_id)
    if earlier:
        live = [row for row, lease in earlier if not lease.end]
        return live, not live
    if caller.paused is not None:
        return [], False
    waiting = [row for row in tables.tasks.values() if row.recipient is caller and is_leasable(row)]
    waiting.sort(key=lambda row: (row.queued_at, row.number))
    for row in waiting[:most]:
        begin(tables, caller, row, attempt_id)
    return waiting[:most], False


def is_leasable(row: TaskRow) -> bool:
    """Whether a task waits for its agent."""
    return row.state == QUEUED and row.waits_on is None


def lease_named(tables: Tables, caller: Party, row: TaskRow, attempt_id: UUID | None) -> LeaseRow:
    """Lease one task before older tasks."""
    if row.recipient is not caller:
        raise not_known(row.id)
    for earlier, lease in _leased_by(tables, caller, attempt_id):
        if earlier is row and not lease.end:
            return lease
    must_be_open(row)
    if row.state == IN_FLIGHT or row.waits_on is not None or caller.paused is not None:
        raise Refusal("not_in_flight", f"Task {row.id} cannot be leased now.", task_id=row.id)
    return begin(tables, caller, row, attempt_id)


def begin(tables: Tables, caller: Party, row: TaskRow, attempt_id: UUID | None) -> LeaseRow:
    """Begin a lease."""
    lease = LeaseRow(holder=caller, attempt=len(row.leases) + 1, at=tables.now(), attempt_id=attempt_id)
    row.leases.append(lease)
    row.state, row.awaits, row.question = IN_FLIGHT, None, None
    tables.note(row, "a2a_task_leased", caller.name, lease_id=str(lease.id), attempt=lease.attempt)
    return lease


def _leased_by(tables: Tables, caller: Party, attempt_id: UUID | None) -> list[tuple[TaskRow, LeaseRow]]:
    if attempt_id is None:
        return []
    pairs = ((row, lease) for row in tables.tasks.values() for lease in row.leases)
    return [(row, lease) for row, lease in pairs if lease.attempt_id == attempt_id and lease.holder is caller]


def live_lease(row: TaskRow, caller: Party, lease_id: UUID | None) -> LeaseRow:
    """Return the live lease of the caller. Raises `Refusal`."""
    if row.recipient is not caller:
        raise not_known(row.id)
    live = row.lease
    if live is None:
        raise Refusal("not_in_flight", f"Task {row.id} is not leased: it is {row.state}.", task_id=row.id)
    check_lease(row, lease_id)
    return live


def check_lease(row: TaskRow, lease_id: UUID | None) -> None:
    """Raise `Refusal` unless ``lease_id`` is the live lease, or None."""
    live = row.lease.id if row.lease else None
    if lease_id is not None and lease_id != live:
        raise Refusal("lease_mismatch", f"The lease {lease_id} is not live.", task_id=row.id, lease_id=lease_id)


def release(tables: Tables, caller: Party, row: TaskRow, lease_id: UUID | None) -> LeaseRow:
    """Return a task to the queue, as its holder. A repeat changes nothing."""
    for lease in row.leases:
        if lease.id == lease_id and lease.holder is caller and lease.end == "release":
            return lease
    live = live_lease(row, caller, lease_id)
    requeue(tables, row, "release", "a2a_task_released", caller.name)
    return live


def post_result(tables: Tables, caller: Party, body: Json) -> TaskRow:
    """Resolve a task with its result. A repeat changes nothing."""
    row = tables.task(uuid_of(body.get("task_id"), "task_id"), for_=caller)
    if row.recipient is not caller:
        raise not_known(row.id)
    tables.require(caller, "a2a.respond", row.sender)
    result, outcome = _result_of(row, body), body["status"]
    if row.state == RESOLVED:
        if row.result == result:
            return row
        code = "result_conflict" if row.outcome in ("ok", "partial", "error", "rejected") else "already_resolved"
        raise Refusal(code, f"Task {row.id} is already resolved as {row.outcome}.", task_id=row.id)
    check_lease(row, optional_uuid(body.get("lease_id"), "lease_id"))
    if closing := result.get("message"):
        said = {"content": closing}
        row.messages.append(message_of(tables, row, "agent", said, seq=len(row.events) + 1))
    resolve(tables, row, outcome, result, kind="a2a_result_posted", actor=caller.name, end="result")
    return row


def _result_of(row: TaskRow, body: Json) -> Json:
    status = body.get("status")
    if status not in ("ok", "error", "partial", "rejected"):
        raise invalid(status="must be 'ok', 'error', 'partial' or 'rejected'")
    result: Json = {
        "task_id": row.id,
        "status": "error" if status == "rejected" else status,
        "content": list(blocks_of(body.get("content") or [])),
    }
    if body.get("error_message") is not None:
        result["error_message"] = body["error_message"]
    if body.get("message"):
        result["message"] = list(blocks_of(body["message"]))
    return result


def drain(tables: Tables, caller: Party, most: int, attempt_id: UUID | None) -> tuple[list[TaskRow], bool]:
    """Drain the oldest results; return their tasks, and whether the attempt id is spent."""
    must_be_agent(caller)
    own = [row for row in tables.tasks.values() if row.sender is caller and row.result is not None]
    own.sort(key=lambda row: row.number)
    earlier = [row for row in own if attempt_id is not None and row.drained_by == attempt_id]
    if earlier:
        left = [row for row in earlier if row.delivery != ACKED]
        return left, not left
    drained = [row for row in own if row.delivery == PENDING][:most]
    for row in drained:
        row.delivery, row.delivered_at, row.drained_by = DELIVERED, tables.now(), attempt_id
        tables.note(row, "a2a_result_delivered", caller.name)
    return drained, False


def ack(tables: Tables, caller: Party, task_ids: Iterable[UUID]) -> tuple[list[UUID], list[UUID]]:
    """Acknowledge results; return the acknowledged ids, and the ids without a result of the caller."""
    acked, unknown = [], []
    for task_id in task_ids:
        row = tables.tasks.get(task_id)
        if row is None or row.sender is not caller or row.result is None:
            unknown.append(task_id)
            continue
        acked.append(task_id)
        if row.delivery != ACKED:
            row.delivery = ACKED
            tables.note(row, "a2a_result_acked", caller.name)
    return acked, unknown

"""Conversations at the hub in memory."""

from __future__ import annotations

from collections.abc import Sequence

from a2a_hub_client.fake.life import message_of, must_be_open, not_known
from a2a_hub_client.fake.receiving import live_lease
from a2a_hub_client.fake.state import (
    INTERRUPTED,
    QUEUED,
    Json,
    LeaseRow,
    Party,
    Refusal,
    Tables,
    TaskRow,
    invalid,
    optional_uuid,
)
from a2a_hub_client.models.wire import blocks_of


def say(tables: Tables, caller: Party, row: TaskRow, body: Json) -> Json:
    """Add a message of the sender, which answers a question. A repeat adds none."""
    if row.sender is not caller:
        raise not_known(row.id)
    attempt = optional_uuid(body.get("attempt_id"), "attempt_id")
    if attempt is not None and attempt in row.answers:
        return row.answers[attempt]
    must_be_open(row)
    if row.waits_on is not None:
        raise Refusal("not_askable", "This task waits for the result of another task.", task_id=row.id)
    row.turn += 1
    seq = tables.note(row, "a2a_message_sent", caller.name)
    row.messages.append(message_of(tables, row, "user", body, seq=seq))
    if row.state == INTERRUPTED:
        row.state, row.awaits, row.question, row.queued_at = QUEUED, None, None, tables.now()
    answer = {"task_id": row.id, "message_id": row.messages[-1]["message_id"], "seq": seq, "turn": row.turn}
    if attempt is not None:
        row.answers[attempt] = answer
    return answer


def update(tables: Tables, caller: Party, row: TaskRow, body: Json) -> Json:
    """Add the updates of the holder. A repeat adds none."""
    attempt = optional_uuid(body.get("attempt_id"), "attempt_id")
    if attempt is not None and attempt in row.answers:
        return row.answers[attempt]
    lease = live_lease(row, caller, optional_uuid(body.get("lease_id"), "lease_id"))
    updates: Sequence[Json] = body.get("updates") or []
    if not updates:
        raise invalid(updates="must have at least 1 entries")
    lease.seen = tables.now()
    for one in updates:
        _update(tables, row, lease, one)
    answer = {"task_id": row.id, "seq": len(row.events), "turn": row.turn}
    if attempt is not None:
        row.answers[attempt] = answer
    return answer


def _update(tables: Tables, row: TaskRow, lease: LeaseRow, one: Json) -> None:
    seq = tables.note(row, "a2a_task_updated", lease.holder.name)
    if (artifact := one.get("artifact")) is not None:
        chunk = {"artifact_id": "result", **artifact, "content": list(blocks_of(artifact["content"]))}
        flags = {"append": bool(one.get("append")), "last_chunk": bool(one.get("last_chunk"))}
        row.artifacts.append({**chunk, **flags, "seq": seq, "said_at_ms": tables.now()})
        return
    said = {**one, "content": one.get("message") or []}
    if said["content"] or one.get("progress"):
        row.messages.append(message_of(tables, row, "agent", said, seq=seq))
    if (status := one.get("status")) in ("input_required", "auth_required"):
        lease.end = "asked"
        row.state = INTERRUPTED
        row.awaits = "input" if status == "input_required" else "authorization"
        row.question = None if said["content"] else seq

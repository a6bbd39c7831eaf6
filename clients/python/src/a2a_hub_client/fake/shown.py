"""The rows of the hub in memory as the JSON of a hub."""

from __future__ import annotations

from a2a_hub_client.fake.state import Json, LeaseRow, TaskRow


def task(row: TaskRow) -> Json:
    """Return a task."""
    left_out = {"id", "work_timeout_ms", "callback_url", "callback_secret"}
    fields = {name: value for name, value in row.fields.items() if name not in left_out}
    return {"id": row.id, "sender": row.sender.id, "recipient": row.recipient.id, **fields}


def lease(row: LeaseRow, of: TaskRow) -> Json:
    """Return a lease."""
    return {
        "lease_id": row.id,
        "attempt": row.attempt,
        "leased_at_ms": row.at,
        "last_seen_at_ms": row.seen or row.at,
        "work_timeout_ms": of.fields.get("work_timeout_ms"),
    }


def leased(row: LeaseRow, of: TaskRow) -> Json:
    """Return a task with its lease, for its new holder."""
    shown: Json = {"task": task(of), "lease": lease(row, of), "turn": of.turn}
    said = [message for message in of.messages if message["role"] == "user"]
    if len(said) > 1:
        shown["message"] = {name: said[-1][name] for name in ("message_id", "role", "content")}
    return shown


def entry(row: TaskRow) -> Json:
    """Return a task with its state and its times."""
    shown: Json = {"state": row.state, "task": task(row), "attempt": len(row.leases)}
    if row.awaits is not None:
        shown["awaits"] = row.awaits
    if row.waits_on is not None:
        shown["waits_on"] = row.waits_on.id
    if (live := row.lease) is not None:
        shown |= {"lease_id": live.id, "leased_to": live.holder.id, "leased_at_ms": live.at}
    times = {"sent_at_ms": row.sent_at, "queued_at_ms": row.queued_at, "resolved_at_ms": row.resolved_at}
    return {**shown, "outcome": row.outcome, **times}


def result(row: TaskRow) -> Json | None:
    """Return the result of a task, None without one."""
    if row.result is None:
        return None
    whole = artifacts(row)
    if not whole:
        return row.result
    named = [
        {
            "artifact_id": one["artifact_id"],
            "last_chunk": one["last_chunk"],
            "characters": len(str(one["content"])),
            **({"name": one["name"]} if "name" in one else {}),
        }
        for one in whole
    ]
    return {**row.result, "artifacts": named[:100], "artifacts_left": len(named[100:])}


def artifacts(row: TaskRow) -> list[Json]:
    """Return the artifacts of a task, each with all its chunks."""
    whole: dict[str, Json] = {}
    for chunk in row.artifacts:
        before = whole.get(chunk["artifact_id"]) if chunk["append"] else None
        content = [*before["content"], *chunk["content"]] if before else chunk["content"]
        whole[chunk["artifact_id"]] = {**(before or {}), **chunk, "content": content, "append": False}
    return list(whole.values())

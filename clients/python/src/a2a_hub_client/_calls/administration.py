"""Requests about agents, keys, grants and routes, and about what operators read and repair."""

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from a2a_hub_client._calls.call import Call, Id, Page, get, inner, nothing, page, path, post, whole
from a2a_hub_client.models.administration import (
    AgentEntry,
    AgentPaused,
    Delivery,
    Grant,
    HubStatus,
    JournalEvent,
    Key,
    Me,
    NewAgent,
    NewGrant,
    NewKey,
    NewRoute,
    Peer,
    Person,
    Quota,
    RepairOutcome,
    ReplayEntry,
    RetryReport,
    RevokedKey,
    RotatedKey,
    Route,
    SigningKey,
    Verification,
)
from a2a_hub_client.models.tasks import AgentId, QueueEntry, Task, TaskEntry
from a2a_hub_client.models.wire import epoch_ms, milliseconds, to_json
from a2a_hub_client.retry import Duration

MANY = 100  # items of a page

_me, _entry, _new_agent, _paused = whole(Me), whole(AgentEntry), whole(NewAgent), whole(AgentPaused)
_new_key, _rotated, _revoked_key = whole(NewKey), whole(RotatedKey), whole(RevokedKey)
_new_route, _new_grant = whole(NewRoute), whole(NewGrant)
_quotas, _signing_keys = inner("quotas", list[Quota]), inner("signing_keys", list[SigningKey])
_agents, _people, _keys = page("agents", AgentId), page("people", Person), page("keys", Key)
_routes, _grants, _peers = page("routes", Route), page("capabilities", Grant), page("peers", Peer)


def _of(agent: str, *more: str) -> str:
    return path("a2a", "agents", agent, *more)


def me() -> Call[Me]:
    return get("/a2a/me", _me)


def agents(cursor: str | None = None) -> Call[Page[AgentId]]:
    return get("/a2a/agents", _agents, cursor=cursor, limit=MANY)


def agent(name: str) -> Call[AgentEntry]:
    return get(_of(name), _entry)


def add_agent(display: str, *, pubkey: str | None = None, proof: Mapping[str, Any] | None = None) -> Call[NewAgent]:
    fields = {"display": display, "pubkey": pubkey, "proof": proof}
    return post("/a2a/agents", fields, _new_agent, is_repeatable=False)


def pause_agent(name: str, reason: str) -> Call[AgentPaused]:
    return post(_of(name, "pause"), {"reason": reason}, _paused)


def resume_agent(name: str, reason: str = "") -> Call[None]:
    return post(_of(name, "resume"), {"reason": reason}, nothing)


def quotas(name: str) -> Call[list[Quota]]:
    return get(_of(name, "quotas"), _quotas)


def set_quotas(name: str, limits: Mapping[str, int | None], recipient: str | None = None) -> Call[list[Quota]]:
    """Send a limit None, too: it restores the setting."""
    call = post(_of(name, "quotas"), {}, _quotas)
    fields = {**limits, **({} if recipient is None else {"recipient": recipient})}
    return dataclasses.replace(call, body=to_json(fields))


def signing_keys(name: str) -> Call[list[SigningKey]]:
    return get(_of(name, "pubkey"), _signing_keys)


def set_signing_key(name: str, proof: Mapping[str, Any]) -> Call[list[SigningKey]]:
    return post(_of(name, "pubkey"), proof, _signing_keys, is_repeatable=False)


def retire_signing_key(name: str) -> Call[list[SigningKey]]:
    return post(_of(name, "pubkey"), {}, _signing_keys, method="DELETE")


def keys(cursor: str | None = None) -> Call[Page[Key]]:
    return get("/a2a/keys", _keys, cursor=cursor, limit=MANY)


def add_key(*, agent: str | None, person: str | None, expires_at: datetime | None) -> Call[NewKey]:
    fields = {"agent": agent, "username": person, "expires_at": None if expires_at is None else epoch_ms(expires_at)}
    return post("/a2a/keys", fields, _new_key, is_repeatable=False)


def rotate_key(overlap: Duration) -> Call[RotatedKey]:
    """Replace the key. A repeat replaces the successor whose answer was lost."""
    return post("/a2a/keys/rotate", {"overlap_ms": milliseconds(overlap)}, _rotated)


def revoke_key(public_id: str, *, with_made: bool = False) -> Call[RevokedKey]:
    return post("/a2a/keys/revoke", {"public_id": public_id, "with_made": with_made}, _revoked_key)


def people(cursor: str | None = None) -> Call[Page[Person]]:
    return get("/a2a/people", _people, cursor=cursor, limit=MANY)


def routes(cursor: str | None = None) -> Call[Page[Route]]:
    return get("/a2a/routes", _routes, cursor=cursor, limit=MANY)


def add_route(agent: str, rate_limit: int | None = None) -> Call[NewRoute]:
    return post("/a2a/routes", {"agent": agent, "rate_limit": rate_limit}, _new_route, is_repeatable=False)


def revoke_route(public_id: str) -> Call[None]:
    return post("/a2a/routes/revoke", {"public_id": public_id}, nothing)


def grants(cursor: str | None = None) -> Call[Page[Grant]]:
    return get("/capabilities/recent", _grants, cursor=cursor, limit=MANY)


def grant(
    agent: str,
    action: str,
    *,
    scope: Mapping[str, Any] | None = None,
    expires_at: datetime | None = None,
    max_uses: int | None = None,
) -> Call[NewGrant]:
    fields = {
        "subject": agent,
        "action": action,
        "scope": scope,
        "expires_at": None if expires_at is None else epoch_ms(expires_at),
        "max_uses": max_uses,
    }
    return post("/capabilities/grant", fields, _new_grant, is_repeatable=False)


def revoke_grant(grant_id: Id) -> Call[None]:
    return post("/capabilities/revoke", {"grant_id": grant_id}, nothing)


def peers(cursor: str | None = None) -> Call[Page[Peer]]:
    return get("/a2a/peers", _peers, cursor=cursor, limit=MANY)


_queue, _tasks, _events = page("tasks", QueueEntry), page("tasks", Task), page("events", JournalEvent)
_entries, _deliveries = page("entries", ReplayEntry), page("deliveries", Delivery)
_outcome, _report, _dropped = inner("outcome", RepairOutcome), inner("report", RetryReport), inner("dropped", int)
_task_entries = page("entries", TaskEntry)
_status, _verification = whole(HubStatus), whole(Verification)


def queue(
    cursor: str | None = None,
    *,
    state: str | None = None,
    min_lease_age: Duration | None = None,
    deadline_within: Duration | None = None,
) -> Call[Page[QueueEntry]]:
    return get(
        "/a2a/queue",
        _queue,
        cursor=cursor,
        limit=MANY,
        state_filter=state,
        min_lease_age_ms=None if min_lease_age is None else milliseconds(min_lease_age),
        deadline_within_ms=None if deadline_within is None else milliseconds(deadline_within),
    )


def status(limit: int = 10) -> Call[HubStatus]:
    return get("/a2a/status", _status, limit=limit)


def tasks(cursor: str | None = None) -> Call[Page[TaskEntry]]:
    return get("/a2a/tasks", _task_entries, cursor=cursor, limit=MANY)


def queued_tasks(cursor: str | None = None) -> Call[Page[Task]]:
    return get("/a2a/tasks/recent", _tasks, cursor=cursor, limit=MANY)


def journal(cursor: str | None = None, *, since: datetime | None = None) -> Call[Page[JournalEvent]]:
    since_ms = None if since is None else epoch_ms(since)
    return get("/audit/recent", _events, cursor=cursor, limit=MANY, since_ms=since_ms)


def verify_journal(
    *, from_row: int = 1, to_row: int | None = None, after: int | None = None, blocks: int = 10, head: str | None = None
) -> Call[Verification]:
    return get("/audit/verify", _verification, from_row=from_row, to_row=to_row, after=after, blocks=blocks, head=head)


def requeue(
    task_id: Id, reason: str, *, duplicate_risk: Literal["idempotent", "operator_accepted"], lease_id: Id | None = None
) -> Call[RepairOutcome]:
    command = {"action": "requeue", "duplicate_risk": duplicate_risk, "lease_id": lease_id}
    return _repair(task_id, command, reason)


def force_error(task_id: Id, message: str, reason: str, lease_id: Id | None = None) -> Call[RepairOutcome]:
    return _repair(task_id, {"action": "force_error", "message": message, "lease_id": lease_id}, reason)


def _repair(task_id: Id, command: Mapping[str, object], reason: str) -> Call[RepairOutcome]:
    filled = {name: value for name, value in command.items() if value is not None}
    fields = {"task_id": task_id, "command": filled, "reason": reason}
    return post("/a2a/repair", fields, _outcome, is_repeatable="lease_id" in filled)


def retry_stale(
    *,
    enabled: bool = False,
    min_lease_age: Duration | None = None,
    max_attempts: int | None = None,
    max_requeues: int | None = None,
    scan_limit: int | None = None,
) -> Call[RetryReport]:
    fields = {
        "enabled": enabled,
        "min_lease_age_ms": None if min_lease_age is None else milliseconds(min_lease_age),
        "max_attempts": max_attempts,
        "max_requeues": max_requeues,
        "scan_limit": scan_limit,
    }
    return post("/a2a/retry-stale", fields, _report, is_repeatable=not enabled)


def compact() -> Call[int]:
    """Delete finished tasks. The answer is their number."""
    return post("/a2a/compact", {}, _dropped, is_repeatable=False)


def replay_entries(cursor: str | None = None) -> Call[Page[ReplayEntry]]:
    return get("/a2a/replay-entries", _entries, cursor=cursor, limit=MANY)


def drop_replay_entry(entry_id: int, reason: str, source_task_id: Id | None = None) -> Call[None]:
    fields = {"id": entry_id, "reason": reason, "source_task_id": source_task_id}
    return post("/a2a/replay-entries/drop", fields, nothing, is_repeatable=False)


def deliveries(cursor: str | None = None) -> Call[Page[Delivery]]:
    return get("/a2a/deliveries", _deliveries, cursor=cursor, limit=MANY)


def resend_delivery(delivery_id: Id, reason: str) -> Call[None]:
    return post(path("a2a", "deliveries", delivery_id, "resend"), {"reason": reason}, nothing, is_repeatable=False)

"""The routes of the hub in memory for agents, keys, grants and repairs."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from uuid import uuid4

from a2a_hub_client.fake import life, receiving, shown
from a2a_hub_client.fake.requests import Handler, Request
from a2a_hub_client.fake.state import (
    AGENT,
    IN_FLIGHT,
    RESOLVED,
    Json,
    Party,
    Refusal,
    Tables,
    TaskRow,
    invalid,
    uuid_of,
)


def new_key(tables: Tables, party: Party) -> Json:
    """Add a key of a party; return it."""
    public_id, key = secrets.token_hex(4), f"a2a_{secrets.token_urlsafe(24)}"
    tables.keys[key], tables.key_ids[public_id] = party, key
    return {"public_id": public_id, "api_key": key, "expires_at": None}


def new_agent(tables: Tables, display: str) -> Party:
    """Register an agent. Raises `Refusal` for a name that is taken."""
    if display in tables.parties:
        raise Refusal("agent_conflict", f"The name {display} is already registered.")
    party = Party(name=display)
    tables.parties[display] = party
    return party


def new_grant(tables: Tables, subject: Party, action: str, *, by: str, **limits: object) -> Json:
    """Grant a capability; return the grant."""
    grant = {
        "grant_id": uuid4(),
        "subject": subject.id,
        "action": action,
        "scope": limits.get("scope") or {},
        "granted_by": by,
        "expires_at": limits.get("expires_at"),
        "max_uses": limits.get("max_uses"),
        "uses": 0,
        "created_at_ms": tables.now(),
        "revoked_at_ms": None,
    }
    tables.grants.append(grant)
    return grant


def me(request: Request) -> Json:
    caller = request.caller
    if caller.role == AGENT:
        return {"agent": caller.id, "person": None, "role": None}
    return {"agent": None, "person": caller.name, "role": caller.role}


def agents(request: Request) -> Json:
    return request.page("agents", [agent.id for agent in request.tables.agents()])


def agent(request: Request) -> Json:
    found = request.tables.agent(request.words["agent"])
    paused_at = None if found.paused is None else found.paused_at
    return {"agent": found.id, "created_at_ms": 0, "paused_at_ms": paused_at, "paused_reason": found.paused}


def add_agent(request: Request) -> Json:
    request.tables.require(request.caller, "a2a.agents.register")
    made = new_agent(request.tables, request.body["display"])
    return {"agent": made.id, "private_key": None, "api_key": new_key(request.tables, made)["api_key"]}


def pause_agent(request: Request) -> Json:
    request.tables.require(request.caller, "a2a.agents.pause")
    found = request.tables.agent(request.words["agent"])
    found.paused, found.paused_at = request.body["reason"], request.tables.now()
    return {"agent": found.id, "paused_at_ms": found.paused_at, "reason": found.paused}


def resume_agent(request: Request) -> Json:
    request.tables.require(request.caller, "a2a.agents.pause")
    found = request.tables.agent(request.words["agent"])
    found.paused = None
    return {"agent": found.id}


def add_key(request: Request) -> Json:
    name = request.body.get("agent")
    owner = request.caller if name is None else request.tables.agent(name)
    if owner is not request.caller:
        request.tables.require(request.caller, "a2a.agents.register")
    return new_key(request.tables, owner)


def revoke_key(request: Request) -> Json:
    public_id = request.body["public_id"]
    key = request.tables.key_ids.pop(public_id, None)
    if key is None:
        raise Refusal("unknown_key", "No such API key.")
    del request.tables.keys[key]
    return {"public_id": public_id, "also": []}


def grant(request: Request) -> Json:
    request.tables.require(request.caller, "a2a.grant")
    subject = request.tables.agent(request.body["subject"])
    limits = {name: request.body.get(name) for name in ("scope", "expires_at", "max_uses")}
    made = new_grant(request.tables, subject, request.body["action"], by=f"user:{request.caller.name}", **limits)
    return {"grant_id": made["grant_id"], "subject_display": subject.name, "action": made["action"]}


def revoke_grant(request: Request) -> Json:
    request.tables.require(request.caller, "a2a.grant")
    wanted = uuid_of(request.body["grant_id"], "grant_id")
    for one in request.tables.grants:
        if one["grant_id"] == wanted:
            one["revoked_at_ms"] = one["revoked_at_ms"] or request.tables.now()
            return {"grant_id": wanted, "revoked_at_ms": one["revoked_at_ms"]}
    raise Refusal("unknown_grant", "No such grant is known to this caller.", grant_id=wanted)


def grants(request: Request) -> Json:
    own = [one for one in request.tables.grants if request.caller.role != AGENT or one["subject"] == request.caller.id]
    return request.page("capabilities", own[::-1])


def _visible(request: Request) -> list[TaskRow]:
    """Return the tasks that the caller may see, the newest first."""
    rows = list(request.tables.tasks.values())[::-1]
    caller = request.caller
    return [row for row in rows if caller.role != AGENT or caller in (row.sender, row.recipient)]


def tasks(request: Request) -> Json:
    return request.page("entries", [shown.entry(row) for row in _visible(request)])


def queued_tasks(request: Request) -> Json:
    return request.page("tasks", [shown.task(row) for row in _visible(request) if receiving.is_leasable(row)])


def queue(request: Request) -> Json:
    state = request.query.get("state_filter")
    open_ = [row for row in _visible(request) if row.state != RESOLVED and state in (None, row.state)]
    return request.page("tasks", [shown.entry(row) for row in open_])


def status(request: Request) -> Json:
    pending = [shown.result(row) for row in _visible(request) if row.result is not None and row.delivery == "pending"]
    return {"tasks": queue(request)["tasks"], "results": pending[: int(request.query.get("limit") or 10)]}


def journal(request: Request) -> Json:
    since = int(request.query.get("since_ms") or 0)
    return request.page("events", [event for event in request.tables.journal[::-1] if event["at_ms"] >= since])


def repair(request: Request) -> Json:
    command, reason = request.body["command"], request.body.get("reason") or ""
    action = command["action"]
    request.tables.require(request.caller, f"a2a.repair.{action}")
    if not reason.strip():
        raise invalid(reason="must not be blank")
    row = request.tables.task(request.body["task_id"], for_=request.caller)
    wanted = command.get("lease_id")
    if wanted is not None:
        receiving.check_lease(row, uuid_of(wanted, "lease_id"))
    if row.state != IN_FLIGHT:
        raise Refusal("not_in_flight", f"Task {row.id} is not leased: it is {row.state}.", task_id=row.id)
    told: Json = {"task_id": row.id, "attempt": len(row.leases)}
    actor = f"user:{request.caller.name}"
    if action == "requeue":
        _must_fit(row, command["duplicate_risk"])
        life.requeue(request.tables, row, "requeue", "a2a_repair_applied", actor)
        return {"outcome": {**told, "action": "requeued", "state": "queued"}}
    failed = life.failure(row, command["message"])
    life.resolve(request.tables, row, "error", failed, kind="a2a_repair_applied", actor=actor, end="force_error")
    return {"outcome": {**told, "action": "forced_error", "state": "result_pending", "result": row.result}}


def _must_fit(row: TaskRow, risk: str) -> None:
    if risk == "idempotent" and row.cache_key is None:
        raise Refusal("duplicate_risk_mismatch", f"Task {row.id} is not declared idempotent.", task_id=row.id)


AGENT_PATH = "/a2a/agents/(?P<agent>[^/]+)"
ROUTES: Mapping[str, Handler] = {
    "GET /a2a/me": me,
    "GET /a2a/agents": agents,
    "POST /a2a/agents": add_agent,
    f"GET {AGENT_PATH}": agent,
    f"POST {AGENT_PATH}/pause": pause_agent,
    f"POST {AGENT_PATH}/resume": resume_agent,
    "POST /a2a/keys": add_key,
    "POST /a2a/keys/revoke": revoke_key,
    "POST /capabilities/grant": grant,
    "POST /capabilities/revoke": revoke_grant,
    "GET /capabilities/recent": grants,
    "GET /a2a/tasks": tasks,
    "GET /a2a/tasks/recent": queued_tasks,
    "GET /a2a/queue": queue,
    "GET /a2a/status": status,
    "GET /audit/recent": journal,
    "POST /a2a/repair": repair,
}

"""Requests about agents, people, keys, public routes and grants."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from a2a_hub_client._calls.call import Call, Id, Page, get, inner, nothing, page, path, post, whole
from a2a_hub_client.models.access import (
    AgentEntry,
    AgentPaused,
    Grant,
    Key,
    Me,
    NewAgent,
    NewGrant,
    NewKey,
    NewRoute,
    Peer,
    Person,
    Quota,
    RevokedKey,
    RotatedKey,
    Route,
    SigningKey,
)
from a2a_hub_client.models.tasks import AgentId
from a2a_hub_client.models.wire import epoch_ms, milliseconds, to_json
from a2a_hub_client.retry import Duration

_me, _entry, _new_agent, _paused = whole(Me), whole(AgentEntry), whole(NewAgent), whole(AgentPaused)
_new_key, _rotated, _revoked_key = whole(NewKey), whole(RotatedKey), whole(RevokedKey)
_new_route, _new_grant = whole(NewRoute), whole(NewGrant)
_quotas, _signing_keys = inner("quotas", list[Quota]), inner("signing_keys", list[SigningKey])
_agents, _people, _keys = page("agents", AgentId), page("people", Person), page("keys", Key)
_routes, _grants, _peers = page("routes", Route), page("capabilities", Grant), page("peers", Peer)
MANY = 100  # items of a page


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

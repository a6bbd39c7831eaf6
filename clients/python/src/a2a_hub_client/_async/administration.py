"""The methods of operators and admins: agents, keys, grants and routes; the queue, the journal and repairs."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from a2a_hub_client._async.connection import AsyncConnection
from a2a_hub_client._calls import Id, get, inner, nothing, path, post, whole
from a2a_hub_client.models import administration as models
from a2a_hub_client.models.tasks import AgentId, QueueEntry, State, Task, TaskEntry
from a2a_hub_client.models.wire import epoch_ms, milliseconds, to_json
from a2a_hub_client.retry import Duration

_signing_keys = inner("signing_keys", list[models.SigningKey])


class AsyncUpkeep(AsyncConnection):
    """Reads and repairs the hub. An agent sees its own tasks, an operator sees all."""

    def tasks(self) -> AsyncIterator[TaskEntry]:
        """Yield the tasks in any state, the newest first."""
        return self.listed("/a2a/tasks", "entries", TaskEntry)

    def queued_tasks(self) -> AsyncIterator[Task]:
        """Yield the queued tasks, without leasing them."""
        return self.listed("/a2a/tasks/recent", "tasks", Task)

    def queue(
        self,
        *,
        state: State | None = None,
        min_lease_age: Duration | None = None,
        deadline_within: Duration | None = None,
    ) -> AsyncIterator[QueueEntry]:
        """Yield the tasks that are not resolved, with their leases.

        ``state`` keeps those of one state, ``min_lease_age`` those that have been leased for so long, and
        ``deadline_within`` those whose deadline comes so soon.
        """
        age = None if min_lease_age is None else milliseconds(min_lease_age)
        within = None if deadline_within is None else milliseconds(deadline_within)
        ages = {"min_lease_age_ms": age, "deadline_within_ms": within}
        return self.listed("/a2a/queue", "tasks", QueueEntry, state_filter=state, **ages)

    async def status(self, *, limit: int = 10) -> models.HubStatus:
        """Return the newest unresolved tasks and the newest pending results, ``limit`` of each."""
        return await self.perform(get("/a2a/status", whole(models.HubStatus), limit=limit))

    def journal(self, *, since: datetime | None = None) -> AsyncIterator[models.JournalEvent]:
        """Yield the rows of the journal since a time, the newest first."""
        since_ms = None if since is None else epoch_ms(since)
        return self.listed("/audit/recent", "events", models.JournalEvent, since_ms=since_ms)

    async def verify_journal(
        self,
        *,
        from_row: int = 1,
        to_row: int | None = None,
        after: int | None = None,
        blocks: int = 10,
        head: str | None = None,
    ) -> models.Verification:
        """Check up to ``blocks`` sealed blocks. ``after`` is the ``next_after`` of the verification before.

        ``head`` is a hash that was recorded elsewhere.
        """
        read = whole(models.Verification)
        call = get("/audit/verify", read, from_row=from_row, to_row=to_row, after=after, blocks=blocks, head=head)
        return await self.perform(call)

    async def retry_stale(
        self,
        *,
        enabled: bool = False,
        min_lease_age: Duration | None = None,
        max_attempts: int | None = None,
        max_requeues: int | None = None,
        scan_limit: int | None = None,
    ) -> models.RetryReport:
        """Requeue stale leases of idempotent tasks, within limits. Without ``enabled`` it is a dry run."""
        age_ms = None if min_lease_age is None else milliseconds(min_lease_age)
        limits = {"max_attempts": max_attempts, "max_requeues": max_requeues, "scan_limit": scan_limit}
        fields = {"enabled": enabled, "min_lease_age_ms": age_ms, **limits}
        read = inner("report", models.RetryReport)
        return await self.perform(post("/a2a/retry-stale", fields, read, is_repeatable=not enabled))

    async def compact(self) -> int:
        """Delete the finished tasks that the hub's settings no longer keep; return their number."""
        return await self.perform(post("/a2a/compact", {}, inner("dropped", int), is_repeatable=False))

    def replay_entries(self) -> AsyncIterator[models.ReplayEntry]:
        """Yield the cached results of idempotent tasks."""
        return self.listed("/a2a/replay-entries", "entries", models.ReplayEntry)

    async def drop_replay_entry(self, entry_id: int, *, reason: str, source_task_id: Id | None = None) -> None:
        """Drop a cached result. With ``source_task_id`` a newer result in its place stays."""
        fields = {"id": entry_id, "reason": reason, "source_task_id": source_task_id}
        return await self.perform(post("/a2a/replay-entries/drop", fields, nothing, is_repeatable=False))

    def deliveries(self) -> AsyncIterator[models.Delivery]:
        """Yield callbacks with their attempts."""
        return self.listed("/a2a/deliveries", "deliveries", models.Delivery)

    async def resend_delivery(self, delivery_id: Id, *, reason: str) -> None:
        """Send a callback again."""
        target = path("a2a", "deliveries", delivery_id, "resend")
        return await self.perform(post(target, {"reason": reason}, nothing, is_repeatable=False))


class AsyncAccess(AsyncConnection):
    """Reads and changes who may do what. A name of an agent is its display, or its local part."""

    async def me(self) -> models.Me:
        """Return the owner of the key."""
        return await self.perform(get("/a2a/me", whole(models.Me)))

    def agents(self) -> AsyncIterator[AgentId]:
        """Yield all agents, by name."""
        return self.listed("/a2a/agents", "agents", AgentId)

    async def agent(self, name: str) -> models.AgentEntry:
        """Return one agent. Raises `UnknownAgentError`."""
        return await self.perform(get(_of(name), whole(models.AgentEntry)))

    async def add_agent(
        self, display: str, *, pubkey: str | None = None, proof: Mapping[str, Any] | None = None
    ) -> models.NewAgent:
        """Register an agent and return it with its API key. Without a ``pubkey`` the hub makes a key pair.

        A ``pubkey`` signs requests once ``proof`` shows that its owner has the private key. Raises
        `AgentConflictError`.
        """
        fields = {"display": display, "pubkey": pubkey, "proof": proof}
        return await self.perform(post("/a2a/agents", fields, whole(models.NewAgent), is_repeatable=False))

    async def pause_agent(self, name: str, *, reason: str) -> models.AgentPaused:
        """Stop an agent from leasing tasks. Its tasks stay queued, and its live leases stay."""
        return await self.perform(post(_of(name, "pause"), {"reason": reason}, whole(models.AgentPaused)))

    async def resume_agent(self, name: str, *, reason: str = "") -> None:
        """Let a paused agent lease tasks again."""
        return await self.perform(post(_of(name, "resume"), {"reason": reason}, nothing))

    async def quotas(self, name: str) -> list[models.Quota]:
        """Return the quotas of an agent and their use."""
        return await self.perform(get(_of(name, "quotas"), inner("quotas", list[models.Quota])))

    async def set_quotas(
        self, name: str, limits: Mapping[str, int | None], *, recipient: str | None = None
    ) -> list[models.Quota]:
        """Give an agent quotas of its own, by name; a limit None restores the hub's setting.

        The names are queued, bytes, callbacks, waits, cards and requests_per_s. ``recipient`` goes with queued alone.
        """
        fields = {**limits, **({} if recipient is None else {"recipient": recipient})}
        call = post(_of(name, "quotas"), {}, inner("quotas", list[models.Quota]))
        return await self.perform(dataclasses.replace(call, body=to_json(fields)))  # with each limit None

    async def signing_keys(self, name: str) -> list[models.SigningKey]:
        """Return the signing keys of an agent, the oldest first."""
        return await self.perform(get(_of(name, "pubkey"), _signing_keys))

    async def set_signing_key(self, name: str, proof: Mapping[str, Any]) -> list[models.SigningKey]:
        """Set the signing key of an agent. ``proof`` is described on the hub's page about signatures."""
        return await self.perform(post(_of(name, "pubkey"), proof, _signing_keys, is_repeatable=False))

    async def retire_signing_key(self, name: str) -> list[models.SigningKey]:
        """Retire the signing key of an agent at once."""
        return await self.perform(post(_of(name, "pubkey"), {}, _signing_keys, method="DELETE"))

    def keys(self) -> AsyncIterator[models.Key]:
        """Yield API keys without their secrets: an agent's own, or all for an admin."""
        return self.listed("/a2a/keys", "keys", models.Key)

    async def add_key(
        self, *, agent: str | None = None, person: str | None = None, expires_at: datetime | None = None
    ) -> models.NewKey:
        """Add a key of an agent or of a person; without either, of the caller. Raises `KeyLimitError`."""
        ends = None if expires_at is None else epoch_ms(expires_at)
        fields = {"agent": agent, "username": person, "expires_at": ends}
        return await self.perform(post("/a2a/keys", fields, whole(models.NewKey), is_repeatable=False))

    async def rotate_key(self, *, overlap: Duration = timedelta(hours=1)) -> models.RotatedKey:
        """Replace the key of this client. Both are valid for ``overlap``, and this client goes on with the old one.

        A repeat replaces the successor whose answer was lost. Raises `KeyReplacedError` for a key whose successor is
        in use.
        """
        fields = {"overlap_ms": milliseconds(overlap)}
        return await self.perform(post("/a2a/keys/rotate", fields, whole(models.RotatedKey)))

    async def revoke_key(self, public_id: str, *, with_made: bool = False) -> models.RevokedKey:
        """Revoke a key at once, and with ``with_made`` the keys that were made with it. Raises `UnknownKeyError`."""
        fields = {"public_id": public_id, "with_made": with_made}
        return await self.perform(post("/a2a/keys/revoke", fields, whole(models.RevokedKey)))

    def people(self) -> AsyncIterator[models.Person]:
        """Yield all people, by name."""
        return self.listed("/a2a/people", "people", models.Person)

    def routes(self) -> AsyncIterator[models.Route]:
        """Yield public routes without their URLs, the newest first."""
        return self.listed("/a2a/routes", "routes", models.Route)

    async def add_route(self, agent: str, *, rate_limit: int | None = None) -> models.NewRoute:
        """Add a public route: a secret URL that acts as an agent. ``rate_limit`` is in requests a minute."""
        fields = {"agent": agent, "rate_limit": rate_limit}
        return await self.perform(post("/a2a/routes", fields, whole(models.NewRoute), is_repeatable=False))

    async def revoke_route(self, public_id: str) -> None:
        """Revoke a public route at once. Raises `UnknownRouteError`."""
        return await self.perform(post("/a2a/routes/revoke", {"public_id": public_id}, nothing))

    def grants(self) -> AsyncIterator[models.Grant]:
        """Yield grants, the newest first."""
        return self.listed("/capabilities/recent", "capabilities", models.Grant)

    async def grant(
        self,
        agent: str,
        action: str,
        *,
        scope: Mapping[str, Any] | None = None,
        expires_at: datetime | None = None,
        max_uses: int | None = None,
    ) -> models.NewGrant:
        """Grant a capability, such as ``a2a.send.*``, to an agent. Raises `UnknownAgentError`."""
        ends = None if expires_at is None else epoch_ms(expires_at)
        fields = {"subject": agent, "action": action, "scope": scope, "expires_at": ends, "max_uses": max_uses}
        return await self.perform(post("/capabilities/grant", fields, whole(models.NewGrant), is_repeatable=False))

    async def revoke_grant(self, grant_id: Id) -> None:
        """Revoke a grant. The next request of the agent is refused. Raises `UnknownGrantError`."""
        return await self.perform(post("/capabilities/revoke", {"grant_id": grant_id}, nothing))

    def peers(self) -> AsyncIterator[models.Peer]:
        """Yield the peers that sent heartbeats."""
        return self.listed("/a2a/peers", "peers", models.Peer)


def _of(agent: str, *more: str) -> str:
    return path("a2a", "agents", agent, *more)

"""The methods of operators and admins: agents, keys, grants and routes; the queue, the journal and repairs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from a2a_hub_client._async.connection import AsyncConnection
from a2a_hub_client._calls import administration
from a2a_hub_client._calls.call import Id
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
    ReplayEntry,
    RetryReport,
    RevokedKey,
    RotatedKey,
    Route,
    SigningKey,
    Verification,
)
from a2a_hub_client.models.tasks import AgentId, QueueEntry, State, Task, TaskEntry
from a2a_hub_client.retry import Duration


class AsyncUpkeep(AsyncConnection):
    """Reads and repairs the hub. An agent sees its own tasks, an operator sees all."""

    def tasks(self) -> AsyncIterator[TaskEntry]:
        """Yield the tasks in any state, the newest first."""
        return self.listed(administration.tasks)

    def queued_tasks(self) -> AsyncIterator[Task]:
        """Yield the queued tasks, without leasing them."""
        return self.listed(administration.queued_tasks)

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
        return self.listed(
            lambda cursor: administration.queue(
                cursor, state=state, min_lease_age=min_lease_age, deadline_within=deadline_within
            )
        )

    async def status(self, *, limit: int = 10) -> HubStatus:
        """Return the newest unresolved tasks and the newest pending results, ``limit`` of each."""
        return await self.perform(administration.status(limit))

    def journal(self, *, since: datetime | None = None) -> AsyncIterator[JournalEvent]:
        """Yield the rows of the journal since a time, the newest first."""
        return self.listed(lambda cursor: administration.journal(cursor, since=since))

    async def verify_journal(
        self,
        *,
        from_row: int = 1,
        to_row: int | None = None,
        after: int | None = None,
        blocks: int = 10,
        head: str | None = None,
    ) -> Verification:
        """Check up to ``blocks`` sealed blocks. ``after`` is the ``next_after`` of the verification before.

        ``head`` is a hash that was recorded elsewhere.
        """
        call = administration.verify_journal(from_row=from_row, to_row=to_row, after=after, blocks=blocks, head=head)
        return await self.perform(call)

    async def retry_stale(
        self,
        *,
        enabled: bool = False,
        min_lease_age: Duration | None = None,
        max_attempts: int | None = None,
        max_requeues: int | None = None,
        scan_limit: int | None = None,
    ) -> RetryReport:
        """Requeue stale leases of idempotent tasks, within limits. Without ``enabled`` it is a dry run."""
        call = administration.retry_stale(
            enabled=enabled,
            min_lease_age=min_lease_age,
            max_attempts=max_attempts,
            max_requeues=max_requeues,
            scan_limit=scan_limit,
        )
        return await self.perform(call)

    async def compact(self) -> int:
        """Delete the finished tasks that the hub's settings no longer keep; return their number."""
        return await self.perform(administration.compact())

    def replay_entries(self) -> AsyncIterator[ReplayEntry]:
        """Yield the cached results of idempotent tasks."""
        return self.listed(administration.replay_entries)

    async def drop_replay_entry(self, entry_id: int, *, reason: str, source_task_id: Id | None = None) -> None:
        """Drop a cached result. With ``source_task_id`` a newer result in its place stays."""
        await self.perform(administration.drop_replay_entry(entry_id, reason, source_task_id))

    def deliveries(self) -> AsyncIterator[Delivery]:
        """Yield callbacks with their attempts."""
        return self.listed(administration.deliveries)

    async def resend_delivery(self, delivery_id: Id, *, reason: str) -> None:
        """Send a callback again."""
        await self.perform(administration.resend_delivery(delivery_id, reason))


class AsyncAccess(AsyncConnection):
    """Reads and changes who may do what. A name of an agent is its display, or its local part."""

    async def me(self) -> Me:
        """Return the owner of the key."""
        return await self.perform(administration.me())

    def agents(self) -> AsyncIterator[AgentId]:
        """Yield all agents, by name."""
        return self.listed(administration.agents)

    async def agent(self, name: str) -> AgentEntry:
        """Return one agent. Raises `UnknownAgentError`."""
        return await self.perform(administration.agent(name))

    async def add_agent(
        self, display: str, *, pubkey: str | None = None, proof: Mapping[str, Any] | None = None
    ) -> NewAgent:
        """Register an agent and return it with its API key. Without a ``pubkey`` the hub makes a key pair.

        A ``pubkey`` signs requests once ``proof`` shows that its owner has the private key. Raises
        `AgentConflictError`.
        """
        return await self.perform(administration.add_agent(display, pubkey=pubkey, proof=proof))

    async def pause_agent(self, name: str, *, reason: str) -> AgentPaused:
        """Stop an agent from leasing tasks. Its tasks stay queued, and its live leases stay."""
        return await self.perform(administration.pause_agent(name, reason))

    async def resume_agent(self, name: str, *, reason: str = "") -> None:
        """Let a paused agent lease tasks again."""
        await self.perform(administration.resume_agent(name, reason))

    async def quotas(self, name: str) -> list[Quota]:
        """Return the quotas of an agent and their use."""
        return await self.perform(administration.quotas(name))

    async def set_quotas(
        self, name: str, limits: Mapping[str, int | None], *, recipient: str | None = None
    ) -> list[Quota]:
        """Give an agent quotas of its own, by name; a limit None restores the hub's setting.

        The names are queued, bytes, callbacks, waits, cards and requests_per_s. ``recipient`` goes with queued alone.
        """
        return await self.perform(administration.set_quotas(name, limits, recipient))

    async def signing_keys(self, name: str) -> list[SigningKey]:
        """Return the signing keys of an agent, the oldest first."""
        return await self.perform(administration.signing_keys(name))

    async def set_signing_key(self, name: str, proof: Mapping[str, Any]) -> list[SigningKey]:
        """Set the signing key of an agent. ``proof`` is described on the hub's page about signatures."""
        return await self.perform(administration.set_signing_key(name, proof))

    async def retire_signing_key(self, name: str) -> list[SigningKey]:
        """Retire the signing key of an agent at once."""
        return await self.perform(administration.retire_signing_key(name))

    def keys(self) -> AsyncIterator[Key]:
        """Yield API keys without their secrets: an agent's own, or all for an admin."""
        return self.listed(administration.keys)

    async def add_key(
        self, *, agent: str | None = None, person: str | None = None, expires_at: datetime | None = None
    ) -> NewKey:
        """Add a key of an agent or of a person; without either, of the caller. Raises `KeyLimitError`."""
        return await self.perform(administration.add_key(agent=agent, person=person, expires_at=expires_at))

    async def rotate_key(self, *, overlap: Duration = timedelta(hours=1)) -> RotatedKey:
        """Replace the key of this client. Both are valid for ``overlap``, and this client goes on with the old one.

        Raises `KeyReplacedError` for a key whose successor is in use.
        """
        return await self.perform(administration.rotate_key(overlap))

    async def revoke_key(self, public_id: str, *, with_made: bool = False) -> RevokedKey:
        """Revoke a key at once, and with ``with_made`` the keys that were made with it. Raises `UnknownKeyError`."""
        return await self.perform(administration.revoke_key(public_id, with_made=with_made))

    def people(self) -> AsyncIterator[Person]:
        """Yield all people, by name."""
        return self.listed(administration.people)

    def routes(self) -> AsyncIterator[Route]:
        """Yield public routes without their URLs, the newest first."""
        return self.listed(administration.routes)

    async def add_route(self, agent: str, *, rate_limit: int | None = None) -> NewRoute:
        """Add a public route: a secret URL that acts as an agent. ``rate_limit`` is in requests a minute."""
        return await self.perform(administration.add_route(agent, rate_limit))

    async def revoke_route(self, public_id: str) -> None:
        """Revoke a public route at once. Raises `UnknownRouteError`."""
        await self.perform(administration.revoke_route(public_id))

    def grants(self) -> AsyncIterator[Grant]:
        """Yield grants, the newest first."""
        return self.listed(administration.grants)

    async def grant(
        self,
        agent: str,
        action: str,
        *,
        scope: Mapping[str, Any] | None = None,
        expires_at: datetime | None = None,
        max_uses: int | None = None,
    ) -> NewGrant:
        """Grant a capability, such as ``a2a.send.*``, to an agent. Raises `UnknownAgentError`."""
        call = administration.grant(agent, action, scope=scope, expires_at=expires_at, max_uses=max_uses)
        return await self.perform(call)

    async def revoke_grant(self, grant_id: Id) -> None:
        """Revoke a grant. The next request of the agent is refused. Raises `UnknownGrantError`."""
        await self.perform(administration.revoke_grant(grant_id))

    def peers(self) -> AsyncIterator[Peer]:
        """Yield the peers that sent heartbeats."""
        return self.listed(administration.peers)

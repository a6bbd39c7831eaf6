# Written by clients/python/write_sync.py from _async. Change that folder.
"""The methods for agents, people, keys, public routes and grants. Most need an operator's or an admin's key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from a2a_hub_client._calls import access
from a2a_hub_client._calls.call import Id
from a2a_hub_client._sync.connection import Connection
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
from a2a_hub_client.retry import Duration


class Access(Connection):
    """Reads and changes who may do what. A name of an agent is its display, or its local part."""

    def me(self) -> Me:
        """Return the owner of the key."""
        return self.perform(access.me())

    def agents(self) -> Iterator[AgentId]:
        """Yield all agents, by name."""
        return self.listed(access.agents)

    def agent(self, name: str) -> AgentEntry:
        """Return one agent. Raises `UnknownAgentError`."""
        return self.perform(access.agent(name))

    def add_agent(self, display: str, *, pubkey: str | None = None, proof: Mapping[str, Any] | None = None) -> NewAgent:
        """Register an agent and return it with its API key. Without a ``pubkey`` the hub makes a key pair.

        A ``pubkey`` signs requests once ``proof`` shows that its owner has the private key. Raises
        `AgentConflictError`.
        """
        return self.perform(access.add_agent(display, pubkey=pubkey, proof=proof))

    def pause_agent(self, name: str, *, reason: str) -> AgentPaused:
        """Stop an agent from leasing tasks. Its tasks stay queued, and its live leases stay."""
        return self.perform(access.pause_agent(name, reason))

    def resume_agent(self, name: str, *, reason: str = "") -> None:
        """Let a paused agent lease tasks again."""
        self.perform(access.resume_agent(name, reason))

    def quotas(self, name: str) -> list[Quota]:
        """Return the quotas of an agent and their use."""
        return self.perform(access.quotas(name))

    def set_quotas(self, name: str, limits: Mapping[str, int | None], *, recipient: str | None = None) -> list[Quota]:
        """Give an agent quotas of its own, by name; a limit None restores the hub's setting.

        The names are queued, bytes, callbacks, waits, cards and requests_per_s. ``recipient`` goes with queued alone.
        """
        return self.perform(access.set_quotas(name, limits, recipient))

    def signing_keys(self, name: str) -> list[SigningKey]:
        """Return the signing keys of an agent, the oldest first."""
        return self.perform(access.signing_keys(name))

    def set_signing_key(self, name: str, proof: Mapping[str, Any]) -> list[SigningKey]:
        """Set the signing key of an agent. ``proof`` is described on the hub's page about signatures."""
        return self.perform(access.set_signing_key(name, proof))

    def retire_signing_key(self, name: str) -> list[SigningKey]:
        """Retire the signing key of an agent at once."""
        return self.perform(access.retire_signing_key(name))

    def keys(self) -> Iterator[Key]:
        """Yield API keys without their secrets: an agent's own, or all for an admin."""
        return self.listed(access.keys)

    def add_key(
        self, *, agent: str | None = None, person: str | None = None, expires_at: datetime | None = None
    ) -> NewKey:
        """Add a key of an agent or of a person; without either, of the caller. Raises `KeyLimitError`."""
        return self.perform(access.add_key(agent=agent, person=person, expires_at=expires_at))

    def rotate_key(self, *, overlap: Duration = timedelta(hours=1)) -> RotatedKey:
        """Replace the key of this client. Both are valid for ``overlap``, and this client goes on with the old one.

        Raises `KeyReplacedError` for a key whose successor is in use.
        """
        return self.perform(access.rotate_key(overlap))

    def revoke_key(self, public_id: str, *, with_made: bool = False) -> RevokedKey:
        """Revoke a key at once, and with ``with_made`` the keys that were made with it. Raises `UnknownKeyError`."""
        return self.perform(access.revoke_key(public_id, with_made=with_made))

    def people(self) -> Iterator[Person]:
        """Yield all people, by name."""
        return self.listed(access.people)

    def routes(self) -> Iterator[Route]:
        """Yield public routes without their URLs, the newest first."""
        return self.listed(access.routes)

    def add_route(self, agent: str, *, rate_limit: int | None = None) -> NewRoute:
        """Add a public route: a secret URL that acts as an agent. ``rate_limit`` is in requests a minute."""
        return self.perform(access.add_route(agent, rate_limit))

    def revoke_route(self, public_id: str) -> None:
        """Revoke a public route at once. Raises `UnknownRouteError`."""
        self.perform(access.revoke_route(public_id))

    def grants(self) -> Iterator[Grant]:
        """Yield grants, the newest first."""
        return self.listed(access.grants)

    def grant(
        self,
        agent: str,
        action: str,
        *,
        scope: Mapping[str, Any] | None = None,
        expires_at: datetime | None = None,
        max_uses: int | None = None,
    ) -> NewGrant:
        """Grant a capability, such as ``a2a.send.*``, to an agent. Raises `UnknownAgentError`."""
        call = access.grant(agent, action, scope=scope, expires_at=expires_at, max_uses=max_uses)
        return self.perform(call)

    def revoke_grant(self, grant_id: Id) -> None:
        """Revoke a grant. The next request of the agent is refused. Raises `UnknownGrantError`."""
        self.perform(access.revoke_grant(grant_id))

    def peers(self) -> Iterator[Peer]:
        """Yield the peers that sent heartbeats."""
        return self.listed(access.peers)

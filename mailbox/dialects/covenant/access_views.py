"""Agents, peers, quotas, signing keys, grants, API keys, people and public routes over HTTP.

For operators, for agents that hold the capability, and for the agents themselves.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from pydantic import Field

from agentcards import registry
from mailbox.access import credential_lists
from mailbox.access.agents import directory, grants, peers, registration
from mailbox.access.credentials import keys, public_routes, signing_keys
from mailbox.access.credentials.public_routes import HIGHEST_RATE
from mailbox.access.limits import own_limits, quota_usage
from mailbox.access.limits.own_limits import LARGEST, LARGEST_BYTES
from mailbox.dialects.base.bodies import AgentField, DateMs, Exact, Integer, Text, moment
from mailbox.dialects.base.openapi import operation
from mailbox.dialects.base.wire import agent_id
from mailbox.dialects.covenant import access_wire, agent_wire, requests
from mailbox.dialects.covenant.views import MailboxView
from mailbox.inspection import lists
from mailbox.models import Agent
from mailbox.words.ed25519 import KeyProof


class GrantBody(Exact):
    """The capability to grant.

    ``scope`` limits the grant to a peer, a task, a lease or a duplicate risk. ``max_uses`` limits how often it is used.
    """

    subject: AgentField
    action: Text
    scope: dict[str, Any] | None = None
    expires_at: DateMs | None = None
    max_uses: Integer | None = Field(None, ge=1, le=2**31 - 1)


class RevokeBody(Exact):
    """The grant to revoke."""

    grant_id: UUID


class KeyBody(Exact):
    """The owner of the new key: an agent or, for automation, a person. Without either the caller gets the key."""

    agent: AgentField | None = None
    username: Text | None = None
    expires_at: DateMs | None = None


class RotateKeyBody(Exact):
    """How long the old key stays valid beside the new key."""

    overlap_ms: Integer = Field(3_600_000, ge=60_000, le=604_800_000)


class RevokeKeyBody(Exact):
    """The key to revoke, by its public id. ``with_made`` also revokes the keys that were made with it."""

    public_id: Text
    with_made: bool = Field(False, strict=True)


class RouteBody(Exact):
    """The agent that the new public route acts as, and the limit of its requests a minute.

    Without ``rate_limit`` the operator's setting counts.
    """

    agent: AgentField
    rate_limit: Integer | None = Field(None, ge=1, le=HIGHEST_RATE)


class RevokeRouteBody(Exact):
    """The public route to revoke, by its public id: the eight characters after ``p_`` in its URL."""

    public_id: Text


class GrantView(MailboxView):
    @operation("grant_capability", errors=(403, 404))
    def post(self, body: GrantBody) -> access_wire.Granted:
        made = grants.grant(
            self.caller,
            directory.identified(self.caller, body.subject),
            body.action,
            scope=body.scope,
            expires_at=moment(body.expires_at),
            max_uses=body.max_uses,
        )
        return access_wire.granted(made)


class RevokeView(MailboxView):
    @operation("revoke_capability", errors=(403, 404))
    def post(self, body: RevokeBody) -> access_wire.Revoked:
        return access_wire.revoked(grants.revoke(self.caller, body.grant_id))


class RecentGrantsView(MailboxView):
    @operation("list_grants")
    def get(self, query: requests.ListQuery) -> access_wire.CapabilityList:
        page = lists.grants(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.capability(grant) for grant in page.items]
        return {"kind": "capabilities", "capabilities": rendered, "next_cursor": page.next_cursor}


class KeysView(MailboxView):
    @operation("list_keys", errors=(403,))
    def get(self, query: requests.ListQuery) -> access_wire.ListedKeys:
        page = credential_lists.key_list(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.key(key) for key in page.items]
        return {"kind": "a2a_keys", "keys": rendered, "next_cursor": page.next_cursor}

    @operation("add_key", errors=(403, 404, 409))
    def post(self, body: KeyBody) -> access_wire.KeyAdded:
        agent = directory.identified(self.caller, body.agent) if body.agent else None
        if agent is None and body.username is None:
            agent = self.caller.agent
        made = keys.add_key(self.caller, agent=agent, username=body.username, expires_at=moment(body.expires_at))
        return access_wire.new_key(made)


class RotateKeyView(MailboxView):
    @operation("rotate_key", errors=(403, 404, 409))
    def post(self, body: RotateKeyBody) -> access_wire.KeyRotated:
        return access_wire.rotated(keys.rotate_key(self.caller, overlap=timedelta(milliseconds=body.overlap_ms)))


class RevokeKeyView(MailboxView):
    @operation("revoke_key", errors=(403, 404))
    def post(self, body: RevokeKeyBody) -> access_wire.KeyRevoked:
        return access_wire.key_revoked(keys.revoke_key(self.caller, body.public_id, with_made=body.with_made))


class PeopleView(MailboxView):
    @operation("list_people", errors=(403,))
    def get(self, query: requests.ListQuery) -> access_wire.ListedPeople:
        page = credential_lists.people(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.person(person) for person in page.items]
        return {"kind": "a2a_people", "people": rendered, "next_cursor": page.next_cursor}


class RoutesView(MailboxView):
    @operation("list_routes", errors=(403,))
    def get(self, query: requests.ListQuery) -> access_wire.ListedRoutes:
        page = credential_lists.public_routes(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [access_wire.route(route) for route in page.items]
        return {"kind": "a2a_routes", "routes": rendered, "next_cursor": page.next_cursor}

    @operation("add_route", errors=(403, 404))
    def post(self, body: RouteBody) -> access_wire.RouteAdded:
        rate = settings.A2A_ROUTE_RATE_LIMIT_PER_MIN if body.rate_limit is None else body.rate_limit
        made = public_routes.add(self.caller, directory.identified(self.caller, body.agent), rate_limit=rate)
        return access_wire.new_route(made)


class RevokeRouteView(MailboxView):
    @operation("revoke_route", errors=(403, 404))
    def post(self, body: RevokeRouteBody) -> access_wire.RouteRevoked:
        return access_wire.route_revoked(public_routes.revoke(self.caller, body.public_id))


class KeyProofBody(Exact):
    """The signature, in base64, of the statement in ``docs/guides/sign-requests.md``, by the ``pubkey`` beside it."""

    time_ms: DateMs
    signature: Text


class AgentBody(Exact):
    """The agent to register. Without a ``pubkey`` the hub makes a key pair.

    A ``pubkey`` signs requests once it was proved: by ``proof``, or later.
    """

    display: Text
    pubkey: Text | None = None
    proof: KeyProofBody | None = None


class PauseBody(Exact):
    """Why the agent is paused."""

    reason: Text


class ResumeBody(Exact):
    """Why the agent is resumed."""

    reason: Text = ""


class MeView(MailboxView):
    @operation("read_me")
    def get(self, query: requests.NoQuery) -> agent_wire.Me:
        return agent_wire.me(self.caller)


class AgentsView(MailboxView):
    @operation("list_agents")
    def get(self, query: requests.ListQuery) -> agent_wire.ListedAgents:
        page = lists.agents(limit=query.limit, cursor=query.cursor)
        rendered = [agent_id(agent) for agent in page.items]
        return {"kind": "a2a_agents", "agents": rendered, "next_cursor": page.next_cursor}

    @operation("register_agent", errors=(403, 409))
    def post(self, body: AgentBody) -> agent_wire.RegisteredAgent:
        proof = KeyProof.parse({"pubkey": body.pubkey, **body.proof.model_dump()}) if body.proof else None
        made = registration.register_agent(self.caller, body.display, pubkey=body.pubkey, proof=proof)
        return agent_wire.registered(made)


class AgentEntryView(MailboxView):
    @operation("read_agent", errors=(404,))
    def get(self, name: str, query: requests.NoQuery) -> agent_wire.AgentEntry:
        agent = directory.typed(self.caller, name)
        return agent_wire.agent_entry(agent, is_open=grants.is_open(agent))


class PauseView(MailboxView):
    @operation("pause_agent", errors=(403, 404))
    def post(self, name: str, body: PauseBody) -> agent_wire.AgentPaused:
        agent = directory.typed(self.caller, name)
        return agent_wire.paused(registration.pause_agent(self.caller, agent, reason=body.reason))


class ResumeView(MailboxView):
    @operation("resume_agent", errors=(403, 404))
    def post(self, name: str, body: ResumeBody) -> agent_wire.AgentResumed:
        resumed = registration.resume_agent(self.caller, directory.typed(self.caller, name), reason=body.reason)
        return {"kind": "a2a_agent_resumed", "agent": agent_id(resumed)}


class PeersView(MailboxView):
    @operation("list_peers")
    def get(self, query: requests.ListQuery) -> agent_wire.ListedPeers:
        now = timezone.now()
        page = peers.listing(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [agent_wire.peer(peer, now) for peer in page.items]
        return {"kind": "a2a_peers", "peers": rendered, "next_cursor": page.next_cursor}


class QuotasBody(Exact):
    """The quotas to set. Null restores the setting; an absent quota stays. ``recipient`` goes with ``queued`` alone."""

    queued: Integer | None = Field(None, ge=0, le=LARGEST)
    bytes: Integer | None = Field(None, ge=0, le=LARGEST_BYTES)
    callbacks: Integer | None = Field(None, ge=0, le=LARGEST)
    waits: Integer | None = Field(None, ge=0, le=LARGEST)
    cards: Integer | None = Field(None, ge=0, le=LARGEST)
    requests_per_s: Integer | None = Field(None, ge=0, le=LARGEST)
    recipient: AgentField | None = None


class QuotasView(MailboxView):
    @operation("read_quotas", errors=(403, 404))
    def get(self, name: str) -> agent_wire.ListedQuotas:
        agent = directory.typed(self.caller, name)
        own_limits.check_reader(self.caller, agent)
        return _quotas(agent)

    @operation("set_quotas", errors=(403, 404))
    def post(self, name: str, body: QuotasBody) -> agent_wire.ListedQuotas:
        agent = directory.typed(self.caller, name)
        recipient = None if body.recipient is None else directory.identified(self.caller, body.recipient)
        wanted = {field: getattr(body, field) for field in body.model_fields_set - {"recipient"}}
        own_limits.set_quotas(self.caller, agent, wanted, recipient=recipient)
        return _quotas(agent)


def _quotas(agent: Agent) -> agent_wire.ListedQuotas:
    used = quota_usage.usage_of(agent, cards=registry.count_of(agent))
    return {"kind": "a2a_quotas", "quotas": [agent_wire.quota(one) for one in used]}


class SigningKeyBody(Exact):
    """The new key with its proof: signatures, in base64, of the statement that ``docs/guides/sign-requests.md`` shows.

    ``previous_signature`` is by the agent's key until now. An operator may set a key without it.
    """

    pubkey: Text
    time_ms: DateMs
    signature: Text
    previous_signature: Text | None = None


class SigningKeysView(MailboxView):
    @operation("list_signing_keys", errors=(404,))
    def get(self, name: str) -> agent_wire.ListedSigningKeys:
        return _signing_keys(directory.typed(self.caller, name))

    @operation("set_signing_key", errors=(403, 404, 409))
    def post(self, name: str, body: SigningKeyBody) -> agent_wire.ListedSigningKeys:
        proof = KeyProof.parse(body.model_dump())
        agent = directory.typed(self.caller, name)
        signing_keys.set_signing_key(self.caller, agent, proof)
        return _signing_keys(agent)

    @operation("retire_signing_key", errors=(403, 404))
    def delete(self, name: str) -> agent_wire.ListedSigningKeys:
        agent = directory.typed(self.caller, name)
        signing_keys.retire_signing_key(self.caller, agent)
        return _signing_keys(agent)


def _signing_keys(agent: Agent) -> agent_wire.ListedSigningKeys:
    keys = [agent_wire.signing_key(key) for key in signing_keys.of(agent)]
    return {"kind": "a2a_signing_keys", "agent": agent_id(agent), "signing_keys": keys}

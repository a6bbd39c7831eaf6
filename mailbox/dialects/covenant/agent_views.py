"""Agents, peers, quotas and signing keys over HTTP, for operators and for the agents themselves."""

from django.utils import timezone
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from agentcards import registry
from mailbox.access.agents import directory, grants, peers, registration
from mailbox.access.credentials import signing_keys
from mailbox.access.limits import own_limits, quota_usage
from mailbox.access.limits.own_limits import LARGEST, LARGEST_BYTES
from mailbox.dialects.base.bodies import AgentField, DateMs, Exact, Integer, Text
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.base.wire import agent_id
from mailbox.dialects.covenant import agent_wire, requests
from mailbox.dialects.covenant.views import MailboxView
from mailbox.inspection import lists
from mailbox.models import Agent
from mailbox.words.ed25519 import KeyProof


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
    @describe(
        summary="Read who owns the key of this request", tag="agents", answer=agent_wire.Me, operation_id="read_me"
    )
    def get(self, request: Request) -> Response:
        self.query(requests.NoQuery)
        return Response(agent_wire.me(self.caller))


class AgentsView(MailboxView):
    @describe(
        summary="List registered agents",
        tag="agents",
        query=requests.ListQuery,
        answer=agent_wire.ListedAgents,
        operation_id="list_agents",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.agents(limit=query.limit, cursor=query.cursor)
        rendered = [agent_id(agent) for agent in page.items]
        return Response(agent_wire.ListedAgents(kind="a2a_agents", agents=rendered, next_cursor=page.next_cursor))

    @describe(
        summary="Register an agent",
        tag="agents",
        body=AgentBody,
        answer=agent_wire.RegisteredAgent,
        errors=(403, 409),
        operation_id="register_agent",
    )
    def post(self, request: Request) -> Response:
        body = self.body(AgentBody)
        proof = KeyProof.parse({"pubkey": body.pubkey, **body.proof.model_dump()}) if body.proof else None
        made = registration.register_agent(self.caller, body.display, pubkey=body.pubkey, proof=proof)
        return Response(agent_wire.registered(made))


class AgentEntryView(MailboxView):
    @describe(
        summary="Read one agent: whether it is paused, and whether it is open to anyone",
        tag="agents",
        answer=agent_wire.AgentEntry,
        errors=(404,),
        operation_id="read_agent",
    )
    def get(self, request: Request, name: str) -> Response:
        self.query(requests.NoQuery)
        agent = directory.typed(self.caller, name)
        return Response(agent_wire.agent_entry(agent, is_open=grants.is_open(agent)))


class PauseView(MailboxView):
    @describe(
        summary="Pause an agent: its tasks stay queued",
        tag="agents",
        body=PauseBody,
        answer=agent_wire.AgentPaused,
        errors=(403, 404),
        operation_id="pause_agent",
    )
    def post(self, request: Request, name: str) -> Response:
        reason = self.body(PauseBody).reason
        return Response(
            agent_wire.paused(registration.pause_agent(self.caller, directory.typed(self.caller, name), reason=reason))
        )


class ResumeView(MailboxView):
    @describe(
        summary="Resume a paused agent",
        tag="agents",
        body=ResumeBody,
        answer=agent_wire.AgentResumed,
        errors=(403, 404),
        operation_id="resume_agent",
    )
    def post(self, request: Request, name: str) -> Response:
        reason = self.body(ResumeBody).reason
        resumed = registration.resume_agent(self.caller, directory.typed(self.caller, name), reason=reason)
        return Response(agent_wire.AgentResumed(kind="a2a_agent_resumed", agent=agent_id(resumed)))


class PeersView(MailboxView):
    @describe(
        summary="List peers: an agent sees its own, a person sees all",
        tag="agents",
        query=requests.ListQuery,
        answer=agent_wire.ListedPeers,
        operation_id="list_peers",
    )
    def get(self, request: Request) -> Response:
        query, now = self.query(requests.ListQuery), timezone.now()
        page = peers.listing(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [agent_wire.peer(peer, now) for peer in page.items]
        return Response(agent_wire.ListedPeers(kind="a2a_peers", peers=rendered, next_cursor=page.next_cursor))


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
    @describe(
        summary="Read an agent's quotas and their use",
        tag="agents",
        answer=agent_wire.ListedQuotas,
        errors=(403, 404),
        operation_id="read_quotas",
    )
    def get(self, request: Request, name: str) -> Response:
        agent = directory.typed(self.caller, name)
        own_limits.check_reader(self.caller, agent)
        return _quotas(agent)

    @describe(
        summary="Give an agent quotas of its own",
        tag="agents",
        body=QuotasBody,
        answer=agent_wire.ListedQuotas,
        errors=(403, 404),
        operation_id="set_quotas",
    )
    def post(self, request: Request, name: str) -> Response:
        body, agent = self.body(QuotasBody), directory.typed(self.caller, name)
        recipient = None if body.recipient is None else directory.identified(self.caller, body.recipient)
        wanted = {field: getattr(body, field) for field in body.model_fields_set - {"recipient"}}
        own_limits.set_quotas(self.caller, agent, wanted, recipient=recipient)
        return _quotas(agent)


def _quotas(agent: Agent) -> Response:
    used = quota_usage.usage_of(agent, cards=registry.count_of(agent))
    return Response(agent_wire.ListedQuotas(kind="a2a_quotas", quotas=[agent_wire.quota(one) for one in used]))


class SigningKeyBody(Exact):
    """The new key with its proof: signatures, in base64, of the statement that ``docs/guides/sign-requests.md`` shows.

    ``previous_signature`` is by the agent's key until now. An operator may set a key without it.
    """

    pubkey: Text
    time_ms: DateMs
    signature: Text
    previous_signature: Text | None = None


class SigningKeysView(MailboxView):
    @describe(
        summary="List the signing keys of an agent, live and retired",
        tag="agents",
        answer=agent_wire.ListedSigningKeys,
        errors=(404,),
        operation_id="list_signing_keys",
    )
    def get(self, request: Request, name: str) -> Response:
        return _signing_keys(directory.typed(self.caller, name))

    @describe(
        summary="Set the signing key of an agent",
        tag="agents",
        body=SigningKeyBody,
        answer=agent_wire.ListedSigningKeys,
        errors=(403, 404, 409),
        operation_id="set_signing_key",
    )
    def post(self, request: Request, name: str) -> Response:
        proof = KeyProof.parse(self.body(SigningKeyBody).model_dump())
        agent = directory.typed(self.caller, name)
        signing_keys.set_signing_key(self.caller, agent, proof)
        return _signing_keys(agent)

    @describe(
        summary="Retire the signing key of an agent at once",
        tag="agents",
        answer=agent_wire.ListedSigningKeys,
        errors=(403, 404),
        operation_id="retire_signing_key",
    )
    def delete(self, request: Request, name: str) -> Response:
        agent = directory.typed(self.caller, name)
        signing_keys.retire_signing_key(self.caller, agent)
        return _signing_keys(agent)


def _signing_keys(agent: Agent) -> Response:
    keys = [agent_wire.signing_key(key) for key in signing_keys.of(agent)]
    return Response(agent_wire.ListedSigningKeys(kind="a2a_signing_keys", agent=agent_id(agent), signing_keys=keys))

"""Grants, agents and the journal over HTTP, for operators and for agents that hold the capability."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django.utils import timezone
from pydantic import BaseModel
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from mailbox.access.agents import directory, grants, peers, registration
from mailbox.dialects.base.fields import AgentId, moment
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.covenant import admin_answers, admin_requests, admin_wire, requests, wire
from mailbox.dialects.covenant.views import MailboxView
from mailbox.inspection import lists
from mailbox.models import Peer
from mailbox.words.ed25519 import KeyProof
from mailbox.words.times import epoch_ms


class GrantView(MailboxView):
    @describe(
        summary="Grant a capability",
        tag="capabilities",
        body=admin_requests.GrantBody,
        answer=admin_answers.Granted,
        errors=(403, 404),
        operation_id="grant_capability",
    )
    def post(self, request: Request) -> Response:
        body = self.body(admin_requests.GrantBody)
        made = grants.grant(
            self.caller,
            directory.identified(self.caller, body.subject),
            body.action,
            scope=body.scope,
            expires_at=moment(body.expires_at),
            max_uses=body.max_uses,
        )
        return Response(admin_wire.granted(made))


class RevokeView(MailboxView):
    @describe(
        summary="Revoke a capability",
        tag="capabilities",
        body=admin_requests.RevokeBody,
        answer=admin_answers.Revoked,
        errors=(403, 404),
        operation_id="revoke_capability",
    )
    def post(self, request: Request) -> Response:
        revoked = grants.revoke(self.caller, self.body(admin_requests.RevokeBody).grant_id)
        return Response(admin_wire.revoked(revoked))


class RecentGrantsView(MailboxView):
    @describe(
        summary="List grants, newest first",
        tag="capabilities",
        query=requests.ListQuery,
        answer=admin_answers.CapabilityList,
        operation_id="list_grants",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.grants(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [admin_wire.capability(grant) for grant in page.items]
        return Response({"kind": "capabilities", "capabilities": rendered, "next_cursor": page.next_cursor})


class MeView(MailboxView):
    @describe(
        summary="Read who owns the key of this request", tag="agents", answer=admin_answers.Me, operation_id="read_me"
    )
    def get(self, request: Request) -> Response:
        self.query(requests.NoQuery)
        return Response(admin_wire.me(self.caller))


class AgentsView(MailboxView):
    @describe(
        summary="List registered agents",
        tag="agents",
        query=requests.ListQuery,
        answer=admin_answers.ListedAgents,
        operation_id="list_agents",
    )
    def get(self, request: Request) -> Response:
        query = self.query(requests.ListQuery)
        page = lists.agents(limit=query.limit, cursor=query.cursor)
        rendered = [wire.agent_id(agent) for agent in page.items]
        return Response({"kind": "a2a_agents", "agents": rendered, "next_cursor": page.next_cursor})

    @describe(
        summary="Register an agent",
        tag="agents",
        body=admin_requests.AgentBody,
        answer=admin_answers.RegisteredAgent,
        errors=(403, 409),
        operation_id="register_agent",
    )
    def post(self, request: Request) -> Response:
        body = self.body(admin_requests.AgentBody)
        given = KeyProof.parse({"pubkey": body.pubkey, **body.proof.model_dump()}) if body.proof else None
        made = registration.register_agent(self.caller, body.display, pubkey=body.pubkey, proof=given)
        return Response(admin_wire.registration(made))


class OneAgentView(MailboxView):
    @describe(
        summary="Read one agent: whether it is paused, and whether it is open to anyone",
        tag="agents",
        answer=admin_answers.AgentEntry,
        errors=(404,),
        operation_id="read_agent",
    )
    def get(self, request: Request, name: str) -> Response:
        self.query(requests.NoQuery)
        agent = directory.typed(self.caller, name)
        return Response(admin_wire.agent_entry(agent, is_open=grants.is_open(agent)))


class PauseView(MailboxView):
    @describe(
        summary="Pause an agent: its tasks stay queued",
        tag="agents",
        body=admin_requests.PauseBody,
        answer=admin_answers.AgentPaused,
        errors=(403, 404),
        operation_id="pause_agent",
    )
    def post(self, request: Request, name: str) -> Response:
        reason = self.body(admin_requests.PauseBody).reason
        return Response(
            admin_wire.paused(registration.pause_agent(self.caller, directory.typed(self.caller, name), reason=reason))
        )


class ResumeView(MailboxView):
    @describe(
        summary="Resume a paused agent",
        tag="agents",
        body=admin_requests.ResumeBody,
        answer=admin_answers.AgentResumed,
        errors=(403, 404),
        operation_id="resume_agent",
    )
    def post(self, request: Request, name: str) -> Response:
        reason = self.body(admin_requests.ResumeBody).reason
        resumed = registration.resume_agent(self.caller, directory.typed(self.caller, name), reason=reason)
        return Response({"kind": "a2a_agent_resumed", "agent": wire.agent_id(resumed)})


class AuditView(MailboxView):
    @describe(
        summary="Read the journal, newest first",
        tag="audit",
        query=admin_requests.AuditQuery,
        answer=admin_answers.AuditEvents,
        operation_id="list_journal",
    )
    def get(self, request: Request) -> Response:
        query = self.query(admin_requests.AuditQuery)
        page = lists.recent_events(self.caller, limit=query.limit, cursor=query.cursor, since=moment(query.since_ms))
        events = [wire.event(event, self.caller) for event in page.items]
        return Response({"kind": "audit_events", "events": events, "next_cursor": page.next_cursor})


class WirePeer(TypedDict):
    """A peer. ``agent`` is the agent whose key it uses.

    The hub sets ``status`` and the times, the peer the other fields.
    """

    agent: AgentId
    peer_id: str
    name: str
    url: str
    capabilities: Any
    status: Literal["online", "suspect", "offline"]
    first_seen_at_ms: int
    last_seen_at_ms: int


class ListedPeers(BaseModel):
    kind: Literal["a2a_peers"]
    peers: list[WirePeer]
    next_cursor: str | None


class PeersView(MailboxView):
    @describe(
        summary="List peers: an agent sees its own, a person sees all",
        tag="agents",
        query=requests.ListQuery,
        answer=ListedPeers,
        operation_id="list_peers",
    )
    def get(self, request: Request) -> Response:
        query, now = self.query(requests.ListQuery), timezone.now()
        page = peers.listing(self.caller, limit=query.limit, cursor=query.cursor)
        rendered = [_peer(peer, now) for peer in page.items]
        return Response({"kind": "a2a_peers", "peers": rendered, "next_cursor": page.next_cursor})


def _peer(row: Peer, now: datetime) -> dict[str, Any]:
    return {
        "agent": wire.agent_id(row.agent),
        "peer_id": row.peer_id,
        "name": row.name,
        "url": row.url,
        "capabilities": row.announced,
        "status": row.status(now),
        "first_seen_at_ms": epoch_ms(row.first_seen_at),
        "last_seen_at_ms": epoch_ms(row.last_seen_at),
    }

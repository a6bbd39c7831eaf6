"""Grants, agents, keys and the journal over HTTP, for operators' keys and agents that hold the capability."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from mailbox import grants, inspection, key_format, registration
from mailbox.dialects.covenant import admin_answers, shapes, wire
from mailbox.dialects.covenant.views import MailboxView
from mailbox.dialects.fields import moment
from mailbox.dialects.openapi import describe


class GrantView(MailboxView):
    @describe(
        summary="Grant a capability",
        tag="capabilities",
        body=shapes.GrantBody,
        answer=admin_answers.Granted,
        errors=(403, 404),
        operation_id="grant_capability",
    )
    def post(self, request: Request) -> Response:
        body = self.body(shapes.GrantBody)
        made = grants.grant(
            self.caller,
            registration.find_agent(body.subject),
            body.action,
            scope=body.scope,
            expires_at=moment(body.expires_at),
            max_uses=body.max_uses,
        )
        return Response(
            {
                "kind": "capability_granted",
                "grant_id": made.grant_id,
                "subject_display": made.subject.display,
                "action": made.action,
            }
        )


class RevokeView(MailboxView):
    @describe(
        summary="Revoke a capability",
        tag="capabilities",
        body=shapes.RevokeBody,
        answer=admin_answers.Revoked,
        errors=(403, 404),
        operation_id="revoke_capability",
    )
    def post(self, request: Request) -> Response:
        revoked = grants.revoke(self.caller, self.body(shapes.RevokeBody).grant_id)
        rendered = wire.capability(revoked)
        return Response(
            {
                "kind": "capability_revoked",
                "grant_id": revoked.grant_id,
                "revoked_at_ms": rendered["revoked_at_ms"],
            }
        )


class RecentGrantsView(MailboxView):
    @describe(
        summary="List grants, newest first",
        tag="capabilities",
        query=shapes.ListQuery,
        answer=admin_answers.CapabilityList,
    )
    def get(self, request: Request) -> Response:
        asked = self.query(shapes.ListQuery)
        page = inspection.grants(self.caller, limit=asked.limit, cursor=asked.cursor)
        found = [wire.capability(grant) for grant in page.items]
        return Response({"kind": "capabilities", "capabilities": found, "next_cursor": page.next_cursor})


class AgentsView(MailboxView):
    @describe(summary="List registered agents", tag="agents", query=shapes.ListQuery, answer=admin_answers.Agents)
    def get(self, request: Request) -> Response:
        asked = self.query(shapes.ListQuery)
        page = inspection.agents(limit=asked.limit, cursor=asked.cursor)
        found = [wire.agent_id(agent) for agent in page.items]
        return Response({"kind": "a2a_agents", "agents": found, "next_cursor": page.next_cursor})

    @describe(
        summary="Register an agent",
        tag="agents",
        body=shapes.AgentBody,
        answer=admin_answers.RegisteredAgent,
        errors=(403, 409),
        operation_id="register_agent",
    )
    def post(self, request: Request) -> Response:
        body = self.body(shapes.AgentBody)
        made = registration.register_agent(self.caller, body.display, pubkey=body.pubkey)
        return Response(wire.registration(made))


class PauseView(MailboxView):
    @describe(
        summary="Pause an agent: its tasks stay queued",
        tag="agents",
        body=shapes.PauseBody,
        answer=admin_answers.AgentPaused,
        errors=(403, 404),
        operation_id="pause_agent",
    )
    def post(self, request: Request, name: str) -> Response:
        reason = self.body(shapes.PauseBody).reason
        return Response(wire.paused(registration.pause_agent(self.caller, registration.agent_at(name), reason=reason)))


class ResumeView(MailboxView):
    @describe(
        summary="Resume a paused agent",
        tag="agents",
        body=shapes.ResumeBody,
        answer=admin_answers.AgentResumed,
        errors=(403, 404),
        operation_id="resume_agent",
    )
    def post(self, request: Request, name: str) -> Response:
        reason = self.body(shapes.ResumeBody).reason
        resumed = registration.resume_agent(self.caller, registration.agent_at(name), reason=reason)
        return Response({"kind": "a2a_agent_resumed", "agent": wire.agent_id(resumed)})


class KeysView(MailboxView):
    @describe(
        summary="Add an API key",
        tag="agents",
        body=shapes.KeyBody,
        answer=admin_answers.KeyAdded,
        errors=(403, 404, 409),
        operation_id="add_key",
    )
    def post(self, request: Request) -> Response:
        body = self.body(shapes.KeyBody)
        agent = registration.find_agent(body.agent) if body.agent else None
        if agent is None and body.username is None:
            agent = self.caller.agent
        key = registration.add_key(self.caller, agent=agent, username=body.username, expires_at=moment(body.expires_at))
        return Response({"kind": "a2a_key", "public_id": key_format.public_id(key), "api_key": key})


class RevokeKeyView(MailboxView):
    @describe(
        summary="Revoke an API key",
        tag="agents",
        body=shapes.RevokeKeyBody,
        answer=admin_answers.KeyRevoked,
        errors=(403, 404),
        operation_id="revoke_key",
    )
    def post(self, request: Request) -> Response:
        revoked = registration.revoke_key(self.caller, self.body(shapes.RevokeKeyBody).public_id)
        return Response({"kind": "a2a_key_revoked", "public_id": revoked.public_id})


class AuditView(MailboxView):
    @describe(
        summary="Read the journal, newest first", tag="audit", query=shapes.AuditQuery, answer=admin_answers.AuditEvents
    )
    def get(self, request: Request) -> Response:
        asked = self.query(shapes.AuditQuery)
        page = inspection.recent_events(
            self.caller, limit=asked.limit, cursor=asked.cursor, since=moment(asked.since_ms)
        )
        events = [wire.event(event) for event in page.items]
        return Response({"kind": "audit_events", "events": events, "next_cursor": page.next_cursor})

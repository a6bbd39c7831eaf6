"""The hub's agents over HTTP, at corvid-agent's routes."""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlencode

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from agentcards import profiles
from agentcards.card_document import build_agent_card_for_agent
from agentcards.models import AgentProfile
from mailbox.access import capabilities, requests
from mailbox.access.agents import directory
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.corvid import agent_answers as answers
from mailbox.dialects.corvid import agent_requests as shapes
from mailbox.dialects.corvid import agent_wire as wire
from mailbox.dialects.corvid import handler
from mailbox.dialects.corvid.answers import CorvidError
from mailbox.dialects.corvid.views import CorvidView
from mailbox.life import sending
from mailbox.models import Agent
from mailbox.words import errors
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import InvalidRequestError, MailboxError, UnknownAgentError

TAG = "agents of tasks/send"


class AgentRoute(CorvidView):
    error_status = {
        **CorvidView.error_status,
        errors.AgentConflictError: HTTPStatus.CONFLICT,
        errors.SenderMismatchError: HTTPStatus.FORBIDDEN,
    }

    def error_body(self, error: MailboxError, status: HTTPStatus) -> object:
        match error:
            case UnknownAgentError():
                return {"error": "Not found"}
            case InvalidRequestError():
                problems = [shapes.spelled(path, problem) for path, problem in error.fields.items()]
                return {"error": f"Validation failed: {'; '.join(problems)}"}
        return super().error_body(error, status)

    def may_see_url_of(self, agent: Agent) -> bool:
        return self.caller.agent == agent or capabilities.holds(self.caller, requests.PROFILE, timezone.now())


class AgentProfilesView(AgentRoute):
    @describe(
        summary="List agents with their profiles",
        tag=TAG,
        query=shapes.AgentsQuery,
        answer=answers.CorvidAgents,
        refusal=CorvidError,
        errors=(403,),
        operation_id="list_agents_with_profiles",
    )
    def get(self, request: Request) -> Response:
        query = self.query(shapes.AgentsQuery)
        page = profiles.listing(limit=query.limit, cursor=query.cursor)
        response = Response([wire.agent(row, with_remote_url=self.may_see_url_of(row.agent)) for row in page.items])
        if page.next_cursor:
            further = urlencode({"limit": query.limit, "cursor": page.next_cursor})
            response["Link"] = f'<{settings.PUBLIC_URL}/api/agents?{further}>; rel="next"'
        return response

    @describe(
        summary="Register an agent with a profile",
        tag=TAG,
        body=shapes.RegisterAgentBody,
        answer=answers.NewAgentAnswer,
        refusal=CorvidError,
        errors=(403, 409),
        operation_id="create_agent",
        status=HTTPStatus.CREATED,
    )
    def post(self, request: Request) -> Response:
        body = self.body(shapes.RegisterAgentBody)
        made = profiles.register_agent(self.caller, body.address, pubkey=body.public_key, profile=body.profile())
        return Response(wire.registered(AgentProfile.of(made.agent), made), status=HTTPStatus.CREATED)


class AgentView(AgentRoute):
    @describe(
        summary="Read an agent with its profile",
        tag=TAG,
        answer=answers.AgentAnswer,
        refusal=CorvidError,
        errors=(403, 404),
        operation_id="get_agent_with_profile",
    )
    def get(self, request: Request, name: str) -> Response:
        return self._shown(AgentProfile.of(directory.typed(self.caller, name)))

    @describe(
        summary="Change an agent's profile; fields that are left out stay as they are",
        tag=TAG,
        body=shapes.UpdateAgentBody,
        answer=answers.AgentAnswer,
        refusal=CorvidError,
        errors=(403, 404),
        operation_id="update_agent",
    )
    def put(self, request: Request, name: str) -> Response:
        return self._changed(name)

    @describe(
        summary="Change an agent's profile; fields that are left out stay as they are",
        tag=TAG,
        body=shapes.UpdateAgentBody,
        answer=answers.AgentAnswer,
        refusal=CorvidError,
        errors=(403, 404),
        operation_id="patch_agent",
    )
    def patch(self, request: Request, name: str) -> Response:
        return self._changed(name)

    def _changed(self, name: str) -> Response:
        changes = self.body(shapes.UpdateAgentBody).profile()
        return self._shown(profiles.update_profile(self.caller, directory.typed(self.caller, name), changes))

    def _shown(self, profile: AgentProfile) -> Response:
        return Response(wire.agent(profile, with_remote_url=self.may_see_url_of(profile.agent)))


class AgentCardView(AgentRoute):
    @describe(
        summary="Read an agent's card",
        tag=TAG,
        answer=answers.AgentCardAnswer,
        refusal=CorvidError,
        errors=(403, 404),
        operation_id="read_agent_card",
    )
    def get(self, request: Request, name: str) -> Response:
        return Response(build_agent_card_for_agent(directory.typed(self.caller, name)))


class InvokeView(AgentRoute):
    open_to_routes = frozenset({"POST"})

    @describe(
        summary="Send a task to this agent, or from it to another",
        tag=TAG,
        body=shapes.InvokeAgentBody,
        answer=answers.Invoked,
        refusal=CorvidError,
        errors=(403, 404, 429),
        operation_id="invoke_agent",
        status=HTTPStatus.CREATED,
    )
    def post(self, request: Request, name: str) -> Response:
        body = self.body(shapes.InvokeAgentBody)
        handler.count(self.caller)
        named = directory.typed(self.caller, name)
        recipient = named if body.to_agent is None else directory.typed(self.caller, body.to_agent)
        sent = sending.send_task(
            self.caller,
            TaskEnvelope(
                sender=None if body.to_agent is None else AgentRef(pubkey=named.pubkey),
                recipient=AgentRef(pubkey=recipient.pubkey),
                intent_text=body.content,
                dialect=handler.DIALECT,
                converses=False,
            ),
        )
        handler.drop_beyond_cap(self.caller, sent)
        answer = {"messageId": sent.uuid, "txid": None, "sessionId": None}
        return Response(answer, status=HTTPStatus.CREATED)

"""The public cards of the hub and of its agents."""

from __future__ import annotations

import hashlib
import json
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.request import Request

from agentcards.card_document import CardDocument, build_agent_card, build_agent_card_for_agent
from mailbox.access.agents import directory
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.corvid import agent_answers as answers
from mailbox.dialects.corvid.agent_views import TAG, AgentRoute
from mailbox.dialects.corvid.answers import CorvidError
from mailbox.words.errors import UnknownAgentError

CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": "Content-Type, Authorization, If-None-Match",
}


class PublicView(AgentRoute):
    """A view without a key, for pages of any site. A cache may keep its answer for five minutes."""

    http_method_names = ("get", "head", "options")
    open_to_routes = frozenset({"GET"})

    def perform_authentication(self, request: Request) -> None:
        """Let any client read: a card is public."""
        self.let_anyone_in(request)

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        return HttpResponse(
            status=HTTPStatus.NO_CONTENT, content_type="application/json"
        )  # a Response would be rendered as null

    def finalize_response(self, request: Any, response: HttpResponseBase, *args: Any, **kwargs: Any) -> Any:
        for name, value in CORS.items():
            response.headers[name] = value
        return super().finalize_response(request, response, *args, **kwargs)

    def shown(self, card: CardDocument) -> HttpResponseBase | None:
        """Return the card, indented for people; 304 if the client has this card already."""
        text = json.dumps(card, indent=2, ensure_ascii=False).encode()
        etag = f'"{hashlib.sha256(text).hexdigest()[:32]}"'
        response = HttpResponse(text, content_type="application/json")
        response["Cache-Control"] = "public, max-age=300"
        response["ETag"] = etag
        return get_conditional_response(self.request._request, etag=etag, response=response)


class HubCardView(PublicView):
    @describe(
        summary="Read the hub's agent card",
        tag=TAG,
        answer=answers.AgentCardAnswer,
        refusal=CorvidError,
        public=True,
        operation_id="read_hub_card",
    )
    def get(self, request: Request) -> HttpResponseBase | None:
        return self.shown(build_agent_card(self.base_url()))


class PublicAgentCardView(PublicView):
    @describe(
        summary="Read an agent's card, if the hub publishes agents' cards",
        tag=TAG,
        answer=answers.AgentCardAnswer,
        refusal=CorvidError,
        errors=(404,),
        public=True,
        operation_id="read_public_agent_card",
    )
    def get(self, request: Request, name: str) -> HttpResponseBase | None:
        if not settings.A2A_PUBLIC_AGENT_CARDS:
            raise UnknownAgentError
        agent = directory.typed(None, name)
        card = build_agent_card_for_agent(agent, self.base_url())
        if self.route() is not None:  # a route opens the card, but not the agent's profile at its own URL
            card["url"] = f"{self.base_url()}/.well-known/agents/{agent.display}"
        return self.shown(card)

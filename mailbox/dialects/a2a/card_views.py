"""The cards of the official protocol, and the keys of their signatures.

The answers of the routes of cards, for the OpenAPI document.
"""

from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.http import http_date
from pydantic import RootModel
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from typing_extensions import TypedDict

from agentcards import card_signing, official_agents, official_card
from agentcards.card_signing import Jwk
from mailbox.dialects.a2a.errors import rest_error
from mailbox.dialects.base.authentication import AddressThrottle
from mailbox.dialects.base.http_errors import STATUS
from mailbox.dialects.base.openapi import operation
from mailbox.dialects.base.pages import PublicDocumentView
from mailbox.words.errors import MailboxError


class OfficialCardAnswer(RootModel[dict[str, Any]]):
    """An agent card of A2A 1.0, signed. Its signature is of the card without its signatures and its empty values."""


class KeySet(TypedDict):
    """A JSON Web Key Set. A signature names its key by ``kid``."""

    keys: list[Jwk]


class ErrorDetail(TypedDict):
    """A ``google.rpc`` detail. Its type is in ``@type``."""

    reason: str
    domain: str


class ErrorStatus(TypedDict):
    code: int
    status: str
    message: str
    details: list[ErrorDetail]


class OfficialError(TypedDict):
    """An error. Decide by the ``reason`` of the first detail."""

    error: ErrorStatus


VERSION = "A2A-Version"


class WellKnownView(PublicDocumentView):
    """A view of a card or of keys. Without keys its requests are counted for their addresses."""

    error_status = STATUS
    cors_headers = ("Content-Type", "Authorization", "X-API-Key", VERSION, "If-None-Match")

    def error_body(self, error: MailboxError, status: HTTPStatus) -> object:
        return rest_error(error)

    def needs_key(self) -> bool:
        """Whether the view answers callers with a key alone."""
        return False

    def perform_authentication(self, request: Request) -> None:
        if request.method == "OPTIONS" or not self.needs_key():
            request.authenticators = ()
        super().perform_authentication(request)

    def get_throttles(self) -> list[BaseThrottle]:
        return super().get_throttles() if self.request.authenticators else [AddressThrottle()]


class OfficialCardView(WellKnownView):
    def needs_key(self) -> bool:
        return not settings.A2A_PUBLIC_AGENT_CARDS

    @operation("a2a_agent_card", answer=OfficialCardAnswer, refusal=OfficialError, errors=(401, 404), public=True)
    def get(self, agent: str) -> HttpResponseBase | None:
        official = official_agents.find(agent)
        card = official.card(self.request.headers.get(VERSION) or self.request.query_params.get(VERSION, ""))
        changed_at = official.profile.changed_at or official.agent.created_at
        scope, changed = "private" if self.needs_key() else "public", http_date(changed_at.timestamp())
        return self.shown(card, tag=official_card.tag_of(card), scope=scope, **{"Last-Modified": changed})

    def finalize_response(self, request: Any, response: HttpResponseBase, *args: Any, **kwargs: Any) -> Any:
        patch_vary_headers(response, [VERSION])
        return super().finalize_response(request, response, *args, **kwargs)


class KeySetView(WellKnownView):
    @operation("a2a_key_set", answer=KeySet, refusal=OfficialError, public=True)
    def get(self) -> HttpResponseBase | None:
        keys: KeySet = {"keys": card_signing.public_keys()}
        return self.shown(keys, tag=official_card.tag_of(keys))

"""The quotas of an agent over HTTP: the agent and people read them, and admins set them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from agentcards import registry
from mailbox.access.agents import directory
from mailbox.access.limits import own_limits, quota_usage
from mailbox.access.limits.own_limits import LARGEST, LARGEST_BYTES
from mailbox.dialects.base.fields import AgentField, Exact, Integer
from mailbox.dialects.base.openapi import describe
from mailbox.dialects.covenant.views import MailboxView
from mailbox.models import Agent


class QuotasBody(Exact):
    """The quotas to set. Null restores the setting; an absent quota stays. ``recipient`` goes with ``queued`` alone."""

    queued: Integer | None = Field(None, ge=0, le=LARGEST)
    bytes: Integer | None = Field(None, ge=0, le=LARGEST_BYTES)
    callbacks: Integer | None = Field(None, ge=0, le=LARGEST)
    waits: Integer | None = Field(None, ge=0, le=LARGEST)
    cards: Integer | None = Field(None, ge=0, le=LARGEST)
    requests_per_s: Integer | None = Field(None, ge=0, le=LARGEST)
    recipient: AgentField | None = None


class QuotaUsage(TypedDict):
    """One quota. ``used`` is null for a rate. ``is_own`` is false for the setting. ``recipient`` null: all of them."""

    quota: str
    recipient: str | None
    used: int | None
    limit: int
    is_own: bool


class ListedQuotas(BaseModel):
    kind: Literal["a2a_quotas"]
    quotas: list[QuotaUsage]


class QuotasView(MailboxView):
    @describe(
        summary="Read an agent's quotas and their use",
        tag="agents",
        answer=ListedQuotas,
        errors=(403, 404),
        operation_id="read_quotas",
    )
    def get(self, request: Request, name: str) -> Response:
        agent = directory.typed(self.caller, name)
        own_limits.check_reader(self.caller, agent)
        return _shown(agent)

    @describe(
        summary="Give an agent quotas of its own",
        tag="agents",
        body=QuotasBody,
        answer=ListedQuotas,
        errors=(403, 404),
        operation_id="set_quotas",
    )
    def post(self, request: Request, name: str) -> Response:
        body, agent = self.body(QuotasBody), directory.typed(self.caller, name)
        recipient = None if body.recipient is None else directory.identified(self.caller, body.recipient)
        wanted = {field: getattr(body, field) for field in body.model_fields_set - {"recipient"}}
        own_limits.set_quotas(self.caller, agent, wanted, recipient=recipient)
        return _shown(agent)


def _shown(agent: Agent) -> Response:
    used = quota_usage.usage_of(agent, cards=registry.count_of(agent))
    return Response({"kind": "a2a_quotas", "quotas": [_usage(one) for one in used]})


def _usage(one: quota_usage.Usage) -> QuotaUsage:
    return {
        "quota": one.name,
        "recipient": one.recipient or None,
        "used": one.used,
        "limit": one.limit,
        "is_own": one.is_own,
    }

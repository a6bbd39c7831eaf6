"""The answers of the routes about agents, for the renderer and for the OpenAPI document."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import BaseModel, RootModel
from typing_extensions import TypedDict

from agentcards.card_document import CardDocument
from mailbox.dialects.base.wire import AgentId


class CorvidAgent(TypedDict):
    """An agent. ``id`` is its address. ``remoteUrl`` is null for callers who may not change it.

    The fields from ``inputModes`` to ``extendedTools`` are of its card in the official A2A protocol.
    """

    id: str
    name: str
    agentId: AgentId
    description: str
    personaArchetype: str | None
    skillBundles: list[str]
    defaultProjectId: str | None
    mcpToolPermissions: list[str] | None
    walletAddress: str | None
    algochatEnabled: bool
    remote: bool
    remoteUrl: str | None
    inputModes: list[str]
    outputModes: list[str]
    cardVersion: str | None
    documentationUrl: str | None
    iconUrl: str | None
    streaming: bool
    pushNotifications: bool
    extendedCard: bool
    cardFor03: bool
    extensions: list[dict[str, Any]]
    extendedTools: list[str]
    paused: bool
    pausedReason: str | None
    createdAt: str


class NewAgent(CorvidAgent):
    """The new agent with its secrets, which are shown only here.

    ``privateKey`` is null if the request had a ``publicKey``.
    """

    apiKey: str
    privateKey: str | None


class AgentAnswer(RootModel[CorvidAgent]):
    """An agent with its profile."""


class NewAgentAnswer(RootModel[NewAgent]):
    """The new agent with its secrets."""


class CorvidAgents(RootModel[list[CorvidAgent]]):
    """A page of agents. The header ``Link: <...>; rel="next"`` names the next page."""


class AgentCardAnswer(RootModel[CardDocument]):
    """An agent card: what the agent can do and how to reach it."""


class Invoked(BaseModel):
    """``messageId`` is the id of the task. Poll it at ``/a2a/tasks/<id>``."""

    messageId: UUID  # noqa: N815
    txid: None
    sessionId: None  # noqa: N815

"""What the routes about agents answer, for the OpenAPI document."""

from __future__ import annotations

from uuid import UUID

from pydantic import BaseModel, RootModel

from agentcards.card_document import CardDocument
from mailbox.dialects.base.fields import AgentId


class CorvidAgent(BaseModel):
    """``id`` is the agent's display. ``remoteUrl`` is null for callers who may not change it."""

    id: str
    name: str
    agentId: AgentId  # noqa: N815 the wire's spelling
    description: str
    personaArchetype: str | None  # noqa: N815
    skillBundles: list[str]  # noqa: N815
    defaultProjectId: str | None  # noqa: N815
    mcpToolPermissions: list[str] | None  # noqa: N815
    walletAddress: str | None  # noqa: N815
    algochatEnabled: bool  # noqa: N815
    remote: bool
    remoteUrl: str | None  # noqa: N815
    paused: bool
    pausedReason: str | None  # noqa: N815
    createdAt: str  # noqa: N815


class NewAgent(CorvidAgent):
    """The secrets are shown this once; ``privateKey`` is null when the agent brought its own."""

    apiKey: str  # noqa: N815
    privateKey: str | None  # noqa: N815


class CorvidAgents(RootModel[list[CorvidAgent]]):
    """Further pages are named by the header ``Link: <...>; rel="next"``."""


class AgentCardAnswer(RootModel[CardDocument]):
    """An A2AAgentCard."""


class Invoked(BaseModel):
    """``messageId`` is the task's, to be polled at ``/a2a/tasks/<id>``."""

    messageId: UUID  # noqa: N815
    txid: None
    sessionId: None  # noqa: N815

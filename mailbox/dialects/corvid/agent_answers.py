"""What the routes about agents answer, for the OpenAPI document."""

from __future__ import annotations

from uuid import UUID

from pydantic import BaseModel, RootModel

from agentcards.card_document import CardDocument
from mailbox.dialects.base.fields import AgentId


class CorvidAgent(BaseModel):
    """An agent. ``id`` is its address. ``remoteUrl`` is null for callers who may not change it."""

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
    """The new agent with its secrets, which are shown only here. ``privateKey`` is null if the request had a ``publicKey``."""

    apiKey: str  # noqa: N815
    privateKey: str | None  # noqa: N815


class CorvidAgents(RootModel[list[CorvidAgent]]):
    """A page of agents. The header ``Link: <...>; rel="next"`` names the next page."""


class AgentCardAnswer(RootModel[CardDocument]):
    """An agent card: what the agent can do and how to reach it."""


class Invoked(BaseModel):
    """``messageId`` is the id of the task. Poll it at ``/a2a/tasks/<id>``."""

    messageId: UUID  # noqa: N815
    txid: None
    sessionId: None  # noqa: N815

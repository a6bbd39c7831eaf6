"""The bodies and queries of the registry's routes: pure, no queries, no clock. Source: Marianne, AgentCard."""

from __future__ import annotations

from pydantic import Field

from mailbox.dialects.base.fields import Exact, Text
from mailbox.dialects.marianne.values import A2ASkill, AgentCard

MOST_SKILLS = 1000


class CardBody(Exact):
    """The card of a running job. The caller's other card with the same name is removed."""

    name: Text
    description: Text
    skills: list[A2ASkill] = Field([], max_length=MOST_SKILLS)

    def card(self) -> AgentCard:
        return AgentCard(name=self.name, description=self.description, skills=self.skills)


class RegistryQuery(Exact):
    """``skill`` is a skill's id, ``name`` an agent's; both compare exactly."""

    skill: str | None = None
    name: str | None = None
    limit: int = Field(10, ge=1, le=1000)
    cursor: str | None = None

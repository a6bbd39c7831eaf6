"""Cards of running jobs, as rows and on the wire: pure, no queries, no clock. Source: Marianne, AgentCard."""

from __future__ import annotations

from agentcards import models
from mailbox.dialects.marianne.registry_answers import RegisteredCard
from mailbox.dialects.marianne.values import A2ASkill, AgentCard
from mailbox.words.times import epoch_ms


def card(row: models.AgentCard) -> AgentCard:
    """Return a card with its skills in their order."""
    skills = [A2ASkill(id=skill["id"], description=skill["description"]) for skill in row.skills]
    return AgentCard(name=row.name, description=row.description, skills=skills)


def row(given: AgentCard) -> models.AgentCard:
    """Return a card as a row that belongs to no job yet."""
    skills = [skill.model_dump() for skill in given.skills]
    return models.AgentCard(name=given.name, description=given.description, skills=skills)


def registered(row: models.AgentCard) -> RegisteredCard:
    """Render a card with the job it belongs to and the agent whose job that is."""
    owner = row.registered_by
    return RegisteredCard(
        job_id=row.job_id,
        card=card(row),
        registered_by={"display": owner.display, "pubkey": owner.pubkey} if owner else None,
        registered_at_ms=epoch_ms(row.registered_at),
    )

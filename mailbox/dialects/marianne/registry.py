"""The cards of running jobs, in process on local trust. Source: Marianne, ``AgentCardRegistry``."""

from agentcards import models, registry
from mailbox.dialects.marianne.values import A2ASkill, AgentCard
from mailbox.words import shapes


class AgentCardRegistry:
    """The hub's registry: every process reads the same cards, and they survive a restart. Answers are copies.

    An argument of another type raises `InvalidRequestError`, and changes no row.
    """

    def __init__(self) -> None:
        self._registry = registry.CardRegistry()

    def register(self, job_id: str, card: AgentCard) -> None:
        """Register the card of a running job, in place of the job's earlier card.

        The card of another job under the same name is removed. Raises ValueError for an empty job id or name, and for
        text that the database cannot store. Journals ``agent_card_registered``.
        """
        shapes.require(AgentCard, card=card)
        self._registry.register(job_id, row_of(card))

    def deregister(self, job_id: str) -> AgentCard | None:
        """Remove a job's card and return it; None without one. Journals ``agent_card_deregistered``."""
        return _shown(self._registry.deregister(job_id))

    def get(self, job_id: str) -> AgentCard | None:
        """Return the job's card; None without one."""
        return _shown(self._registry.get(job_id))

    def get_job_id_for_agent(self, agent_name: str) -> str | None:
        """Return the job that runs the agent of exactly this name; None without one."""
        return self._registry.get_job_id_for_agent(agent_name)

    def query(self) -> list[AgentCard]:
        """Return all cards, in the order of registration."""
        return [card_of(row) for row in self._registry.query()]

    def query_by_skill(self, skill_id: str) -> list[AgentCard]:
        """Return the cards that declare exactly this skill, in the order of registration."""
        return [card_of(row) for row in self._registry.query_by_skill(skill_id)]

    def clear(self) -> None:
        """Remove every card. Journals ``agent_cards_cleared``."""
        self._registry.clear()

    @property
    def count(self) -> int:
        """How many cards are registered."""
        return self._registry.count


def _shown(row: models.AgentCard | None) -> AgentCard | None:
    return None if row is None else card_of(row)


def card_of(row: models.AgentCard) -> AgentCard:
    """Return a card with its skills in their order."""
    skills = [A2ASkill(id=skill["id"], description=skill["description"]) for skill in row.skills]
    return AgentCard(name=row.name, description=row.description, skills=skills)


def row_of(card: AgentCard) -> models.AgentCard:
    """Return a card as a row that belongs to no job yet."""
    skills = [skill.model_dump() for skill in card.skills]
    return models.AgentCard(name=card.name, description=card.description, skills=skills)

"""The registry of running jobs: each job registers a card with a name and skills. Source: Marianne."""

from collections.abc import Callable
from typing import TypeVar

from django.db import IntegrityError

from agentcards.models import AgentCard
from agentcards.models.profile import AgentCardQuerySet
from agentcards.models.validation import LONGEST_NAME
from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.access.requests import Request
from mailbox.database.paging import Page, after, in_turn, page
from mailbox.journal import hub_entries
from mailbox.models import Agent
from mailbox.words import json_text, shapes
from mailbox.words.errors import MailboxError

# Registrations that race each other: each lost race means that a rival succeeded. More rivals at once are an error.
MOST_CLASHES = 50
MOST_BYTES = 65_536  # of one card

Decided = TypeVar("Decided")


class CardTakenError(MailboxError):
    """A job of another agent holds this job id or this name."""

    code = "card_taken"


class CardRegistry:
    """The registry as one caller uses it. The rows are shared by all callers and processes.

    Code in this process may leave the caller out. An agent registers cards for its own jobs. Only that agent, and
    operators with ``a2a.registry.manage``, may replace or remove them. Source: Marianne, AgentCardRegistry.
    """

    def __init__(self, caller: Caller | None = None) -> None:
        self._caller = caller or Caller.local()

    def register(self, job_id: str, card: AgentCard) -> AgentCard:
        """Register the card of a running job; return it as stored.

        It replaces the job's earlier card and keeps that card's place in `query`. A name belongs to one job: another
        job's card of the same name is removed. Repeating a registration changes nothing. Journals
        ``agent_card_registered``. Raises `InvalidRequestError` for a job id or name that is not text. Raises
        `CardTakenError`, `QuotaExceededError`, and `ValueError` for an empty job id or name, for malformed skills and
        for a card of more than `MOST_BYTES`. Locks the stock of the agent whose card is new.
        """
        shapes.require(str, job_id=job_id, name=card.name)
        _check("job_id", job_id, "job_id must not be empty")
        _check("agent card name", card.name, "agent card name must not be empty")
        _check_content(card)
        return _settle(lambda: self._register(job_id, card))

    def deregister(self, job_id: str) -> AgentCard | None:
        """Remove a job's card and return it, None if it had none. Journals ``agent_card_deregistered``.

        Raises `InvalidRequestError` for a job id that is not text.
        """
        shapes.require(str, job_id=job_id)
        with audit.decision(self._caller) as journal:
            card = _rows(job_id=job_id).select_for_update(of=("self",)).first()
            self._require(journal, job_id, [card] if card else [])
            if card is not None:
                card.delete()
                journal.beside(hub_entries.AgentCardDeregisteredEntry(card.job_id, card.name))
        return card

    def get(self, job_id: str) -> AgentCard | None:
        """Return the job's card, None if it has none; raise `InvalidRequestError` for a job id that is not text."""
        shapes.require(str, job_id=job_id)
        return _rows(job_id=job_id).first()

    def get_job_id_for_agent(self, agent_name: str) -> str | None:
        """Return the id of the job whose card has this name, None if no card has it.

        Raises `InvalidRequestError` for a name that is not text.
        """
        shapes.require(str, agent_name=agent_name)
        return _rows(name=agent_name).values_list("job_id", flat=True).first()

    def query(self) -> list[AgentCard]:
        """Return all cards, in the order of registration."""
        return list(_rows().in_order())

    def query_by_skill(self, skill_id: str) -> list[AgentCard]:
        """Return the cards with exactly this skill id, in the order of registration.

        Raises `InvalidRequestError` for a skill id that is not text.
        """
        shapes.require(str, skill_id=skill_id)
        return [card for card in _rows().in_order().iterator() if card.offers(skill_id)]

    def look(
        self, *, name: str | None = None, skill: str | None = None, limit: int = 10, cursor: str | None = None
    ) -> Page[AgentCard]:
        """Return a page of cards in the order of registration, filtered by name and skill unless they are None.

        Raises `InvalidRequestError` for a cursor of another list.
        """
        position = after(cursor, "registry", (int,))
        cards = in_turn(_rows() if name is None else _rows(name=name), ("pk",), position)
        return page(((card, at) for card, at in cards if skill is None or card.offers(skill)), limit, "registry")

    @property
    def count(self) -> int:
        """The number of registered cards."""
        return AgentCard.objects.count()

    def clear(self) -> int:
        """Remove every card; return their number. Needs ``a2a.registry.manage``. Journals ``agent_cards_cleared``."""
        with audit.decision(self._caller) as journal:
            journal.admit(Request.to_manage_cards("*"))
            removed, _ = AgentCard.objects.all().delete()
            if removed:
                journal.beside(hub_entries.AgentCardsClearedEntry(removed))
        return removed

    def _register(self, job_id: str, card: AgentCard) -> AgentCard:
        with audit.decision(self._caller) as journal:
            rivals = list(_rows().select_for_update(of=("self",)).in_the_way_of(job_id, card.name).order_by("pk"))
            self._require(journal, job_id, rivals)
            row = next((rival for rival in rivals if rival.job_id == job_id), None)
            removed = [rival for rival in rivals if rival.job_id != job_id]
            wanted = {"name": card.name, "description": card.description, "skills": card.skills}
            if row is not None and all(getattr(row, field) == value for field, value in wanted.items()):
                return row
            for rival in removed:
                rival.delete()
            if row is None and self._caller.agent is not None:
                _take(self._caller.agent)
            row = row or AgentCard(job_id=job_id, registered_by=self._caller.agent)
            row.registered_at = journal.now
            for field, value in wanted.items():
                setattr(row, field, value)
            row.save()
            removed_ids = [rival.job_id for rival in removed]
            journal.beside(
                hub_entries.AgentCardRegisteredEntry(
                    job_id, row.name, skill_count=len(row.skills), removed_job_ids=removed_ids
                )
            )
        return row

    def _require(self, journal: audit.Journal, job_id: str, touched: list[AgentCard]) -> None:
        """Raise `CardTakenError` if an agent touches another agent's card; other callers need the capability."""
        if self._caller.trusted:
            return
        if self._caller.agent is None:
            journal.admit(Request.to_manage_cards(job_id))
            return
        foreign = next((card for card in touched if card.registered_by != self._caller.agent), None)
        if foreign is not None:
            raise CardTakenError(
                f'"{foreign.name}" of job "{foreign.job_id}" belongs to {foreign.registered_by or "an operator"}; '
                "only its owner and operators may replace or remove it",
                job_id=foreign.job_id,
                name=foreign.name,
            )


def jobs_of(agent: Agent, *, most: int) -> list[AgentCard]:
    """Return the first ``most`` cards of this agent's jobs, in the order of registration."""
    return list(AgentCard.objects.of_agent(agent).in_order()[:most])


def count_of(agent: Agent) -> int:
    """Return the number of cards of this agent's jobs."""
    return AgentCard.objects.of_agent(agent).count()


def _take(agent: Agent) -> None:
    """Make sure that the agent may register one more card; raise `QuotaExceededError`. Locks its stock."""
    most = quotas.own_cards(agent)
    if AgentCard.objects.of_agent(agent)[:most].count() >= most:
        raise quotas.exceeded("cards", "job cards", most, retry_after=1, of=agent.display)


def _rows(**wanted: str) -> AgentCardQuerySet:
    """Return the cards whose fields equal ``wanted``. Text that the database cannot store matches no card."""
    if any(json_text.problem_with(text) for text in wanted.values()):
        return AgentCard.objects.none()
    return AgentCard.objects.select_related("registered_by").filter(**wanted)


def _check(what: str, text: str, when_empty: str) -> None:
    if not text.strip():
        raise ValueError(when_empty)
    if problem := json_text.problem_with(text):
        raise ValueError(f"{what} {problem}")
    if len(text) > LONGEST_NAME:
        raise ValueError(f"{what} is longer than {LONGEST_NAME} characters")


def _check_content(card: AgentCard) -> None:
    for skill in card.skills:
        if not isinstance(skill, dict) or skill.keys() != {"id", "description"}:
            raise ValueError("a skill must have an id and a description, and nothing else")
    texts = [card.description, *(text for skill in card.skills for text in skill.values())]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("descriptions and skill ids must be text")
    if problem := json_text.problem_in(texts):
        raise ValueError(problem)
    size = len(json_text.dumps([card.name, *texts]).encode())
    if size > MOST_BYTES:
        raise ValueError(f"the card has {size} bytes; at most {MOST_BYTES}")


def _settle(decide: Callable[[], Decided]) -> Decided:
    """Run the decision. Run it again each time it fails because a rival broke a unique constraint first."""
    for _ in range(MOST_CLASHES):
        try:
            return decide()
        except IntegrityError:
            continue
    return decide()

"""The registry of running jobs' cards over HTTP. Source: Marianne, AgentCardRegistry."""

from http import HTTPStatus
from typing import Any, Literal

from pydantic import BaseModel, Field

from agentcards import models
from agentcards.registry import CardRegistry, CardTakenError
from mailbox.dialects.base.bodies import Exact, Text
from mailbox.dialects.base.http_errors import STATUS
from mailbox.dialects.base.openapi import operation
from mailbox.dialects.base.view import DialectView
from mailbox.dialects.base.wire import AgentId, agent_id
from mailbox.dialects.marianne import registry
from mailbox.dialects.marianne.registry import card_of, row_of
from mailbox.dialects.marianne.values import A2ASkill, AgentCard
from mailbox.words.errors import InvalidRequestError, MailboxError
from mailbox.words.times import epoch_ms

MOST_SKILLS = 1000


class RegisteredCard(BaseModel):
    """A card with its job. ``registered_by`` is null for a card that a person registered."""

    job_id: str
    card: AgentCard
    registered_by: AgentId | None
    registered_at_ms: int


class CardRegistered(RegisteredCard):
    kind: Literal["a2a_card_registered"]


class FoundCard(RegisteredCard):
    kind: Literal["a2a_card"]


class CardDeregistered(BaseModel):
    """The removed card. ``card`` is null if the job had no card, for example in a repeated request."""

    kind: Literal["a2a_card_deregistered"]
    job_id: str
    card: AgentCard | None


class FoundCards(BaseModel):
    kind: Literal["a2a_cards"]
    cards: list[RegisteredCard]
    next_cursor: str | None


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


def _registered(row: models.AgentCard) -> RegisteredCard:
    """Render a card with the job it belongs to and the agent whose job that is."""
    owner = row.registered_by
    return RegisteredCard(
        job_id=row.job_id,
        card=registry.card_of(row),
        registered_by=agent_id(owner) if owner else None,
        registered_at_ms=epoch_ms(row.registered_at),
    )


class UnknownCardError(MailboxError):
    """No card is registered for that job."""

    code = "unknown_card"


class RegistryView(DialectView):
    error_status = {**STATUS, CardTakenError: HTTPStatus.CONFLICT, UnknownCardError: HTTPStatus.NOT_FOUND}

    @property
    def registry(self) -> CardRegistry:
        return CardRegistry(self.caller)


class CardsView(RegistryView):
    @operation("find_cards", answer=FoundCards)
    def get(self, query: RegistryQuery) -> dict[str, Any]:
        page = self.registry.look(name=query.name, skill=query.skill, limit=query.limit, cursor=query.cursor)
        cards = [_registered(row).model_dump() for row in page.items]
        return {"kind": "a2a_cards", "cards": cards, "next_cursor": page.next_cursor}


class CardView(RegistryView):
    @operation("get_card", answer=FoundCard, errors=(404,))
    def get(self, job_id: str) -> dict[str, Any]:
        row = self.registry.get(job_id)
        if row is None:
            raise UnknownCardError(job_id=job_id)
        return {"kind": "a2a_card", **_registered(row).model_dump()}

    @operation("register_card", answer=CardRegistered, errors=(403, 409))
    def put(self, job_id: str, body: CardBody) -> dict[str, Any]:
        try:
            row = self.registry.register(job_id, row_of(body.card()))
        except ValueError as error:
            raise InvalidRequestError({"card": str(error)}) from error
        return {"kind": "a2a_card_registered", **_registered(row).model_dump()}

    @operation("deregister_card", answer=CardDeregistered, errors=(403, 409))
    def delete(self, job_id: str) -> dict[str, Any]:
        row = self.registry.deregister(job_id)
        card = card_of(row).model_dump() if row else None
        return {"kind": "a2a_card_deregistered", "job_id": job_id, "card": card}

"""The answers of the registry's routes, for the renderer and for the OpenAPI document."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from mailbox.dialects.base.wire import AgentId
from mailbox.dialects.marianne.values import AgentCard


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

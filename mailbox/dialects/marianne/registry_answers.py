"""What the registry's routes answer, for the OpenAPI document."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from mailbox.dialects.fields import AgentId
from mailbox.dialects.marianne.shapes import AgentCard


class Registered(BaseModel):
    """``registered_by`` is null for a card that a person registered."""

    job_id: str
    card: AgentCard
    registered_by: AgentId | None
    registered_at_ms: int


class CardRegistered(Registered):
    kind: Literal["a2a_card_registered"]


class Card(Registered):
    kind: Literal["a2a_card"]


class CardDeregistered(BaseModel):
    """``card`` is null where the job had none, as when the request is repeated."""

    kind: Literal["a2a_card_deregistered"]
    job_id: str
    card: AgentCard | None


class Cards(BaseModel):
    kind: Literal["a2a_cards"]
    cards: list[Registered]
    next_cursor: str | None

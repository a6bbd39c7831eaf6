"""The answers of the routes of cards, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, RootModel
from typing_extensions import TypedDict

from agentcards.card_signing import Jwk


class OfficialCardAnswer(RootModel[dict[str, Any]]):
    """An agent card of A2A 1.0, signed. Its signature is of the card without its signatures and its empty values."""


class KeySet(BaseModel):
    """A JSON Web Key Set. A signature names its key by ``kid``."""

    keys: list[Jwk]


class ErrorDetail(TypedDict):
    """A ``google.rpc`` detail. Its type is in ``@type``."""

    reason: str
    domain: str


class ErrorStatus(TypedDict):
    code: int
    status: str
    message: str
    details: list[ErrorDetail]


class OfficialError(BaseModel):
    """An error. Decide by the ``reason`` of the first detail."""

    error: ErrorStatus

"""The types of fields in request shapes. JSON types are not converted: the text "1" is no integer."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, Strict
from typing_extensions import TypeAliasType, TypedDict

from mailbox.dialects.base.blocks import Content, shown_as
from mailbox.words.envelopes import MAX_DEADLINE_MS, AgentRef
from mailbox.words.errors import InvalidRequestError
from mailbox.words.times import LONGEST_MS

MAX_DATE_MS = 253_402_300_799_999  # the last millisecond of the year 9999

Text = Annotated[str, Strict()]
Integer = Annotated[int, Strict()]
Number = Annotated[float, Strict()]  # also a whole one
EpochMs = Annotated[int, Strict(), Field(ge=0, le=MAX_DEADLINE_MS, description="Unix epoch milliseconds")]
DateMs = Annotated[int, Strict(), Field(ge=0, le=MAX_DATE_MS, description="Unix epoch milliseconds")]
WorkTimeoutMs = Annotated[int, Strict(), Field(ge=1, le=LONGEST_MS, description="Milliseconds from the lease")]

_DIGITS = re.compile(r"-?[0-9]{1,40}")


def _digits(value: object) -> object:
    if isinstance(value, str) and not _DIGITS.fullmatch(value):
        raise ValueError("must be a whole number")
    return value


QueryInteger = Annotated[int, BeforeValidator(_digits)]  # a query is all text; "1.0" and " 1" are no whole numbers


def _agent_ref(value: object) -> AgentRef:
    try:
        return AgentRef.parse(value)
    except InvalidRequestError as error:
        raise ValueError(next(iter(error.fields.values()))) from error


class AgentId(TypedDict):
    """An agent: its name and its Ed25519 public key in base58."""

    display: str
    pubkey: str


AgentName = TypeAliasType(
    "AgentName",
    Annotated[
        Annotated[str, Field(pattern=r"^[A-Za-z0-9_.\-]+(@[A-Za-z0-9_.\-]+)?$")] | AgentId,
        Field(description="An agent: its id, its name `local@host`, or its local part where that is unambiguous."),
    ],
)
AgentField = Annotated[AgentRef, PlainValidator(_agent_ref), shown_as(AgentName.__name__)]


def _blocks(value: object) -> list[Any]:
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    if not isinstance(value, list):
        raise ValueError("must be text, or a JSON array of content blocks")
    return value


# Text is one text block.
Blocks = Annotated[list[Any], PlainValidator(_blocks), shown_as(Content.__name__)]


class Lax(BaseModel):
    """A body of another project's protocol. Unknown keys are ignored, as that project's servers ignore them."""

    model_config = ConfigDict(extra="ignore")


class Exact(BaseModel):
    """A body or query of the hub's own. An unknown key is refused, since it is a mistake of the client."""

    model_config = ConfigDict(extra="forbid")


def moment(milliseconds: int | None) -> datetime | None:
    """Return the moment of Unix epoch milliseconds, in UTC; None of None."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)

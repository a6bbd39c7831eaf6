"""Agents, actors of the journal and content blocks, which several dialects render alike.

The shapes of answers are TypedDicts, which pydantic reads for the OpenAPI document alone. The command line renders the
same answers and starts without pydantic.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from typing_extensions import TypedDict

from mailbox.access.callers import Caller
from mailbox.models import Agent, AuditEvent
from mailbox.words.envelopes import DISPLAY

# A key of a schema that stands for the component of this name. pydantic has no component for what it does not read.
COMPONENT = "x-component"
SOME_OPERATOR = "operator"  # stands for a person or the command line where an agent reads the journal


@dataclass(frozen=True, slots=True)
class ShownAs:
    """The annotation that describes a type as the component ``name``. pydantic calls its method."""

    name: str

    def __get_pydantic_json_schema__(self, core_schema: object, handler: object) -> dict[str, str]:
        return {COMPONENT: self.name}


BlockList = list[Annotated[dict[str, Any], ShownAs("ContentBlock")]]


class AgentId(TypedDict):
    """An agent: its name and its Ed25519 public key in base58."""

    display: str
    pubkey: str


def agent_id(agent: Agent) -> AgentId:
    return {"display": agent.display, "pubkey": agent.pubkey}


def actor(row: AuditEvent, caller: Caller) -> str:
    """Return the actor of a journal row. An agent sees other agents by name, also those that came by a public route.

    It sees people and the command line as `SOME_OPERATOR`.
    """
    if caller.agent is None:
        return row.actor
    display = row.actor.partition(" (route ")[0]
    return display if DISPLAY.fullmatch(display) else SOME_OPERATOR

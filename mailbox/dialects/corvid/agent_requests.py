"""The bodies and queries of the routes about agents, in corvid-agent's spelling: pure, no queries, no clock."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, Strict

from mailbox.dialects.base.fields import Exact, Lax, Text
from mailbox.words.envelopes import DISPLAY, DISPLAY_MAX_LENGTH, LOCAL_PART
from mailbox.words.errors import InvalidRequestError

Switch = Annotated[bool, Strict()]
LONGEST_MADE = DISPLAY_MAX_LENGTH - len("@local")
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+", re.ASCII)


class AgentProfileBody(Lax):
    """The contents of an agent's card. Fields that are left out stay as they are; null empties a field.

    ``mcpToolPermissions`` null means the default tools. A switch that is null is on.
    """

    description: Text | None = None
    persona_archetype: Text | None = Field(None, alias="personaArchetype")
    skill_bundles: list[Text] | None = Field(None, alias="skillBundles")
    default_project: Text | None = Field(None, alias="defaultProjectId")
    tool_permissions: list[Text] | None = Field(None, alias="mcpToolPermissions")
    wallet_address: Text | None = Field(None, alias="walletAddress")
    remote_url: Text | None = Field(None, alias="remoteUrl")
    input_modes: list[Text] | None = Field(None, alias="inputModes")
    output_modes: list[Text] | None = Field(None, alias="outputModes")
    card_version: Text | None = Field(None, alias="cardVersion")
    documentation_url: Text | None = Field(None, alias="documentationUrl")
    icon_url: Text | None = Field(None, alias="iconUrl")
    streaming: Switch | None = None
    push_notifications: Switch | None = Field(None, alias="pushNotifications")
    extended_card: Switch | None = Field(None, alias="extendedCard")
    card_for_0_3: Switch | None = Field(None, alias="cardFor03")
    extensions: list[dict[str, Any]] | None = None
    extended_tools: list[Text] | None = Field(None, alias="extendedTools")

    def profile(self) -> dict[str, Any]:
        """Return the given fields of the profile, with their values."""
        given = {name: getattr(self, name) for name in PROFILE_FIELDS if name in self.model_fields_set}
        return {name: _EMPTY.get(name, "") if value is None else value for name, value in given.items()}


class UpdateAgentBody(AgentProfileBody):
    """The fields of the agent to change. Fields that are left out stay as they are; null empties a field."""

    name: Text | None = None


class RegisterAgentBody(AgentProfileBody):
    """The agent to register. ``name`` is shown to people; ``display`` is the agent's address.

    Without a ``display`` the address is made from the name: spaces and symbols become hyphens, accents are dropped.
    """

    name: Text = Field(min_length=1, max_length=200)
    display: Text | None = None
    public_key: Text | None = Field(None, alias="publicKey")

    @property
    def address(self) -> str:
        """The display of the new agent. Raises `InvalidRequestError` if no display can be made of the name."""
        if self.display is not None or DISPLAY.fullmatch(self.name):
            return self.name if self.display is None else self.display
        letters = unicodedata.normalize("NFKD", self.name)
        plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
        made = _NOT_IN_A_NAME.sub("-", plain).strip("-")
        is_unlike = any(letter.isalnum() and not letter.isascii() for letter in plain)
        if is_unlike or not 1 <= len(made) <= LONGEST_MADE:
            raise InvalidRequestError({"display": "is required: no address can be made of this name"})
        return made

    def profile(self) -> dict[str, Any]:
        is_address = DISPLAY.fullmatch(self.name) or LOCAL_PART.fullmatch(self.name)
        return {**super().profile(), "name": "" if is_address and self.display is None else self.name}


class InvokeAgentBody(Lax):
    """The task's text. Without ``toAgentId`` the caller sends it to the agent in the path.

    With ``toAgentId`` the agent in the path, which must be the caller, sends it to that agent.
    """

    content: Text
    to_agent: Text | None = Field(None, alias="toAgentId")


class AgentsQuery(Exact):
    limit: int = Field(1000, ge=1, le=1000)
    cursor: str | None = None


PROFILE_FIELDS = ("name", *AgentProfileBody.model_fields)
_LISTS = ("skill_bundles", "input_modes", "output_modes", "extensions", "extended_tools")
_SWITCHES = ("streaming", "push_notifications", "extended_card", "card_for_0_3")
_EMPTY: Mapping[str, Any] = {
    "tool_permissions": None,
    **{name: list[Any]() for name in _LISTS},
    **dict.fromkeys(_SWITCHES, True),
}

# The spelling on this wire of each field of the verbs.
SPELLING: Mapping[str, str] = {
    **{name: field.alias for name, field in RegisterAgentBody.model_fields.items() if field.alias is not None},
    "pubkey": "publicKey",
    "intent_text": "content",
}


def spelled(path: str, problem: str) -> str:
    """Return the problem of a field, with the field's name on this wire."""
    name = SPELLING.get(path, path)
    return f"{name}: {problem.replace(path, name)}"

"""What the hub says of itself to a peer that asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from agentcards import card_document as cards
from agentcards import default_recipient
from agentcards.profiles import every_profile
from agentcards.registry import AgentCardRegistry

VERSION = "1.0"  # of a skill: tools have none of their own


def capabilities(*, to_anyone: bool) -> list[dict[str, Any]]:
    """Return the list from the settings, and if they say so one entry per skill of each agent and of each running job.

    What agents can do is told ``to_anyone`` only where their cards are public, too.
    """
    listed: list[dict[str, Any]] = list(settings.A2A_CAPABILITIES)
    if not settings.A2A_CAPABILITIES_DYNAMIC or (to_anyone and not settings.A2A_PUBLIC_AGENT_CARDS):
        return listed
    return [*listed, *_skills(), *_skills_at_work()]


def document(*, to_anyone: bool) -> dict[str, Any]:
    """Return the discovery document. Its id is the default agent's, so that tasks addressed to it reach that agent."""
    default = default_recipient.recipient_for()
    return {
        "id": default.display if default else urlsplit(settings.PUBLIC_URL).hostname,
        "name": settings.A2A_HUB_NAME,
        "publicKey": default.pubkey if default else "",
        "capabilities": capabilities(to_anyone=to_anyone),
    }


def _skills() -> Iterator[dict[str, Any]]:
    for profile in every_profile():
        for tool in cards.tools_of(profile):
            told = tool.description or f"Tool: {tool.name}"
            yield {"name": tool.name, "description": told, "version": VERSION, "agent": profile.agent.display}


def _skills_at_work() -> Iterator[dict[str, Any]]:
    for card in AgentCardRegistry().query():
        for skill in card.skills:
            yield {"name": skill["id"], "description": skill["description"], "version": VERSION, "agent": card.name}

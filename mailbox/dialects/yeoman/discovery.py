"""The hub's capabilities, and its description of itself for peers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from django.conf import settings

from agentcards import card_document as cards
from agentcards import profiles
from agentcards.profiles import every_profile
from agentcards.registry import CardRegistry

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.yeoman.answers import Discovery, PeerCapability

MOST_CARDS = 1000  # of running jobs in one answer, which a page's budget of bytes also limits
VERSION = "1.0"  # of a skill: tools have none of their own


def capabilities(*, to_anyone: bool) -> list[PeerCapability]:
    """Return `A2A_CAPABILITIES`; with `A2A_CAPABILITIES_DYNAMIC` also each skill of each agent and running job.

    ``to_anyone``: the answer is public. It has skills of agents only if the agents' cards are public too.
    """
    listed = [*cast("list[PeerCapability]", settings.A2A_CAPABILITIES)]
    if not settings.A2A_CAPABILITIES_DYNAMIC or (to_anyone and not settings.A2A_PUBLIC_AGENT_CARDS):
        return listed
    return [*listed, *_skills(), *_skills_at_work()]


def document(*, to_anyone: bool) -> Discovery:
    """Return the discovery document. A task that is addressed to its id reaches the default agent."""
    default = profiles.recipient_for()
    return {
        "id": default.display if default else urlsplit(settings.PUBLIC_URL).hostname or "",
        "name": settings.A2A_HUB_NAME,
        "publicKey": default.pubkey if default else "",
        "capabilities": capabilities(to_anyone=to_anyone),
    }


def _skills() -> Iterator[PeerCapability]:
    for profile in every_profile():
        for tool in cards.tools_of(profile):
            description = tool.description or f"Tool: {tool.name}"
            yield {"name": tool.name, "description": description, "version": VERSION, "agent": profile.agent.display}


def _skills_at_work() -> Iterator[PeerCapability]:
    for card in CardRegistry().look(limit=MOST_CARDS).items:
        for skill in card.skills:
            yield {"name": skill["id"], "description": skill["description"], "version": VERSION, "agent": card.name}

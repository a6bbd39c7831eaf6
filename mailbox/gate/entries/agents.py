"""Rows about agents, their profiles and cards, and the tools that the hub knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypedDict

from mailbox.words.kinds import Entry, Kind


class Registered(TypedDict):
    display: Annotated[str, "display of the agent"]
    pubkey: Annotated[str, "its public key"]


def agent_registered(display: str, pubkey: str) -> Entry[Registered]:
    """Record that an agent was registered."""
    return Entry(Kind.AGENT_REGISTERED, Registered(display=display, pubkey=pubkey))


class Paused(TypedDict):
    display: Annotated[str, "display of the agent"]
    reason: Annotated[str, "why it was paused"]


def agent_paused(display: str, reason: str) -> Entry[Paused]:
    """Record that an agent was paused, or the reason of its pause was changed."""
    return Entry(Kind.AGENT_PAUSED, Paused(display=display, reason=reason))


class Resumed(TypedDict):
    display: Annotated[str, "display of the agent"]
    reason: Annotated[str, "why it was resumed; empty without a reason"]
    was_paused_for: Annotated[str, "why it had been paused"]


def agent_resumed(display: str, reason: str, was_paused_for: str) -> Entry[Resumed]:
    """Record that a paused agent was resumed."""
    return Entry(Kind.AGENT_RESUMED, Resumed(display=display, reason=reason, was_paused_for=was_paused_for))


class Changed(TypedDict):
    display: Annotated[str, "display of the agent"]
    changed: Annotated[dict[str, Any], "new values by field; a remote URL is not shown"]


def agent_profile_changed(display: str, changed: Mapping[str, Any]) -> Entry[Changed]:
    """Record that an agent's profile was changed."""
    return Entry(Kind.AGENT_PROFILE_CHANGED, Changed(display=display, changed=dict(changed)))


class CardRegistered(TypedDict):
    job_id: Annotated[str, "id of the job"]
    name: Annotated[str, "name of the agent that the job runs"]
    skill_count: Annotated[int, "number of skills on the card"]
    removed_job_ids: Annotated[list[str], "jobs whose cards of the same name were removed"]


def agent_card_registered(
    job_id: str, name: str, *, skill_count: int, removed_job_ids: Sequence[str]
) -> Entry[CardRegistered]:
    """Record that the card of a running job was registered or replaced."""
    data = CardRegistered(job_id=job_id, name=name, skill_count=skill_count, removed_job_ids=list(removed_job_ids))
    return Entry(Kind.AGENT_CARD_REGISTERED, data)


class CardDeregistered(TypedDict):
    job_id: Annotated[str, "id of the job"]
    name: Annotated[str, "name of the agent that the job ran"]


def agent_card_deregistered(job_id: str, name: str) -> Entry[CardDeregistered]:
    """Record that the card of a job was removed."""
    return Entry(Kind.AGENT_CARD_DEREGISTERED, CardDeregistered(job_id=job_id, name=name))


class CardsCleared(TypedDict):
    removed: Annotated[int, "number of cards"]


def agent_cards_cleared(removed: int) -> Entry[CardsCleared]:
    """Record that all cards were removed."""
    return Entry(Kind.AGENT_CARDS_CLEARED, CardsCleared(removed=removed))


class Imported(TypedDict):
    added: Annotated[list[str], "names of new tools"]
    changed: Annotated[list[str], "names of tools that were changed"]
    default: Annotated[bool, "whether the import made them default tools"]


def tools_imported(added: Sequence[str], changed: Sequence[str], *, is_default: bool) -> Entry[Imported]:
    """Record that tools were imported from an MCP listing."""
    return Entry(Kind.TOOLS_IMPORTED, Imported(added=list(added), changed=list(changed), default=is_default))


class ToolChanged(TypedDict):
    name: Annotated[str, "name of the tool"]
    changed: Annotated[dict[str, Any], "new values by field"]


def tool_changed(name: str, changed: Mapping[str, Any]) -> Entry[ToolChanged]:
    """Record that an admin added or changed a tool."""
    return Entry(Kind.TOOL_CHANGED, ToolChanged(name=name, changed=dict(changed)))


class ToolRemoved(TypedDict):
    name: Annotated[str, "name of the tool"]


def tool_removed(name: str) -> Entry[ToolRemoved]:
    """Record that an admin removed a tool."""
    return Entry(Kind.TOOL_REMOVED, ToolRemoved(name=name))

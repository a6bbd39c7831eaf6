"""Chooses the agent for a task that names no recipient. Source: corvid-agent, invariant 3."""

from __future__ import annotations

from collections.abc import Sequence

from agentcards.models import AgentProfile, Tool
from agentcards.profiles import every_profile
from mailbox.models import Agent


def recipient_for(skill: str | None = None, *, skill_first: bool = False) -> Agent | None:
    """Return the first agent with a default project, else the first with ``skill``; None when neither exists.

    With ``skill_first`` the agent with ``skill`` comes first. An agent has the skills that its card lists. Of several
    agents with the skill, the first with a default project or a list of permitted tools is chosen, else the first.
    An agent without a profile is never chosen.
    """
    profiles = every_profile()
    in_project = next((profile for profile in profiles if profile.default_project), None)
    if skill is None or (in_project and not skill_first):
        chosen = in_project
    else:
        chosen = _first_with(skill, profiles) or in_project
    return chosen.agent if chosen else None


def _first_with(skill: str, profiles: Sequence[AgentProfile]) -> AgentProfile | None:
    tool = Tool.objects.filter(name=skill).first()
    having = [profile for profile in profiles if tool and profile.has(tool)]
    meant = (profile for profile in having if profile.default_project or profile.tool_permissions is not None)
    return next(meant, None) or next(iter(having), None)

"""Which hosted agent takes a task that names none. Source: corvid-agent, invariant 3."""

from __future__ import annotations

from agentcards.models import Tool
from agentcards.profiles import every_profile
from mailbox.models import Agent


def recipient_for(skill: str | None = None) -> Agent | None:
    """Return the first agent that has ``skill``, else the first with a default project; None when there is neither.

    An agent has the skills its card lists. One that neither lists its own nor has a default project comes after the
    others that have it; one without a profile is never chosen.
    """
    profiles = every_profile()
    tool = None if skill is None else Tool.objects.filter(name=skill).first()
    if tool is not None:
        having = [profile for profile in profiles if profile.has(tool)]
        meant = (profile for profile in having if profile.default_project or profile.tool_permissions is not None)
        if chosen := next(meant, None) or next(iter(having), None):
            return chosen.agent
    return next((profile.agent for profile in profiles if profile.default_project), None)

"""Which hosted agent takes a task that names none. Source: corvid-agent, invariant 3."""

from __future__ import annotations

from agentcards.models import AgentProfile, Tool
from mailbox.models import Agent


def recipient_for(skill: str | None = None) -> Agent | None:
    """Return the first agent that has ``skill``, else the first with a default project; None when there is neither.

    An agent has the tools it is permitted; one without permissions of its own has the default tools, but
    is chosen for them only when it also has a default project.
    """
    profiles = list(AgentProfile.objects.select_related("agent").order_by("agent_id"))
    if skill is not None:
        shared = Tool.objects.default().filter(name=skill).exists()
        for profile in profiles:
            own = profile.tool_permissions
            if skill in own if own is not None else shared and profile.default_project:
                return profile.agent
    return next((profile.agent for profile in profiles if profile.default_project), None)

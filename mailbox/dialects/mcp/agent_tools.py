"""The tools about agents: who the caller is, and which agents take tasks."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from agentcards import card_document, profiles, tools
from mailbox.dialects.mcp import requests
from mailbox.dialects.mcp.waiting import McpCall

Json = dict[str, Any]


def whoami(call: McpCall, wanted: requests.NoArguments) -> Json:
    caller = call.caller
    agent = caller.agent.display if caller.agent else None
    person = None if agent else caller.name.removeprefix("user:")
    return {"agent": agent, "person": person, "role": caller.role, "hub": settings.A2A_HUB_NAME}


def list_agents(call: McpCall, wanted: requests.ListAgents) -> Json:
    registered = tools.registered()
    page = profiles.listing(limit=wanted.limit, cursor=wanted.cursor)
    agents = [
        {
            "name": profile.agent.display,
            "description": card_document.describe(profile),
            "skills": [
                {"name": tool.name, "description": tool.description, "tags": list(tool.tags or ())}
                for tool in registered
                if profile.has(tool)
            ],
            "is_paused": profile.agent.paused_at is not None,
        }
        for profile in page.items
    ]
    return {"agents": agents, "next_cursor": page.next_cursor}

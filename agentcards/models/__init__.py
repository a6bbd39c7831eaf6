"""Rows that describe agents: profiles, tools, cards of running jobs, and calls to remote agents."""

from __future__ import annotations

from agentcards.models.card import AgentCard
from agentcards.models.conversation import RemoteConversation
from agentcards.models.profile import AgentProfile
from agentcards.models.remote import RemoteCall, RemoteCard, RemoteOutage
from agentcards.models.tool import Tool

__all__ = ["AgentCard", "AgentProfile", "RemoteCall", "RemoteCard", "RemoteConversation", "RemoteOutage", "Tool"]

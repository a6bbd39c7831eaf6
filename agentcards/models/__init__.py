"""Rows that describe agents: profiles, tools, cards of running jobs, and calls to remote agents."""

from agentcards.models.profile import AgentCard, AgentProfile, Tool
from agentcards.models.remote import RemoteCall, RemoteCard, RemoteConversation, RemoteOutage

__all__ = ["AgentCard", "AgentProfile", "RemoteCall", "RemoteCard", "RemoteConversation", "RemoteOutage", "Tool"]

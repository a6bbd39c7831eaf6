"""Agents with their profiles as corvid-agent spells them: pure, no queries, no clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentcards.models import AgentProfile
from mailbox.access.agents.registration import Registration
from mailbox.dialects.corvid.wire import iso

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.corvid.agent_answers import CorvidAgent, NewAgent


def agent(profile: AgentProfile, *, with_remote_url: bool) -> CorvidAgent:
    """Render an agent. A remote URL may hold a secret, so only callers who may change it see it."""
    row = profile.agent
    return {
        "id": row.display,
        "name": profile.shown_name,
        "agentId": {"display": row.display, "pubkey": row.pubkey},
        "description": profile.description,
        "personaArchetype": profile.persona_archetype or None,
        "skillBundles": profile.skill_bundles,
        "defaultProjectId": profile.default_project or None,
        "mcpToolPermissions": profile.tool_permissions,
        "walletAddress": profile.wallet_address or None,
        "algochatEnabled": bool(profile.wallet_address),
        "remote": profile.is_remote,
        "remoteUrl": (profile.called_url or None) if with_remote_url else None,
        "inputModes": profile.input_modes,
        "outputModes": profile.output_modes,
        "cardVersion": profile.card_version or None,
        "documentationUrl": profile.documentation_url or None,
        "iconUrl": profile.icon_url or None,
        "streaming": profile.streaming,
        "pushNotifications": profile.push_notifications,
        "extendedCard": profile.extended_card,
        "cardFor03": profile.card_for_0_3,
        "extensions": profile.extensions,
        "extendedTools": profile.extended_tools,
        "paused": row.paused_at is not None,
        "pausedReason": row.paused_reason or None,
        "createdAt": iso(row.created_at),
    }


def registered(profile: AgentProfile, made: Registration) -> NewAgent:
    """Render a new agent with its secrets. No later answer shows them."""
    return {**agent(profile, with_remote_url=True), "apiKey": made.api_key, "privateKey": made.private_key}

"""Agents with their profiles as corvid-agent spells them: pure, no queries, no clock."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from typing_extensions import TypedDict

from agentcards.models import AgentProfile
from mailbox.access.agents.registration import Registration
from mailbox.dialects.base.wire import AgentId
from mailbox.dialects.corvid.wire import iso


class CorvidAgent(TypedDict):
    """An agent. ``id`` is its address. ``remoteUrl`` is null for callers who may not change it.

    The fields from ``inputModes`` to ``extendedTools`` are of its card in the official A2A protocol.
    """

    id: str
    name: str
    agentId: AgentId
    description: str
    personaArchetype: str | None
    skillBundles: list[str]
    defaultProjectId: str | None
    mcpToolPermissions: list[str] | None
    walletAddress: str | None
    algochatEnabled: bool
    remote: bool
    remoteUrl: str | None
    inputModes: list[str]
    outputModes: list[str]
    cardVersion: str | None
    documentationUrl: str | None
    iconUrl: str | None
    streaming: bool
    pushNotifications: bool
    extendedCard: bool
    cardFor03: bool
    extensions: list[dict[str, Any]]
    extendedTools: list[str]
    paused: bool
    pausedReason: str | None
    createdAt: str


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


class NewAgent(CorvidAgent):
    """The new agent with its secrets, which are shown only here.

    ``privateKey`` is null if the request had a ``publicKey``.
    """

    apiKey: str
    privateKey: str | None


def registered(profile: AgentProfile, made: Registration) -> NewAgent:
    """Render a new agent with its secrets. No later answer shows them."""
    return {**agent(profile, with_remote_url=True), "apiKey": made.api_key, "privateKey": made.private_key}


class Invoked(TypedDict):
    """``messageId`` is the id of the task. Poll it at ``/a2a/tasks/<id>``."""

    messageId: UUID
    txid: None
    sessionId: None

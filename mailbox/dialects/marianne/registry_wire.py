"""Cards of running jobs on their way out: pure, no queries, no clock. Source: Marianne, AgentCard."""

from __future__ import annotations

from typing import Any

from agentcards.models import AgentCard
from mailbox.words.times import epoch_ms


def card(row: AgentCard) -> dict[str, Any]:
    """Render an AgentCard; its skills in their order, their keys in the seed's."""
    skills = [{"id": skill["id"], "description": skill["description"]} for skill in row.skills]
    return {"name": row.name, "description": row.description, "skills": skills}


def registered(row: AgentCard) -> dict[str, Any]:
    """Render a card with the job it belongs to and the agent whose job that is."""
    owner = row.registered_by
    return {
        "job_id": row.job_id,
        "card": card(row),
        "registered_by": {"display": owner.display, "pubkey": owner.pubkey} if owner else None,
        "registered_at_ms": epoch_ms(row.registered_at),
    }

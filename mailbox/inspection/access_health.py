"""Health checks of the credentials that open the hub."""

from __future__ import annotations

from datetime import datetime

from mailbox.gate import own_agents
from mailbox.inspection.health_check import HealthCheck, HealthStatus


def hub_agents(now: datetime) -> HealthCheck:
    """Report a program that can act as an agent of the hub itself."""
    found = own_agents.conflicts(now)
    if not found:
        return HealthCheck(name="Hub's own agents", word=HealthStatus.OK, saw="no other program can act as them")
    return HealthCheck(name="Hub's own agents", word=HealthStatus.FAILING, saw="; ".join(found))

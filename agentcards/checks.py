"""System checks of what the hub may call."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from agentcards.destinations import AllowList


@register("a2a")
def outbound_settings(**_: Any) -> list[CheckMessage]:
    """Refuse an allow-list that cannot be read, and a hub that gives remote agents nothing."""
    found: list[CheckMessage] = []
    try:
        AllowList.from_settings()
    except ValueError as error:
        hint = "List host names, addresses and networks, such as agents.internal,127.0.0.0/8."
        found.append(Error(f"A2A_OUTBOUND_ALLOW: {error}", hint=hint, id="agentcards.E001"))
    if settings.A2A_REMOTE_CONCURRENCY < 1:
        hint = "Set it to 1 or more; pause an agent to give it nothing."
        found.append(Error("A2A_REMOTE_CONCURRENCY is less than 1.", hint=hint, id="agentcards.E002"))
    return found

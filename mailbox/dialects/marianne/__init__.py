"""Marianne's inbox and registry, in process and on local trust: ``from mailbox.dialects.marianne import A2AInbox``.

The names are loaded on first use, because models cannot be imported before Django's apps are ready.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mailbox.dialects.marianne.inbox import A2AInbox
    from mailbox.dialects.marianne.registry import AgentCardRegistry
    from mailbox.dialects.marianne.values import A2ASkill, A2ATask, A2ATaskStatus, AgentCard

__all__ = ["A2AInbox", "A2ASkill", "A2ATask", "A2ATaskStatus", "AgentCard", "AgentCardRegistry"]

_HOMES = {"A2AInbox": "inbox", "AgentCardRegistry": "registry"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'values')}"), name)

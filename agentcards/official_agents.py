"""The agents as the official protocol serves them, kept in this process for a moment.

So a send looks up neither the agent nor its profile. A change is seen after `KEPT_FOR` at the latest.
"""

import threading
import time
from dataclasses import dataclass
from typing import Any

from agentcards import official_card
from agentcards.models import AgentProfile
from mailbox.access.agents import directory, grants
from mailbox.models import Agent

KEPT_FOR = 2.0  # seconds
MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialAgent:
    """An agent with what its card says. A mode is a media type, ``x/*`` or ``*/*``."""

    agent: Agent
    profile: AgentProfile
    is_open: bool  # callers without a key may send to it
    input_modes: tuple[str, ...]
    output_modes: tuple[str, ...]
    extensions: tuple[str, ...]  # their URIs, without the hub's own
    required_extensions: frozenset[str]  # those that each client must name

    def card(self, version: str = "1.0") -> dict[str, Any]:
        """Return the signed card for a client of this ``A2A-Version``, "" without one. One query reads its skills."""
        return official_card.for_clients(self.profile, is_open=self.is_open, version=version)

    def extended_card(self, *, is_for_0_3: bool = False) -> dict[str, Any]:
        """Return the signed card for a caller with a key; ``is_for_0_3`` for a request of 0.3."""
        return official_card.extended(self.profile, is_open=self.is_open, is_for_0_3=is_for_0_3)


def find(name: str) -> OfficialAgent:
    """Return the agent of this display, or local part that fits one agent; raise `UnknownAgentError`.

    The answer is at most `KEPT_FOR` old.
    """
    return _kept.of(name)


def forget() -> None:
    """Forget all agents, as a new process knows none."""
    _kept.clear()


class _Kept:
    """The agents by the name that a caller wrote, at most `MOST_KEPT`. The oldest makes room for a new one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_name: dict[str, tuple[float, OfficialAgent]] = {}

    def of(self, name: str) -> OfficialAgent:
        known = self._by_name.get(name)
        if known is not None and time.monotonic() - known[0] < KEPT_FOR:
            return known[1]
        read_at = time.monotonic()  # before the rows are read, so that no answer is older than it seems
        agent = _read(name)
        with self._lock:
            self._by_name.pop(name, None)
            self._by_name[name] = read_at, agent
            if len(self._by_name) > MOST_KEPT:
                del self._by_name[next(iter(self._by_name))]
        return agent

    def clear(self) -> None:
        with self._lock:
            self._by_name.clear()


_kept = _Kept()


def _read(name: str) -> OfficialAgent:
    agent = directory.only_match(None, name, Agent.objects.select_related("profile").typed(name))
    profile = getattr(agent, "profile", None) or AgentProfile(agent=agent)
    return OfficialAgent(
        agent=agent,
        profile=profile,
        is_open=grants.is_open(agent),
        input_modes=tuple(official_card.input_modes(profile)),
        output_modes=tuple(official_card.output_modes(profile)),
        extensions=tuple(extension["uri"] for extension in profile.extensions),
        required_extensions=frozenset(one["uri"] for one in profile.extensions if one.get("required")),
    )

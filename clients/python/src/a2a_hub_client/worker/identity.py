"""The owner of a worker's key, which must be the agent that the worker works as."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from a2a_hub_client.errors import HubError, RefusedError
from a2a_hub_client.worker.backoff import insist
from a2a_hub_client.worker.client import WorkerClient


def foreign_key(
    hub: WorkerClient, name: str | None, *, stopping: threading.Event, say: Callable[[str], object]
) -> str | None:
    """Ask the hub for the owner of the key until it answers; return an owner that is not ``name``, None otherwise.

    ``name`` None stands for any agent.

    The answer is also None for a hub of an earlier version and for a refused key. Then the next request shows the
    problem, or the first lease does. It is None, too, once ``stopping`` is set.
    """
    found: dict[str, Any] = {}

    def ask() -> None:
        try:
            found.update(hub.me())
        except RefusedError:
            return

    troubles: list[HubError] = []

    def trouble(error: HubError) -> None:
        troubles.append(error)
        say(f"Cannot lease a task now, trying again: {error}")

    if not insist(ask, abandon=stopping, on_trouble=trouble):
        return None
    if troubles:
        say("The hub answers again.")
    if not found:
        return None
    agent = found["agent"]
    if agent is None:
        return f"the person {found['person']}"
    return None if name is None or is_called(agent, name) else str(agent["display"])


def is_called(agent: Mapping[str, Any], name: str) -> bool:
    """Whether ``name`` is the agent's display, local part or public key."""
    display = agent["display"]
    return name in (display, display.partition("@")[0], agent["pubkey"])

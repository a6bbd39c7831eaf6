"""The words that shells complete from the hub."""

from __future__ import annotations

from a2a_hub_client.cli import access
from a2a_hub_client.cli.access import Given
from a2a_hub_client.cli.contexts import ConfigError
from a2a_hub_client.errors import HubError

PATIENCE = 1.0  # seconds; a shell waits for it
MOST = 1000


def agents(incomplete: str) -> list[str]:
    """Return the names of agents that begin so. Without an answer of the hub there is none."""
    from a2a_hub_client import Retry
    from a2a_hub_client._calls.call import get

    try:
        hub = access.connected(access.chosen(Given()), retry=Retry(patience=0), timeout=PATIENCE)
    except ConfigError:
        return []
    try:
        page = hub.perform(get("/a2a/agents", _names, limit=MOST))
    except HubError:
        return []
    finally:
        hub.close()
    return [name for name in page if name.startswith(incomplete)]


def _names(body: bytes) -> list[str]:
    import msgspec

    return [agent["display"] for agent in msgspec.json.decode(body)["agents"]]

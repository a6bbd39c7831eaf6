"""A served hub with data, and the official SDK as clients of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from a2a_hub_client import Hub as HubClient
from a2a_hub_client import NewTask
from tests.load.cast import operator_key
from tests.support.databases import Databases
from tests.support.hub import PATIENCE, Hub, served

OLDER = 30  # tasks that the hub has before the clients come


@dataclass(frozen=True, slots=True)
class McpStage:
    """A served hub, and the keys of its agents."""

    hub: Hub
    keys: dict[str, str]

    def own_client(self, who: str) -> HubClient:
        """Return the hub's own client."""
        return HubClient(self.hub.url, self.keys[who])

    @asynccontextmanager
    async def connected(self, who: str, mode: str) -> AsyncIterator[Client]:
        """Connect the official client. ``mode`` is how it agrees on a version of the protocol."""
        headers = {"Authorization": f"Bearer {self.keys[who]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
            Client(streamable_http_client(f"{self.hub.url}/mcp", http_client=http), mode=mode) as client,
        ):
            yield client


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, migrated_database: Databases) -> Iterator[McpStage]:
    var: Path = tmp_path_factory.mktemp("mcp")
    with (
        migrated_database() as url,
        served(var, "--only", "web", database_url=url, A2A_KEEPALIVE_MS="100") as hub,
    ):
        made = McpStage(hub, {"operator": operator_key(hub)})
        with made.own_client("operator") as operator:
            made.keys.update(
                {name: operator.add_agent(name).api_key for name in ("alice", "bob", "mallory", "archive")}
            )
            operator.grant("alice", "a2a.send.*")
            operator.grant("bob", "a2a.respond.*")
        with made.own_client("alice") as alice:
            alice.send_many([NewTask(to="archive", text=f"older {number}") for number in range(OLDER)])
        yield made


@pytest.fixture(params=["legacy", "auto", "2026-07-28"])
def mode(request: pytest.FixtureRequest) -> str:
    named: str = request.param
    return named

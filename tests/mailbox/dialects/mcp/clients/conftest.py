"""A served hub with data, and the official SDK as clients of it: over HTTP, and through the bridge `a2a mcp`."""

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TextIO

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from a2a_hub_client import Hub as HubClient
from a2a_hub_client import NewTask
from tests.load.cast import operator_key
from tests.support.databases import Databases
from tests.support.hub import PATIENCE, Hub, served
from tests.support.own_client import client_of
from tests.support.terminals import MAIN

OLDER = 30  # tasks that the hub has before the clients come


class Way(NamedTuple):
    """How a client connects, and how it agrees on a version of the protocol."""

    transport: str
    mode: str


@dataclass(frozen=True, slots=True)
class McpStage:
    """A served hub, the keys of its agents, and the log of bridges to it."""

    hub: Hub
    keys: dict[str, str]
    log: TextIO

    def own_client(self, who: str) -> HubClient:
        """Return the hub's own client."""
        return client_of(self.hub.url, self.keys[who])

    @asynccontextmanager
    async def connected(self, who: str, way: Way) -> AsyncIterator[Client]:
        """Connect the official client."""
        if way.transport == "stdio":
            async with Client(stdio_client(self.bridge(who), errlog=self.log), mode=way.mode) as client:
                yield client
            return
        headers = {"Authorization": f"Bearer {self.keys[who]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
            Client(streamable_http_client(f"{self.hub.url}/mcp", http_client=http), mode=way.mode) as client,
        ):
            yield client

    def bridge(self, who: str) -> StdioServerParameters:
        """Return the command of the bridge."""
        own = {"A2A_URL": self.hub.url, "A2A_API_KEY": self.keys[who], "A2A_CONFIG": f"{os.devnull}.none"}
        return StdioServerParameters(command=sys.executable, args=["-c", MAIN, "mcp"], env={**os.environ, **own})


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, migrated_database: Databases) -> Iterator[McpStage]:
    var: Path = tmp_path_factory.mktemp("mcp")
    with (
        migrated_database() as url,
        served(var, migrates=True, database_url=url, A2A_KEEPALIVE_MS="100") as hub,
        (var / "bridges.log").open("w") as log,
    ):
        made = McpStage(hub, {"operator": operator_key(hub)}, log)
        with made.own_client("operator") as operator:
            made.keys.update(
                {name: operator.add_agent(name).api_key for name in ("alice", "bob", "mallory", "archive")}
            )
            operator.grant("alice", "a2a.send.*")
            operator.grant("bob", "a2a.respond.*")
        with made.own_client("alice") as alice:
            alice.send_many([NewTask(to="archive", text=f"older {number}") for number in range(OLDER)])
        yield made


WAYS = [Way(transport, mode) for transport in ("http", "stdio") for mode in ("legacy", "auto", "2026-07-28")]


@pytest.fixture(params=WAYS, ids="-".join)
def way(request: pytest.FixtureRequest) -> Way:
    found: Way = request.param
    return found

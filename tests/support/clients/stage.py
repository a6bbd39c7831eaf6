"""A served hub with agents, a player of their parts, and the official clients that talk with them."""

import contextlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from django.db import DEFAULT_DB_ALIAS, connection, connections
from pytest_django import DjangoDbBlocker

from agentcards import profiles
from mailbox.access.agents import grants as grants_module
from mailbox.access.callers import Caller
from tests.support import factories
from tests.support.clients.player import Player, playing
from tests.support.clients.talk import Client, Talk, talking
from tests.support.hub import PATIENCE, Hub, served

PERFORMER, DOORMAN, PURIST = "bob", "dora", "petra"  # dora is open to callers without a key, petra takes text alone
SENDERS = ("alice", "carol")


@dataclass(slots=True, kw_only=True)
class Stage:
    """The hub and its cast. `keys` are by name. Each official client is started once and kept."""

    hub: Hub
    keys: dict[str, str]
    players: dict[str, Player]
    kept: ExitStack
    talks: dict[tuple[Client, str, str], Talk] = field(default_factory=dict)

    def base_url(self, agent: str = PERFORMER) -> str:
        return f"{self.hub.url}/agents/{agent}/"

    def talk(self, client: Client, *, by: str = "alice", to: str = PERFORMER) -> Talk:
        """Return the client with the key of ``by``, or without one if it is empty."""
        wanted = (client, by, to)
        if wanted not in self.talks:
            begun = talking(client, self.base_url(to), self.keys.get(by, ""))
            self.talks[wanted] = self.kept.enter_context(begun)
        return self.talks[wanted]

    @property
    def player(self) -> Player:
        return self.players[PERFORMER]

    def http(self, *, by: str = "alice", to: str = PERFORMER, **headers: str) -> httpx.Client:
        """Return a bare HTTP client of the agent's URL, for requests that no official client sends."""
        given = {"Authorization": f"Bearer {self.keys[by]}"} if by else {}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.Client(base_url=self.base_url(to), headers=given, timeout=PATIENCE, trust_env=False)


@contextlib.contextmanager
def staged(var: Path, database_url: str, blocker: DjangoDbBlocker) -> Iterator[Stage]:
    """Serve a hub with its cast until the block ends."""
    with _database_at(database_url, blocker):
        keys = _cast()
    with ExitStack() as kept:
        hub = kept.enter_context(
            served(
                var,
                services="web,carrier",
                database_url=database_url,
                A2A_OUTBOUND_ALLOW="127.0.0.1",
                A2A_ANONYMOUS_RATE_LIMIT_PER_MIN="100000",
            )
        )
        players = {name: kept.enter_context(playing(hub.url, keys[name])) for name in (PERFORMER, DOORMAN)}
        yield Stage(hub=hub, keys=keys, players=players, kept=kept)


@contextlib.contextmanager
def _database_at(url: str, blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let this thread use that database instead of the tests' until the block ends. Both are of one kind.

    So no process of its own has to make the rows of a hub that has not started.
    """
    tests = connections[DEFAULT_DB_ALIAS]
    path = urlsplit(url).path
    name = path if connection.vendor == "sqlite" else path.removeprefix("/")
    connections[DEFAULT_DB_ALIAS] = own = type(tests)({**tests.settings_dict, "NAME": name}, alias="hub")
    try:
        with blocker.unblock():
            yield
    finally:
        own.close()
        connections[DEFAULT_DB_ALIAS] = tests


def _cast() -> dict[str, str]:
    """Make the agents with their grants; return their keys."""
    grants = {name: ["a2a.send.*"] for name in SENDERS} | {name: ["a2a.respond.*"] for name in (PERFORMER, DOORMAN)}
    cast = {name: factories.agent(name, *grants.get(name, ())) for name in (*SENDERS, PERFORMER, DOORMAN, PURIST)}
    grants_module.open_to_anyone(Caller.command_line(), factories.row_of(cast[DOORMAN]), reason="")
    profiles.update_profile(Caller.command_line(), factories.row_of(cast[PURIST]), {"input_modes": ["text/plain"]})
    return {name: factories.key_of(agent) for name, agent in cast.items()}

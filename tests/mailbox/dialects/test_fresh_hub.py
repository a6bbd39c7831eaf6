"""The cards and capabilities of a hub after its first start claim nothing that it lacks."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.hub import PATIENCE, served

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

CARDS = ("/.well-known/agent-card.json", "/.well-known/agents/first", "/agents/first/.well-known/agent-card.json")
BELOW = ("", "/agents", "/tasks", "/a2a/tasks/send")  # a card also names addresses that only have routes below
ABSENT = {404, 405}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Start a hub for the first time; return a client with the key of its first agent."""
    var = tmp_path_factory.mktemp("fresh") / "var"
    with served(var, migrates=True) as running:
        _, key = re.findall(r"API key +(\S+)", (var / "first-run.txt").read_text())
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=running.url, headers=headers, timeout=PATIENCE) as client:
            yield client


def addresses(value: Any) -> Iterator[str]:
    """Yield each address in a card."""
    if isinstance(value, str):
        yield from [value] if value.startswith("http://") else []
    else:
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from addresses(inner)


def test_no_capability_is_claimed_before_an_agent_has_one(hub: httpx.Client) -> None:
    card = hub.get("/.well-known/agent-card.json").json()
    peer = hub.get("/.well-known/a2a-agent").json()

    assert (card["skills"], {*card["capabilities"].values()}) == ([], {False})
    assert (peer["capabilities"], peer["publicKey"]) == ([], "")
    assert hub.get("/api/v1/a2a/capabilities").json() == {"capabilities": []}
    assert hub.get("/.well-known/agents/first").json()["skills"] == []


@pytest.mark.parametrize("path", CARDS)
def test_every_address_of_a_card_leads_to_a_route(hub: httpx.Client, path: str) -> None:
    named = {*addresses(hub.get(path).json())}
    dead = [one for one in named if all(hub.get(f"{one}{way}").status_code in ABSENT for way in BELOW)]

    assert len(named) > 2
    assert [one for one in dead if hub.post(one).status_code in ABSENT] == []

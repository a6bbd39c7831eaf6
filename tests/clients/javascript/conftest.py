import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from a2a_hub_client import Hub as Client
from tests.load.cast import operator_key
from tests.support.clients.environments import javascript_package
from tests.support.databases import Databases
from tests.support.hub import PATIENCE, Hub, served
from tests.support.own_client import client_of

GRANTS = {"alice": "a2a.send.*", "bob": "a2a.respond.*", "carol": "a2a.send.*", "dora": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """A served hub with agents. ``keys`` holds the API keys, and ``private_keys`` those that sign, by their names."""

    hub: Hub
    keys: Mapping[str, str]
    private_keys: Mapping[str, str]

    def environment(self, name: str = "operator") -> dict[str, str]:
        """Return the variables of a program that acts as the agent, or as the operator."""
        agents = {each: {"key": key, "privateKey": self.private_keys.get(each, "")} for each, key in self.keys.items()}
        own = {"A2A_URL": self.hub.url, "A2A_API_KEY": self.keys[name], "AGENTS": json.dumps(agents)}
        return {**os.environ, **own}

    def client(self, name: str) -> Client:
        """Return a client of the agent, or of the operator."""
        return client_of(self.hub.url, self.keys[name])


@pytest.fixture(scope="session")
def package(javascript_clients: None) -> Path:
    """Return the folder of the built client."""
    return javascript_package()


@pytest.fixture(scope="session")
def cast(package: Path, tmp_path_factory: pytest.TempPathFactory, migrated_database: Databases) -> Iterator[Cast]:
    var = tmp_path_factory.mktemp("hub")
    with migrated_database() as database_url, served(var, migrates=True, database_url=database_url) as hub:
        keys = {"operator": operator_key(hub)}
        private_keys: dict[str, str] = {}
        made = Cast(hub=hub, keys=keys, private_keys=private_keys)
        with made.client("operator") as operator:
            for name, action in GRANTS.items():
                agent = operator.add_agent(f"{name}@local")
                keys[name], private_keys[name] = agent.api_key, agent.private_key or ""
                if action:
                    operator.grant(name, action)
        yield made


def run(command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """Run a program to its end, and return what it prints. Fail with all of that if it fails."""
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.load.cast import operator_key
from tests.support.clients.environments import javascript_package
from tests.support.databases import Databases
from tests.support.hub import PATIENCE, Hub, served

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

    def get(self, name: str, path: str) -> Any:
        """Return the hub's JSON at a path, as the agent or the operator reads it."""
        headers = {"Authorization": f"Bearer {self.keys[name]}"}
        with httpx.Client(base_url=self.hub.url, headers=headers, timeout=PATIENCE, trust_env=False) as client:
            return client.get(path).raise_for_status().json()

    def post(self, name: str, path: str, **body: object) -> Any:
        """Send a request as the agent, or as the operator, and return the JSON of its answer."""
        headers = {"Authorization": f"Bearer {self.keys[name]}"}
        with httpx.Client(base_url=self.hub.url, headers=headers, timeout=PATIENCE, trust_env=False) as client:
            return client.post(path, json=body).raise_for_status().json()


@pytest.fixture(scope="session")
def package() -> tuple[str, Path]:
    """Return node and the folder of the built client."""
    return javascript_package()


@pytest.fixture(scope="session")
def cast(
    package: tuple[str, Path], tmp_path_factory: pytest.TempPathFactory, migrated_database: Databases
) -> Iterator[Cast]:
    var = tmp_path_factory.mktemp("hub")
    with migrated_database() as database_url, served(var, database_url=database_url) as hub:
        keys = {"operator": operator_key(hub)}
        private_keys: dict[str, str] = {}
        made = Cast(hub=hub, keys=keys, private_keys=private_keys)
        for name, action in GRANTS.items():
            agent = made.post("operator", "/a2a/agents", display=f"{name}@local")
            keys[name], private_keys[name] = agent["api_key"], agent["private_key"]
            if action:
                made.post("operator", "/capabilities/grant", subject=name, action=action)
        yield made


def run(command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """Run a program to its end, and return what it prints. Fail with all of that if it fails."""
    ran = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout

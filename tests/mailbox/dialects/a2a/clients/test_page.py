"""The clients of docs/protocols/a2a-v1.md run as they stand, in the environments of their SDKs."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support import pages
from tests.support.clients.environments import PLACE, javascript_driver, python_driver
from tests.support.hub import PATIENCE


@pytest.fixture
def example(stage):
    """Return a function that runs the page's block in a language, with alice's key; it returns what is printed."""

    def run(language: str, command: list[str], cwd: Path) -> list[str]:
        (code,) = re.findall(rf"```{language}\n(.*?)```", pages.page("docs/protocols/a2a-v1.md"), re.DOTALL)
        (cwd / "client.mjs").write_text(code)
        own = {"HUB": stage.hub.url, "A2A_API_KEY": stage.keys["alice"]}
        ran = subprocess.run(
            [*command, "client.mjs"],
            cwd=cwd,
            env=os.environ | own,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.splitlines()

    return run


def test_the_client_in_python_prints_each_event(example, tmp_path):
    python, _ = python_driver("python_1")

    printed = example("python", [python], tmp_path)

    assert [line.split()[0] for line in printed] == ["task", "status_update", "artifact_update", "status_update"]
    assert "done: Paint a house" in printed[2]


def test_the_client_in_javascript_prints_each_event(example, javascript_clients, tmp_path):
    node, _ = javascript_driver("js_1")
    (tmp_path / "node_modules" / "@a2a-js").mkdir(parents=True)
    (tmp_path / "node_modules" / "@a2a-js" / "sdk").symlink_to(PLACE / "javascript" / "node_modules" / "a2a-1")

    printed = example("js", [node], tmp_path)

    assert printed == ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]

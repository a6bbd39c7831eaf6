"""The README, and the tour with the pages that continue it, print what the pages show."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path

import pytest

from tests.support import pages
from tests.support.databases import database_of_its_own
from tests.support.hub import PATIENCE, ROOT, served

pytestmark = pytest.mark.one_database

VARIES = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"  # uuid
    r"|\b[1-9A-HJ-NP-Za-km-z]{43,44}\b"  # public key
    r"|\b\d{13}\b"  # epoch milliseconds
)
WALKS = [
    ["README.md"],
    [
        *("docs/start/tour.md", "docs/guides/in-process.md", "docs/guides/run-a-program.md"),
        *("docs/guides/write-a-worker.md", "docs/protocols/a2a-v1.md"),
    ],
    ["docs/start/first-worker.md", "docs/start/shell.md", "docs/guides/orchestrate-trees.md"],
]
WITH_PROGRAMS = ("README.md", "docs/start/first-worker.md")  # their blocks of Python run, too
END_OF_STEP = "\x1e"

Shell = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """Serve a hub; return the environment that it was started in."""
    var = tmp_path / "hub"
    with (
        database_of_its_own() as database_url,
        served(var, services="all", migrates=True, database_url=database_url) as hub,
    ):
        port = hub.url.rpartition(":")[2]
        yield {"A2A_VAR": str(var), "DATABASE_URL": database_url, "PORT": port, "A2A_CONFIG": str(tmp_path / "none")}


@pytest.fixture
def shell(environment: Mapping[str, str]) -> Shell:
    """Return a function that runs a script beside the hub, in its environment."""

    def run(script: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail"],  # noqa: S607
            cwd=ROOT,
            env={**os.environ, **environment},
            input=script,
            capture_output=True,
            text=True,
            timeout=4 * PATIENCE,
        )

    return run


@pytest.mark.processes
@pytest.mark.parametrize(
    "walk", [pytest.param(WALKS[0], marks=pytest.mark.smoke), *WALKS[1:]], ids=lambda walk: walk[0]
)
def test_the_blocks_of_a_walk_print_what_its_pages_show(walk: list[str], shell: Shell) -> None:
    steps = [step for page in walk for step in pages.steps(pages.page(page), with_programs=page in WITH_PROGRAMS)]

    ran = shell("".join(f"{step.commands}printf '{END_OF_STEP}'\n" for step in steps))

    printed = ran.stdout.split(END_OF_STEP)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(steps) > 3
    for step, shown in zip_longest(steps, printed[:-1]):
        assert VARIES.sub("", shown) == VARIES.sub("", step.printed), step.commands


def test_every_walk_begins_with_the_same_block() -> None:
    first, *others = [pages.steps(pages.page(walk[0]), with_programs=True)[0] for walk in WALKS]

    assert [step for step in others if step != first] == []

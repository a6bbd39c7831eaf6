"""The tour of the README, its second half and the pages that continue it print what the pages show."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest

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
PAGES = ("docs/start/tour.md", "docs/guides/run-a-program.md", "docs/protocols/a2a-v1.md")
END_OF_STEP = "\x1e"

Shell = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """Serve a hub; return the environment that it was started in."""
    var = tmp_path_factory.mktemp("hub")
    with database_of_its_own() as database_url, served(var, database_url=database_url) as hub:
        yield {"A2A_VAR": str(var), "DATABASE_URL": database_url, "PORT": hub.url.rpartition(":")[2]}


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


def test_the_tour_prints_what_the_pages_show(shell: Shell) -> None:
    begun = pages.steps(pages.section(pages.page("README.md"), "The tour"))
    steps = begun + [step for page in PAGES for step in pages.steps(pages.page(page))]

    ran = shell("".join(f"{step.commands}printf '{END_OF_STEP}'\n" for step in steps))

    printed = ran.stdout.split(END_OF_STEP)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (len(begun), len(steps)) == (7, 31)
    for step, shown in zip_longest(steps, printed[:-1]):
        assert VARIES.sub("", shown) == VARIES.sub("", step.printed), step.commands

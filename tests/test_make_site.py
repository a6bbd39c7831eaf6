"""`make site` and `make serve`, in a tree with stand-ins for the tools that they run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.hub import PATIENCE, ROOT

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

LAY_OUT = """#!/bin/sh
rm -rf "$2" && mkdir -p "$2"
"""
BUILD = """#!/bin/sh
cat site/html/index.html >seen
folder=$(dirname "$3")/html
mkdir -p "$folder"
echo new >"$folder/index.html"
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


NO_INDEX = """#!/bin/sh
echo "$1" >>asked
echo "WARNING: no index answers" >&2
exit 1
"""
SENTENCE = "The documentation at /docs/ is not built. To build it: make site"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a tree with the Makefile, the environment of the hub and that of the documentation."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for path in ("requirements/docs.txt", "docs/lay_out.py", "docs/zensical.toml", "clients/page.md"):
        program(tmp_path / path, "")
    program(tmp_path / ".venv-docs/bin/python", LAY_OUT)
    program(tmp_path / ".venv-docs/bin/zensical", BUILD)
    program(tmp_path / ".venv-docs/stamp", "")
    package = "clients/python/src/a2a_hub_client"
    client = ("clients/python/pyproject.toml", "clients/python/write_sync.py", f"{package}/__init__.py")
    pinned = ("requirements/base.txt", "requirements/dev.txt")
    for path in (*pinned, *client, f"{package}/_sync/__init__.py", ".venv/base.stamp"):
        program(tmp_path / path, "")
    program(tmp_path / ".venv/bin/python", "#!/bin/sh\necho runs $2\n")
    return tmp_path


@pytest.fixture
def lonely(tree: Path) -> Path:
    """Take the packages of the documentation away, in a place without an index."""
    shutil.rmtree(tree / ".venv-docs")
    program(tree / "requirements/install.sh", NO_INDEX)
    return tree


def make(tree: Path, *words: str, code: int = 0) -> str:
    """Run make with these words; return what that prints."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    command = [shutil.which("make") or "make", *words]
    ran = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def test_the_site_stays_until_the_new_one_is_whole(tree):
    program(tree / "site/html/index.html", "old\n")
    os.utime(tree / "site/html/index.html", (1, 1))

    make(tree, "site")

    assert (tree / "seen").read_text() == "old\n"
    assert (tree / "site/html/index.html").read_text() == "new\n"
    assert not (tree / "site/old").exists()


def test_a_hub_without_the_packages_of_the_site_starts_and_asks_for_them_once(lonely):
    first, second = make(lonely, "serve"), make(lonely, "serve")

    assert first == second == f"runs serve\n{SENTENCE}\n"
    assert (lonely / "asked").read_text() == "requirements/docs.txt\n"


def test_a_new_list_of_packages_is_asked_for_at_the_next_start(lonely):
    make(lonely, "serve")
    os.utime(lonely / ".venv-docs/tried", (1, 1))
    make(lonely, "serve")

    assert (lonely / "asked").read_text() == "requirements/docs.txt\n" * 2


def test_the_site_asks_for_its_packages_again_and_says_why_it_fails(lonely):
    make(lonely, "serve")

    assert "WARNING: no index answers" in make(lonely, "site", code=2)


def test_a_hub_whose_site_has_its_packages_starts_with_the_site(tree):
    assert "runs serve" in make(tree, "serve")
    assert (tree / "site/html/index.html").read_text() == "new\n"


@pytest.mark.parametrize("target", ["test-all", "test-touched"])
def test_the_packages_of_the_site_are_installed_before_its_tests(target):
    (line,) = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith(f"{target}:")]

    assert ".venv-docs/stamp" in line

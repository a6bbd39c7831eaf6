"""`make site` and `make serve`, in a tree with stand-ins for the tools that they run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.hub import PATIENCE, ROOT

pytestmark = pytest.mark.one_database

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


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a tree with the Makefile, the environment of the hub and that of the documentation."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for path in ("requirements/docs.txt", "docs/lay_out.py", "docs/zensical.toml", "clients/page.md"):
        program(tmp_path / path, "")
    program(tmp_path / ".venv-docs/bin/python", LAY_OUT)
    program(tmp_path / ".venv-docs/bin/zensical", BUILD)
    program(tmp_path / ".venv-docs/stamp", "")
    return tmp_path


def make(tree: Path, target: str) -> str:
    """Make the target; return what that prints."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}
    command = [shutil.which("make") or "make", target]
    ran = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def test_the_site_stays_until_the_new_one_is_whole(tree):
    program(tree / "site/html/index.html", "old\n")
    os.utime(tree / "site/html/index.html", (1, 1))

    make(tree, "site")

    assert (tree / "seen").read_text() == "old\n"
    assert (tree / "site/html/index.html").read_text() == "new\n"
    assert not (tree / "site/old").exists()

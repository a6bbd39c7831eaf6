"""The commands of `a2a` that pages and the dashboard show exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from a2a_hub_client.cli.app import app
from tests.support import pages
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

SHOWN = re.compile(r"(?<!manage\.py )\ba2a ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")
CODE = re.compile(r"^```(?:sh|text)\n(.*?)^```|`([^`\n]+)`|<code>(.*?)</code>", re.MULTILINE | re.DOTALL)
PAGES = [page for page in pages.all_pages() if page.name != "CHANGELOG.md"]  # it names earlier commands, too
FILES = [*PAGES, *sorted((ROOT / "templates").rglob("*.html"))]


def commands() -> set[str]:
    """Return the commands, and for each group of commands its name alone, too."""
    root: Any = typer.main.get_command(app)
    with typer.Context(root, info_name="a2a") as context:
        found = {name: root.get_command(context, name) for name in root.list_commands(context)}
    inner = {f"{name} {word}" for name, one in found.items() for word in getattr(one, "commands", {})}
    return {*found, *inner}


def shown(text: str) -> Iterator[str]:
    """Yield each command in code. A second word counts where the first names a group."""
    known = commands()
    groups = {name.partition(" ")[0] for name in known if " " in name}
    for parts in CODE.findall(text):
        for first, second in SHOWN.findall("".join(parts)):
            yield f"{first} {second}" if first in groups and second else first


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_command_that_is_shown_exists(file: Path) -> None:
    assert [command for command in shown(file.read_text()) if command not in commands()] == []


def test_a_command_that_is_not_there_is_seen() -> None:
    text = "`a2a agents add bob`, `a2a task paint`\n```sh\na2a task send bob x\n```\n<code>a2a nothing</code> a2a prose"

    assert set(shown(text)) - commands() == {"agents", "task paint", "nothing"}

"""What the README shows is so: its tour runs and prints what it says, its routes and settings are the hub's."""

from __future__ import annotations

import os
import re
import subprocess
from itertools import zip_longest
from typing import NamedTuple

import pytest
from django.conf import settings
from django.core.management import load_command_class
from django.urls import URLResolver, get_resolver, resolve

from tests.support.databases import database_of_its_own
from tests.support.hub import PATIENCE, ROOT, served

pytestmark = pytest.mark.one_database

README = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROUTE = re.compile(r"^\| `([A-Z, ]+) (/\S*)` \|", re.MULTILINE)
PARAMETER = re.compile(r"<[\w:]+>")
VARIES = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"  # uuid
    r"|\b[1-9A-HJ-NP-Za-km-z]{43,44}\b"  # public key
    r"|\b\d{13}\b"  # epoch milliseconds
    r"|\s+"
)
SAMPLE_ID = "00000000-0000-4000-8000-000000000000"


class Step(NamedTuple):
    commands: str
    printed: str


def section(title: str) -> str:
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def steps_in(title: str) -> list[Step]:
    """Return each block of commands with the block of output that stands before the next one."""
    steps: list[Step] = []
    for language, text in BLOCK.findall(section(title)):
        if language == "sh":
            steps.append(Step(text, ""))
        else:
            steps[-1] = Step(steps[-1].commands, text)
    return steps


@pytest.fixture(scope="module")
def readme_hub(tmp_path_factory):
    """Serve a hub; return the environment that it was started in."""
    var = tmp_path_factory.mktemp("hub")
    with database_of_its_own() as database_url, served(var, database_url=database_url) as hub:
        yield {"A2A_VAR": str(var), "DATABASE_URL": database_url, "PORT": hub.url.rpartition(":")[2]}


@pytest.fixture
def shell(readme_hub):
    """Return a function that runs a script beside the hub, in its environment."""

    def run(script):
        return subprocess.run(
            ["bash", "-euo", "pipefail"],  # noqa: S607
            cwd=ROOT,
            env=os.environ | readme_hub,
            input=script,
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
        )

    return run


def test_the_tour_prints_what_it_says(shell):
    steps = steps_in("A tour in five minutes")
    end_of_step = "\x1e"

    ran = shell("".join(f"{step.commands}printf '{end_of_step}'\n" for step in steps))

    printed = ran.stdout.split(end_of_step)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(steps) == 11
    for step, shown in zip_longest(steps, printed[:-1]):
        assert VARIES.sub("", shown) == VARIES.sub("", step.printed), step.commands


def test_the_program_in_the_same_process_prints_what_it_says(shell):
    [step] = steps_in("In the same process")

    ran = shell(step.commands)

    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", step.printed)


def served_routes(patterns, prefix="/"):
    """Yield (method, path) for all that these patterns serve outside the admin."""
    for pattern in patterns:
        path = prefix + PARAMETER.sub("<>", str(pattern.pattern))
        if path.startswith("/admin/"):
            continue
        if isinstance(pattern, URLResolver):
            yield from served_routes(pattern.url_patterns, path)
            continue
        view = getattr(pattern.callback, "view_class", None) or getattr(pattern.callback, "cls", None)
        methods = ["get"] if view is None else [name for name in view.http_method_names if hasattr(view, name)]
        yield from ((name.upper(), path) for name in methods if name not in ("head", "options"))


def listed_routes() -> set[tuple[str, str]]:
    listed = ROUTE.findall(section("Routes"))
    return {(method, PARAMETER.sub("<>", path)) for methods, path in listed for method in methods.split(", ")}


def test_the_route_table_is_what_is_served():
    assert listed_routes() - {("GET", "/admin/")} == set(served_routes(get_resolver().url_patterns))


@pytest.mark.parametrize("path", sorted({path for _, path in listed_routes()}))
def test_a_listed_route_leads_somewhere(path):
    resolve(path.replace("<>", SAMPLE_ID))


def test_the_listed_commands_are_those_there_are():
    command = load_command_class("mailbox", "a2a")
    usage = command.create_parser("manage.py", "a2a").format_help()
    listed = re.findall(
        r"`([a-z-]+)[^`]*`", "".join(re.findall(r"^\|(.*?)\|", section("The command line"), re.MULTILINE))
    )

    assert set(listed) == set(re.findall(r"^    ([a-z-]+)  ", usage, re.MULTILINE))


def test_the_listed_settings_are_read():
    source = "".join(path.read_text() for path in (ROOT / "a2aproject" / "settings").glob("*.py"))
    names = re.findall(r"`([A-Z][A-Z0-9_]+)`", "".join(re.findall(r"^\|(.*?)\|", section("Settings"), re.MULTILINE)))
    retry = "A2A_AUTO_RETRY_"

    assert len(names) > 20
    assert [name for name in names if f'"{name.removeprefix(retry)}"' not in source] == []


def test_every_setting_that_is_read_is_listed():
    hidden = {"A2A_IS_WEB_PROCESS", "A2A_IS_COMMAND_LINE"}  # set by the hub itself
    read = [name for name in settings.A2A_ENVIRONMENT_READ if not name.startswith("COVENANT_")]

    assert [name for name in read if name not in hidden and f"`{name}`" not in section("Settings")] == []


def test_linked_files_exist():
    linked = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)

    assert [path for path in linked if not (ROOT / path).exists()] == []

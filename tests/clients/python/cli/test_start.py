"""A command starts quickly, as it imports only what it needs. The shells complete its words."""

import os
import subprocess
import sys

import pytest

from a2a_hub_client.cli.app import COMMANDS
from tests.support import factories
from tests.support.terminals import MAIN

pytestmark = [pytest.mark.processes, pytest.mark.one_database, pytest.mark.django_db(transaction=True)]

LOADED = f"""
import sys
try:
    {MAIN}
finally:
    print(sorted(name for name, module in sys.modules.items() if module is not None), file=sys.stderr)
"""


def run(code, *words, **environment):
    return subprocess.run(
        [sys.executable, "-c", code, *words], env=os.environ | environment, capture_output=True, text=True, check=True
    )


@pytest.mark.parametrize("words", [("--help",), ("task", "--help"), ("task", "send", "--help"), ("--version",)])
def test_help_imports_neither_http_nor_rich(words):
    loaded = run(LOADED, *words).stderr

    assert "typer" in loaded
    assert [name for name in ("httpx", "rich", "platformdirs") if f"'{name}'" in loaded] == []


@pytest.mark.parametrize("form", ["json", "jsonl", "table"])
def test_a_command_that_talks_imports_no_more_than_it_needs(a2a, alice, bob, form):
    task = factories.sent_task(alice, bob)
    known = {"A2A_URL": a2a.url, "A2A_API_KEY": a2a.key(alice), "A2A_CONFIG": str(a2a.config)}

    listed = run(LOADED, "task", "list", "-o", form, **known)

    spared = ("a2a_hub_client.fake", "a2a_hub_client.worker", "asyncio", "httpx._main", "pydantic", "pygments", "rich")
    assert str(task.uuid) in listed.stdout
    assert "'httpx'" in listed.stderr
    assert [name for name in spared if f"'{name}'" in listed.stderr] == []


def test_the_help_of_the_root_imports_no_command():
    loaded = run(f"{LOADED}    print([n for n in sys.modules if '.commands.' in n])", "--help")

    assert "a2a_hub_client.cli.commands." not in loaded.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(name):
    assert "Usage: a2a " + name in run(MAIN, name, "--help").stdout


@pytest.mark.parametrize(("shell", "mark"), [("bash", "complete -o"), ("zsh", "#compdef a2a"), ("fish", "complete --")])
def test_each_shell_gets_a_script_that_completes(shell, mark):
    script = run(MAIN, "--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1").stdout

    assert mark in script
    assert "_A2A_COMPLETE" in script


def test_the_words_of_a_noun_are_completed():
    asked = {"_A2A_COMPLETE": "complete_bash", "COMP_WORDS": "a2a task wa", "COMP_CWORD": "2"}

    assert run(MAIN, **asked).stdout.split() == ["watch"]


def test_the_names_of_agents_are_completed(a2a, alice, bob):
    asked = {"_A2A_COMPLETE": "complete_bash", "COMP_WORDS": "a2a agent show bo", "COMP_CWORD": "3"}
    known = {"A2A_URL": a2a.url, "A2A_API_KEY": a2a.key(alice), "A2A_CONFIG": str(a2a.config)}

    assert run(MAIN, **asked, **known).stdout.split() == ["bob@local"]
    assert run(MAIN, **asked, **known | {"A2A_API_KEY": "a2a_wrong"}).stdout.strip() == ""
    assert run(MAIN, **asked, A2A_CONFIG=str(a2a.config)).stdout.strip() == ""

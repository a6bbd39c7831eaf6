"""The commands of `a2a` and `manage.py a2a` that pages and the dashboard show exist, and so do their options."""

import re
import shlex
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer
from django.core.management import CommandError, load_command_class

from a2a_hub_client.cli.app import app
from tools.lint.project import Project

pytestmark = pytest.mark.one_database

SHOWN = re.compile(r"(?<!manage\.py )\ba2a ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")
CODE = re.compile(r"^```(?:sh|text)\n(.*?)^```|`([^`\n]+)`|<code>(.*?)</code>", re.MULTILINE | re.DOTALL)
OTHERS = ("CHANGELOG.md", "cli.md")  # the first names earlier commands, and the second is written from the commands
PAGES = [page for page in Project().pages if not page.path.endswith(OTHERS)]
BLOCK = re.compile(r"^```(?:sh|text|)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?:[A-Z_0-9]+=\S* )*(?:python |\.venv/bin/python )?(manage\.py )?a2a ([^|)\n&;#>]*)")
BEGINS = rf"(?:^|\$\(|[|{{] |&& ){NAMED.pattern}"
FILES = [*PAGES, *Project().templates]


@cache
def root() -> Any:
    return typer.main.get_command(app)


@cache
def commands() -> set[str]:
    """Return the commands, and for each group of commands its name alone, too."""
    with typer.Context(root(), info_name="a2a") as context:
        found = {name: root().get_command(context, name) for name in root().list_commands(context)}
    inner = {f"{name} {word}" for name, one in found.items() for word in getattr(one, "commands", {})}
    return {*found, *inner}


def shown(text: str) -> Iterator[str]:
    """Yield each command in code. A second word counts where the first names a group."""
    known = commands()
    groups = {name.partition(" ")[0] for name in known if " " in name}
    for parts in CODE.findall(text):
        for first, second in SHOWN.findall("".join(parts)):
            yield f"{first} {second}" if first in groups and second else first


def given(text: str) -> Iterator[tuple[str, list[str], bool]]:
    """Yield the program, the words after it and whether it is a whole command, for each that the page shows."""
    for block in BLOCK.findall(text):
        for program, rest in re.findall(BEGINS, block.replace("\\\n", " "), re.MULTILINE):
            yield program, shlex.split(rest.removesuffix("2")), True
    for code in re.findall(r"`([^`]+)`", BLOCK.sub("", text)):
        if (found := NAMED.fullmatch(" ".join(code.split()))) and "COMMAND" not in code:
            yield found[1] or "", shlex.split(found[2]), False


def refusal(program: str, words: list[str]) -> str:
    """Return why the program does not understand the words; "" if it does. Nothing is run, and no value is checked."""
    try:
        if program:
            operators_parser().parse_args(words)
            return ""
        return understood(root(), "a2a", words)
    except CommandError as error:
        return str(error)
    except SystemExit:
        return ""  # after the text of --help
    except Exception as error:  # noqa: BLE001 (typer keeps the class of its errors to itself)
        return str(error) or type(error).__name__


@cache
def operators_parser() -> ArgumentParser:
    return untyped(load_command_class("mailbox", "a2a").create_parser("manage.py", "a2a"))


def untyped(parser: ArgumentParser) -> ArgumentParser:
    for action in parser._actions:
        action.type = None
        for inner in action.choices.values() if isinstance(action, _SubParsersAction) else ():
            untyped(inner)
    return parser


def understood(command: Any, name: str, words: list[str]) -> str:
    context = command.context_class(command, info_name=name)
    _, left, _ = command.make_parser(context).parse_args(args=[*words])
    if left and hasattr(command, "resolve_command"):
        inner, found, rest = command.resolve_command(context, left)
        return understood(found, inner, rest)
    return f"unexpected: {left}" if left else ""


def test_every_command_that_is_shown_exists() -> None:
    assert [(file.path, name) for file in FILES for name in shown(file.text) if name not in commands()] == []


def test_every_command_of_a_page_is_understood() -> None:
    """A command in a sentence may leave out what it needs."""
    refused = [
        (page.path, words, reason)
        for page in PAGES
        for program, words, is_whole in given(page.text)
        if (reason := refusal(program, words))
        and (is_whole or not re.search("are required:|requires an argument", reason))
    ]

    assert refused == []


def test_a_command_that_is_not_understood_is_seen() -> None:
    text = """`a2a audit verify`, `manage.py a2a keys\npaint` and `manage.py a2a erase`
```sh
x=$(A2A_API_KEY=$BOB a2a task show ID --lease 3 2> /dev/null)
manage.py a2a agents add bob --pubkey KEY \\
  --prof FILE
```
"""
    reasons = [refusal(program, words) for program, words, _ in given(text)]

    assert len(reasons) == 5
    assert "" not in reasons


def test_a_command_that_is_not_there_is_seen() -> None:
    text = "`a2a agents add bob`, `a2a task paint`\n```sh\na2a task send bob x\n```\n<code>a2a nothing</code> a2a prose"

    assert set(shown(text)) - commands() == {"agents", "task paint", "nothing"}

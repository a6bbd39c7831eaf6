"""Reads the commands that a page prints, and parses each with the parser of its program."""

import json
import re
import shlex
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

from django.core.management import get_commands, load_command_class
from django.core.management.base import CommandError
from django.urls import Resolver404, resolve
from typer._click.exceptions import UsageError
from typer.main import get_command

from a2a_hub_client.cli.app import app

UNMARKED = re.compile(r"(?:\bmanage\.py|(?<![\w/`])a2a) +[a-z][a-z-]+|\bcurl ")
SILENT = ("script", "style", "title")


class UnknownCommandError(Exception):
    """The program has no such verb or option, or the address has no such route."""


class Commands(HTMLParser):
    """Collects the text of elements with ``data-command``, and the text of all others."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.printed: list[str] = []
        self.prose = ""
        self._inside = self._silent = False
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._silent = self._silent or tag in SILENT
        if tag == "code" and "data-command" in dict(attributes):
            self._inside = True
            self.printed.append("")

    def handle_endtag(self, tag: str) -> None:
        self._silent = self._silent and tag not in SILENT
        if tag == "code":
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.printed[-1] += data
        elif not self._silent:
            self.prose += data

    @property
    def unmarked(self) -> list[str]:
        """The words that look like a command and are not marked as a command."""
        return UNMARKED.findall(self.prose)

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the words of each command. A quoted word may span lines."""
        for text in self.printed:
            held = ""
            for line in text.splitlines():
                held = f"{held}\n{line}" if held else line
                try:
                    words = shlex.split(held)
                except ValueError:
                    continue
                held = ""
                if words:
                    yield words
            if held:
                raise UnknownCommandError(f"no end of a quotation in {text!r}")


def parse(words: list[str]) -> None:
    """Parse a command as its program does; raise `UnknownCommandError` if the program refuses it."""
    program, *rest = words
    match program:
        case "a2a":
            _of_client(rest)
        case "manage.py":
            _of_hub(rest)
        case "curl":
            _of_api(rest)
        case _:
            raise UnknownCommandError(f"no program {program!r} in {words}")


def _of_client(words: list[str]) -> None:
    command: Any = get_command(app)
    if words == ["--help"]:
        return
    parent = None
    try:
        while hasattr(command, "resolve_command"):
            with command.make_context(command.name, [], parent=parent, resilient_parsing=True) as parent:
                _, command, words = command.resolve_command(parent, words)
                if command is None:
                    raise UnknownCommandError(f"a2a has no such verb, before {words}")
        command.make_context(command.name, words, parent=parent)
    except UsageError as error:
        raise UnknownCommandError(f"a2a {shlex.join(words)}: {error}") from error


def _of_hub(words: list[str]) -> None:
    name, *rest = words
    if name not in get_commands():
        raise UnknownCommandError(f"manage.py has no command {name!r}")
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    parser.called_from_command_line = False
    try:
        parser.parse_args(rest)
    except (CommandError, SystemExit) as error:
        raise UnknownCommandError(f"manage.py {shlex.join(words)}: {error}") from error


def _of_api(words: list[str]) -> None:
    url = next(word for word in words if word.startswith("http"))
    body = words[words.index("-d") + 1] if "-d" in words else ""
    method = words[words.index("-X") + 1] if "-X" in words else "GET"
    try:
        view = resolve(urlsplit(url).path).func
    except Resolver404 as error:
        raise UnknownCommandError(f"no route of {url}") from error
    try:
        json.loads(body or "{}")
    except ValueError as error:
        raise UnknownCommandError(f"{body} is no JSON") from error
    offered = getattr(view, "view_class", getattr(view, "cls", None))
    if offered is not None and not hasattr(offered, method.lower()):
        raise UnknownCommandError(f"{url} has no {method}")

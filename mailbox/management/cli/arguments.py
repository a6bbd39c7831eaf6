"""Readers of command-line arguments, with their error messages. Source: Covenant A2A, CLI."""

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from operator import methodcaller
from typing import Any, Protocol
from uuid import UUID

from mailbox.access.agents import directory
from mailbox.access.callers import Caller
from mailbox.models import Agent
from mailbox.words import json_text, redaction
from mailbox.words.errors import InvalidJsonError
from mailbox.words.times import LONGEST_WAIT_MS

WRONG_USAGE = 2  # the exit code
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Argument = Callable[[Any], object]  # adds itself to a parser, or to a group of it


class Commands(Protocol):
    """The type of the object that argparse's ``add_subparsers`` returns."""

    def add_parser(self, name: str, *, help: str, description: str = ...) -> ArgumentParser: ...  # noqa: A002


def argument(*names: str, **how: Any) -> Argument:
    """Return an argument, declared as for ``ArgumentParser.add_argument``."""
    return methodcaller("add_argument", *names, **how)


def number(name: str, *, least: int = 0, most: int | None = None, metavar: str = "N", **how: Any) -> Argument:
    """Return the option of an integer between two bounds."""
    return argument(name, type=integer(name, least=least, most=most), metavar=metavar, **how)


def identity(name: str, *, metavar: str = "UUID", **how: Any) -> Argument:
    """Return the option or the argument of a UUID."""
    dest = name if name.startswith("-") else name.replace("-", "_")
    return argument(dest, type=uuid(name), metavar=metavar, **how)


def word(name: str, what: str, *words: str, **how: Any) -> Argument:
    """Return the option of one of these words, read as by `one_of`."""
    return argument(name, type=one_of(what, *words), metavar="|".join(words), **how)


def either(*choices: Argument, required: bool = False) -> Argument:
    """Return arguments of which a command takes only one."""

    def add(parser: ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group(required=required)
        for choice in choices:
            choice(group)

    return add


def group(commands: Commands, name: str, what: str) -> Commands:
    """Add a command that has commands of its own, and return their place."""
    return commands.add_parser(name, help=what).add_subparsers(title="commands", metavar="COMMAND", required=True)


def command(
    commands: Commands,
    name: str,
    run: Callable[[Namespace], str],
    *takes: Argument,
    has_json: bool = True,
    **texts: str,
) -> ArgumentParser:
    """Add a command with its arguments. ``run`` returns what it prints. ``texts`` are its help and its description."""
    parser = commands.add_parser(name, **texts)
    for add in (*takes, *([JSON] if has_json else [])):
        add(parser)
    parser.set_defaults(run=run)
    return parser


def agent(name: str) -> Agent:
    """Return the registered agent of this public key, display or local part; raise `UnknownAgentError`."""
    return directory.typed(Caller.command_line(), name)


def uuid(name: str) -> Callable[[str], UUID]:
    def read(text: str) -> UUID:
        try:
            return UUID(text)
        except ValueError as error:
            raise ArgumentTypeError(f"{name} must be a UUID") from error

    return read


def integer(name: str, *, least: int = 0, most: int | None = None) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not _INTEGER.fullmatch(text.strip()):
            raise ArgumentTypeError(f"{name} must be an integer")
        number = int(text)
        if number < least or (most is not None and number > most):
            bounds = f"at least {least}" if most is None else f"between {least} and {most}"
            raise ArgumentTypeError(f"{name} must be {bounds}")
        return number

    return read


def one_of(what: str, *words: str) -> Callable[[str], str]:
    """Read one of ``words``. Hyphens and underscores are the same."""
    spellings = {word.replace("-", "_"): word for word in words}

    def read(text: str) -> str:
        word = spellings.get(text.replace("-", "_"))
        if word is None:
            raise ArgumentTypeError(f"unknown {what} '{text}' (expected {'|'.join(words)})")
        return word

    return read


def switch(name: str) -> Callable[[str], bool]:
    """Read ``on`` or ``off``."""

    def read(text: str) -> bool:
        if text.lower() not in ("on", "off"):
            raise ArgumentTypeError(f"{name} must be on or off")
        return text.lower() == "on"

    return read


def instant(name: str) -> Callable[[str], datetime]:
    """Read Unix epoch milliseconds or ISO 8601. A time without an offset is UTC."""

    def read(text: str) -> datetime:
        try:
            if text.isdecimal():
                return EPOCH + timedelta(milliseconds=int(text))
            moment = datetime.fromisoformat(text)
        except (ValueError, OverflowError) as error:
            problem = f"{name} must be a time, such as 2030-01-31T12:00:00Z, or epoch milliseconds"
            raise ArgumentTypeError(problem) from error
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    return read


def from_stdin(text: str) -> str:
    """Return ``text``, or for ``-`` the first line of stdin."""
    return sys.stdin.readline().strip() if text == "-" else text


def url_without_credentials(name: str) -> Callable[[str], str]:
    """Read a URL, for ``-`` from stdin. Process lists show arguments, so a URL with credentials must not be one."""

    def read(text: str) -> str:
        if redaction.has_credentials(text):
            raise ArgumentTypeError(f"{name} has credentials, which process lists show; give - and write it to stdin")
        return from_stdin(text)

    return read


def secret(name: str) -> Callable[[str], str]:
    """Read a secret from stdin; any text but ``-`` is refused."""

    def read(text: str) -> str:
        if text != "-":
            raise ArgumentTypeError(
                f"{name} is a secret, and process lists show arguments; give - and write it to stdin"
            )
        return from_stdin(text)

    return read


def json_object(name: str) -> Callable[[str], Mapping[str, Any]]:
    def read(text: str) -> Mapping[str, Any]:
        value = _json(name, text)
        if not isinstance(value, dict):
            raise ArgumentTypeError(f"{name} must be a JSON object")
        return value

    return read


def json_objects(name: str, what: str) -> Callable[[str], list[dict[str, Any]]]:
    def read(text: str) -> list[dict[str, Any]]:
        value = _json(name, text)
        if not isinstance(value, list) or not all(isinstance(block, dict) for block in value):
            raise ArgumentTypeError(f"{name} must be a JSON array of {what}")
        return value

    return read


def _json(name: str, text: str) -> Any:
    try:
        return json_text.loads(text)
    except InvalidJsonError as error:
        raise ArgumentTypeError(f"{name} is not accepted: {error}") from error


JSON = argument("--json", action="store_true", help="print the JSON that the API answers")
NAME = argument("name", metavar="NAME", help="the agent")
AGENT = argument("agent", metavar="NAME", help="the agent")
TASK = identity("task-id", metavar="TASK_ID", help="the task")
LEASE = identity("--lease-id", help="refuse unless this lease is live")
REASON = argument("--reason", required=True, metavar="TEXT", help="why; the journal keeps it")
OPTIONAL_REASON = argument("--reason", default="", metavar="TEXT", help="why; the journal keeps it")
LIMIT = number("--limit", least=1, most=1000, default=10, help="(default: %(default)s)")
CURSOR = argument("--cursor", metavar="CURSOR", help="the next_cursor of the page before")
# The options of a receive: how long to wait, and the id under which it can be repeated.
WAIT = number(
    "--wait-ms",
    most=LONGEST_WAIT_MS,
    default=0,
    help=f"wait up to N milliseconds, at most {LONGEST_WAIT_MS} (default: 0)",
)
ATTEMPT = identity(
    "--attempt-id", help="id of this receive; the same id returns the same answer again until that has ended"
)

"""Commands of a hub: functions that get a `Session`, with the options that all commands have.

An answer is printed as a table for people, or as the hub's JSON. A command that fails prints one line on stderr, which
says what to do, and exits with a code.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import msgspec
import typer

from a2a_hub_client.cli import contexts, tables
from a2a_hub_client.cli.contexts import ConfigError, ConnectionOptions, Context
from a2a_hub_client.cli.tables import Column, single_line
from a2a_hub_client.errors import AnswerError, HubError, UnreachableError

if TYPE_CHECKING:
    from a2a_hub_client import Hub
    from a2a_hub_client._calls import Call

FAILED, WRONG_USAGE = 1, 2
PAGE = 100  # items of one request
USUAL_PATIENCE = 3.0  # seconds until a command gives up a hub that does not answer
LONG_PATIENCE = 60.0  # of a command that runs for long

_BEYOND_ASCII = re.compile(r"[^\n -~]")


Output = Literal["table", "json", "jsonl"]  # the form of an answer
SETTINGS = {"help_option_names": ["-h", "--help"]}


class Printer:
    """Prints the answers of one command."""

    def __init__(self, output: Output) -> None:
        self.output = output

    @property
    def is_for_people(self) -> bool:
        """Whether the answers are printed for people, not as JSON."""
        return self.output == "table"

    def answer(self, answer: Any, text_of: Callable[[], str]) -> None:
        """Print an answer of the hub: what ``text_of`` returns, or its JSON."""
        if self.is_for_people:
            self.text(text_of())
        else:
            self.document(answer)

    def details(self, answer: Any, pairs: Callable[[], Iterable[tuple[str, str]]]) -> None:
        """Print an answer of the hub: its names and values that are not empty, or its JSON."""
        if self.is_for_people:
            tables.print_pairs([(name, value) for name, value in pairs() if value])
        else:
            self.document(answer)

    def listed(self, answer: Mapping[str, Any], key: str, columns: Sequence[Column], *, none: str) -> None:
        """Print the items of a list: a table with these columns, ``none`` without an item, or JSON."""
        items = answer[key]
        if self.output == "jsonl":
            for item in items:
                self.document(item)
        elif self.output == "json":
            self.document(answer)
        elif items:
            tables.print_table(items, columns)
            if answer.get("next_cursor"):
                self.note(f"There are more than {len(items)}: --limit shows more.")
        else:
            self.note(none)

    def document(self, value: Any) -> None:
        """Print a value as JSON, on one line for ``jsonl``. Characters that control a terminal are escaped in it."""
        encoded = msgspec.json.encode(value)
        text = encoded if self.output == "jsonl" else msgspec.json.format(encoded, indent=2)
        typer.echo(_BEYOND_ASCII.sub(_escaped, text.decode()).encode())

    def text(self, text: str) -> None:
        """Print lines for people."""
        typer.echo(tables.printable(text))
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Print a line that is no part of the answer, on stderr."""
        typer.echo(tables.printable(text), err=True)


def _escaped(match: re.Match[str]) -> str:
    return match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1]


class Session:
    """The hub of a command, and how its answers are printed. The connection is made at the first request."""

    def __init__(self, options: ConnectionOptions, output: Output, *, is_long: bool = False) -> None:
        """``is_long``: the command waits for a hub that restarts, and says so."""
        self.printer = Printer(output)
        self._options = options
        self._is_long = is_long

    @classmethod
    def of_context(cls, context: Context, output: Output) -> Session:
        """Return the session of a context that is not stored yet."""
        session = cls(ConnectionOptions(), output)
        vars(session)["context"] = context
        return session

    @cached_property
    def context(self) -> Context:
        """The hub and the key. Raises `ConfigError`."""
        return contexts.chosen(self._options)

    @cached_property
    def hub(self) -> Hub:
        """The client. Raises `ConfigError`."""
        from a2a_hub_client import Retry

        retry = (
            Retry(patience=LONG_PATIENCE, on_trouble=self._tell) if self._is_long else Retry(patience=USUAL_PATIENCE)
        )
        return contexts.connected(self.context, retry=retry)

    def ask(self, request: Callable[[Hub], object]) -> Any:
        """Return the hub's JSON that answers a request of the client, which then makes no model. Raises `HubError`.

        For requests whose method returns what `Hub.perform` returns, unchanged.
        """
        client = copy.copy(self.hub)
        vars(client)["perform"] = self.perform
        return request(client)

    def perform(self, call: Call[Any]) -> Any:
        """Send a call and return the hub's JSON. Raises `HubError`."""
        from a2a_hub_client._calls import hub_json

        return self.hub.perform(dataclasses.replace(call, read=hub_json))

    def read(self, route: str, **query: Any) -> Any:
        """Return the hub's JSON at a route. Raises `HubError`."""
        from a2a_hub_client._calls import get

        return self.perform(get(route, bytes, **query))

    def listed(self, route: str, key: str, *, limit: int, **query: Any) -> Any:
        """Return the hub's answer with the items of so many pages that they are ``limit`` at most."""
        answer = self.read(route, limit=min(limit, PAGE), **query)
        while answer.get("next_cursor") and len(answer[key]) < limit:
            left = min(limit - len(answer[key]), PAGE)
            page = self.read(route, limit=left, cursor=answer["next_cursor"], **query)
            answer = {**page, key: answer[key] + page[key]}
        return answer

    def show(self, route: str, key: str, columns: Sequence[Column], *, none: str, limit: int, **query: Any) -> None:
        """Print a list of the hub, as `listed` reads it."""
        self.printer.listed(self.listed(route, key, limit=limit, **query), key, columns, none=none)

    def close(self) -> None:
        """Close the connections."""
        if "hub" in vars(self):
            self.hub.close()

    def _tell(self, error: HubError) -> None:
        self.printer.note(f"Still trying: {error}")


class CommandError(Exception):
    """A command cannot do what was requested. The message says what to do. ``code`` is the exit code."""

    def __init__(self, message: str, *, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def exit_for(error: Exception, session: Session | None) -> typer.Exit:
    """Print why the command failed, and return its exit."""
    typer.echo(f"a2a: {single_line(_sentence(error, session))}", err=True)
    return typer.Exit(error.code if isinstance(error, CommandError) else FAILED)


def _sentence(error: Exception, session: Session | None) -> str:
    if isinstance(error, (ConfigError, CommandError)) or session is None or not isinstance(error, HubError):
        return str(error)
    url = session.hub.url
    if isinstance(error, UnreachableError):
        return f"{error} ({url}). Check the URL and that the hub runs; `a2a doctor` looks closer."
    if isinstance(error, AnswerError):
        return f"{url} does not answer as a hub: {error}"
    if error.code == "unauthenticated":
        return f"{url} does not accept the key: {error} `a2a login` stores another one."
    fields = [f"{path}: {problem}" for path, problem in error.fields.items() if problem not in str(error)]
    return " ".join([str(error), *fields])


def option(name: str, metavar: str, text: str, *shorter: str, **how: Any) -> Any:
    """Return an option that has a value."""
    return typer.Option(name, *shorter, metavar=metavar, help=text, **how)


def argument(metavar: str, text: str, **how: Any) -> Any:
    """Return an argument."""
    return typer.Argument(metavar=metavar, help=text, **how)


SHARED: dict[str, tuple[Any, Any]] = {
    "output": (Annotated[Output, typer.Option("--output", "-o", help="How to print the answer.")], "table"),
    "url": (Annotated[str | None, option("--url", "URL", "The hub (default: A2A_URL).")], None),
    "context": (Annotated[str | None, option("--context", "NAME", "A hub of `a2a login`.")], None),
    "key_file": (
        Annotated[str | None, option("--key-file", "FILE", "The API key (default: A2A_API_KEY).")],
        None,
    ),
    "signing_key_file": (
        Annotated[
            str | None,
            option("--signing-key-file", "FILE", "Sign requests with this private key instead."),
        ],
        None,
    ),
}


def noun(help_text: str) -> typer.Typer:
    """Return a group of commands."""
    app = alone()
    app.callback(help=help_text)(lambda: None)  # a command alone would be no group
    return app


def alone() -> typer.Typer:
    """Return the place of a command that stands alone."""
    return typer.Typer(rich_markup_mode=None, no_args_is_help=True, add_completion=False, context_settings=SETTINGS)


def command(
    app: typer.Typer, name: str | None = None, *, is_long: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a command. Its function gets a session of the chosen hub, then its own arguments and options.

    ``is_long``: it waits for a hub that restarts.
    """

    def add(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run(**values: Any) -> None:
            shared = {key: values.pop(key) for key in SHARED}
            output = shared.pop("output")
            session = Session(ConnectionOptions(**shared), output, is_long=is_long)
            with reported(session):
                function(session, **values)

        _with_shared_options(run, function)
        return app.command(name)(run)

    return add


@contextmanager
def reported(session: Session | None = None) -> Iterator[None]:
    """Close the session at the end of the block. An error ends the command, with a line that says what to do."""
    try:
        yield
    except (ConfigError, CommandError, HubError) as error:
        raise exit_for(error, session) from error
    finally:
        if session is not None:
            session.close()


def _with_shared_options(run: Callable[..., None], function: Callable[..., None]) -> None:
    """Give ``run`` the parameters of ``function`` but the session, and the shared parameters."""
    hints = get_type_hints(function, include_extras=True)
    _session, *own = inspect.signature(function).parameters.values()
    parameters = [parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=hints[parameter.name]) for parameter in own]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=type_, default=default)
        for name, (type_, default) in SHARED.items()
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}

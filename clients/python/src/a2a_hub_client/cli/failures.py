"""How a command fails: one line on stderr that says what to do, and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from a2a_hub_client.cli.contexts import ConfigError
from a2a_hub_client.cli.tables import on_one_line
from a2a_hub_client.errors import AnswerError, HubError, UnreachableError

if TYPE_CHECKING:
    from a2a_hub_client.cli.session import Session

FAILED, WRONG_USAGE = 1, 2


class CommandError(Exception):
    """A command cannot do what was requested. The message says what to do. ``code`` is the exit code."""

    def __init__(self, message: str, *, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def exit_for(error: Exception, session: Session | None) -> typer.Exit:
    """Print why the command failed, and return its exit."""
    typer.echo(f"a2a: {on_one_line(_sentence(error, session))}", err=True)
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

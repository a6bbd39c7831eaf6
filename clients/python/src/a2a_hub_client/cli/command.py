"""Commands of a hub: functions that get a `Session`, with the options that all commands have."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, get_type_hints

import typer

from a2a_hub_client.cli import failures
from a2a_hub_client.cli.access import Given
from a2a_hub_client.cli.contexts import ConfigError
from a2a_hub_client.cli.failures import CommandError
from a2a_hub_client.cli.output import Output
from a2a_hub_client.cli.session import Session
from a2a_hub_client.errors import HubError

SETTINGS = {"help_option_names": ["-h", "--help"]}
SHARED: dict[str, tuple[Any, Any]] = {
    "output": (Annotated[Output, typer.Option("--output", "-o", help="How to print the answer.")], Output.TABLE),
    "url": (Annotated[str | None, typer.Option("--url", metavar="URL", help="The hub (default: A2A_URL).")], None),
    "context": (Annotated[str | None, typer.Option("--context", metavar="NAME", help="A hub of `a2a login`.")], None),
    "key_file": (
        Annotated[str | None, typer.Option("--key-file", metavar="FILE", help="The API key (default: A2A_API_KEY).")],
        None,
    ),
    "signing_key_file": (
        Annotated[
            str | None,
            typer.Option("--signing-key-file", metavar="FILE", help="Sign requests with this private key instead."),
        ],
        None,
    ),
}


def noun(help_text: str) -> typer.Typer:
    """Return a group of commands."""
    app = alone()
    app.callback(help=help_text)(_nothing)
    return app


def alone() -> typer.Typer:
    """Return the place of a command that stands alone."""
    return typer.Typer(rich_markup_mode=None, no_args_is_help=True, add_completion=False, context_settings=SETTINGS)


def _nothing() -> None:
    """Make a group of what would be a command alone."""


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
            session = Session(Given(**shared), output, is_long=is_long)
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
        raise failures.exit_for(error, session) from error
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

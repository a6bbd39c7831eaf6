"""Arguments and options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, TypeVar
from uuid import UUID

import typer

from a2a_hub_client.cli import completing, times

T = TypeVar("T")


def reader(read: Callable[[str], T]) -> Callable[[str], T]:
    """Return a parser of an option. A `ValueError` of ``read`` is wrong usage."""

    def parse(text: str) -> T:
        try:
            return read(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    parse.__name__ = read.__name__
    return parse


def whole_id(text: str) -> UUID:
    """Read a whole id. Raises `ValueError`."""
    try:
        return UUID(text)
    except ValueError:
        raise ValueError(f'"{text}" is no id: an id is a UUID, such as 5e0c8a53-7d0b-4a57-9a0e-3f1d8f0c2b64') from None


AgentName = Annotated[
    str, typer.Argument(metavar="AGENT", help="The name of an agent.", autocompletion=completing.agents)
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, metavar="N", help="Show at most N.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the journal.")]
LeaseId = Annotated[
    UUID | None,
    typer.Option("--lease-id", parser=reader(whole_id), metavar="UUID", help="Refuse unless this lease is live."),
]
Expiry = Annotated[
    str | None, typer.Option("--expires", metavar="TIME", help="ISO 8601, or a span from now such as 30d.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
USUAL_LIMIT = 50


def moment(name: str, text: str | None) -> datetime | None:
    """Read the time of the option ``name``, None for None."""
    try:
        return None if text is None else times.moment(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=name) from None


def span(name: str, text: str | None) -> timedelta | None:
    """Read the span of the option ``name``, None for None."""
    try:
        return None if text is None else times.span(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=name) from None


def seconds(name: str, text: str | None) -> float | None:
    """Read the span of the option ``name`` in seconds, None for None."""
    found = span(name, text)
    return None if found is None else found.total_seconds()

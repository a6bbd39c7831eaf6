"""Arguments and options that several commands have. Shells complete them, and ids may be cut to their beginning."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, TypeVar
from uuid import UUID

import typer

from a2a_hub_client.cli import contexts, tables
from a2a_hub_client.cli.command import CommandError, Session, argument, option
from a2a_hub_client.cli.contexts import ConfigError, ConnectionOptions
from a2a_hub_client.errors import HubError

COMPLETING_PATIENCE = 1.0  # seconds; a shell waits for it
MOST = 1000
T = TypeVar("T")
USUAL_LIMIT = 50
NEWEST = 1000  # items among which the first characters are looked for, where the hub does not look for them
LEAST = 4  # characters
SHOWN = 5  # ids of a refusal
Limit = Annotated[int, option("--limit", "N", "Show at most N.", "-n", min=1)]
Reason = Annotated[str, option("--reason", "TEXT", "Why, for the journal.")]
Expiry = Annotated[str | None, option("--expires", "TIME", "ISO 8601, or a span from now such as 30d.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
TaskId = Annotated[str, argument("TASK", "The id of a task, or its first characters.")]


def agent_names(incomplete: str) -> list[str]:
    """Return the names of agents that begin so. Without an answer of the hub there is none."""
    from a2a_hub_client import Retry
    from a2a_hub_client._calls import get, page
    from a2a_hub_client.models.tasks import AgentId

    try:
        context = contexts.chosen(ConnectionOptions())
        with contexts.connected(context, retry=Retry(patience=0), timeout=COMPLETING_PATIENCE) as hub:
            agents = hub.perform(get("/a2a/agents", page("agents", AgentId), limit=MOST)).items
    except (ConfigError, HubError):
        return []
    return [agent.display for agent in agents if agent.display.startswith(incomplete)]


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


AgentName = Annotated[str, typer.Argument(metavar="AGENT", help="The name of an agent.", autocompletion=agent_names)]
LeaseId = Annotated[
    UUID | None,
    option("--lease-id", "UUID", "Refuse unless this lease is live.", parser=reader(whole_id)),
]


def moment(name: str, text: str | None) -> datetime | None:
    """Read the time of the option ``name``, None for None."""
    try:
        return None if text is None else tables.moment(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=name) from None


def span(name: str, text: str | None) -> timedelta | None:
    """Read the span of the option ``name``, None for None."""
    try:
        return None if text is None else tables.span(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=name) from None


def seconds(name: str, text: str | None) -> float | None:
    """Read the span of the option ``name`` in seconds, None for None."""
    duration = span(name, text)
    return None if duration is None else duration.total_seconds()


def task_id_of(session: Session, text: str) -> str:
    """Return the whole id of a task. Raises `CommandError` unless exactly one visible task begins with ``text``."""
    if (known := _known(text)) is not None:
        return known
    page = session.read("/a2a/tasks", id_prefix=text.strip("-"), limit=SHOWN + 1)
    matches = [str(entry["task"]["id"]) for entry in page["entries"]]
    return _only(text, matches, f'no task that this key may see has an id that begins with "{text}"')


def whole_id_of(session: Session, text: str, route: str, key: str, what: str, id_of: Any) -> str:
    """Return ``text`` if it is a whole id, or the only id of a list that begins with it. Raises `CommandError`.

    The newest items of the list are read.
    """
    if (known := _known(text)) is not None:
        return known
    page: Mapping[str, Any] = session.read(route, limit=NEWEST)
    matches = [one for one in map(id_of, page[key]) if one.startswith(text.lower())]
    searched = len(page[key])
    return _only(text, matches, f'none of the newest {searched} {what} ids begins with "{text}": write the whole id')


def _known(text: str) -> str | None:
    """Return a whole id, None for the first characters of one."""
    try:
        return str(UUID(text))
    except ValueError:
        if not re.fullmatch(rf"[0-9a-f-]{{{LEAST},36}}", text.lower()):
            raise typer.BadParameter(f'"{text}" is no id, nor the first {LEAST} or more characters of one') from None
    return None


def _only(text: str, matches: list[str], none: str) -> str:
    if not matches:
        raise CommandError(none)
    if len(matches) > 1:
        number = str(len(matches)) if len(matches) <= SHOWN else f"more than {SHOWN}"
        raise CommandError(f'"{text}" is the beginning of {number} ids: {", ".join(sorted(matches)[:SHOWN])}')
    return matches[0]

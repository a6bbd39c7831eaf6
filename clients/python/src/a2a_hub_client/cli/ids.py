"""Ids by their first characters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

import typer

from a2a_hub_client.cli.failures import CommandError
from a2a_hub_client.cli.session import Session

NEWEST = 1000  # items among which the first characters are looked for, where the hub does not look for them
LEAST = 4  # characters
SHOWN = 5  # ids of a refusal
TaskId = Annotated[str, typer.Argument(metavar="TASK", help="The id of a task, or its first characters.")]


def task(session: Session, text: str) -> str:
    """Return the whole id of a task. Raises `CommandError` unless exactly one visible task begins with ``text``."""
    if (known := _known(text)) is not None:
        return known
    page = session.read("/a2a/tasks", id_prefix=text.strip("-"), limit=SHOWN + 1)
    found = [str(entry["task"]["id"]) for entry in page["entries"]]
    return _only(text, found, f'no task that this key may see has an id that begins with "{text}"')


def whole(session: Session, text: str, route: str, key: str, what: str, id_of: Any) -> str:
    """Return ``text`` if it is a whole id, or the only id of a list that begins with it. Raises `CommandError`.

    The newest items of the list are read.
    """
    if (known := _known(text)) is not None:
        return known
    page: Mapping[str, Any] = session.read(route, limit=NEWEST)
    found = [one for one in map(id_of, page[key]) if one.startswith(text.lower())]
    searched = len(page[key])
    return _only(text, found, f'none of the newest {searched} {what} ids begins with "{text}": write the whole id')


def _known(text: str) -> str | None:
    """Return a whole id, None for the first characters of one."""
    try:
        return str(UUID(text))
    except ValueError:
        if not re.fullmatch(rf"[0-9a-f-]{{{LEAST},36}}", text.lower()):
            raise typer.BadParameter(f'"{text}" is no id, nor the first {LEAST} or more characters of one') from None
    return None


def _only(text: str, found: list[str], none: str) -> str:
    if not found:
        raise CommandError(none)
    if len(found) > 1:
        number = str(len(found)) if len(found) <= SHOWN else f"more than {SHOWN}"
        raise CommandError(f'"{text}" is the beginning of {number} ids: {", ".join(sorted(found)[:SHOWN])}')
    return found[0]

"""Ids by their first characters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

import typer

from a2a_hub_client.cli.failures import CommandError
from a2a_hub_client.cli.session import Session

NEWEST = 1000  # items among which the first characters are looked for
LEAST = 4  # characters
TaskId = Annotated[str, typer.Argument(metavar="TASK", help="The id of a task, or its first characters.")]


def task(session: Session, text: str) -> str:
    """Return the whole id of a task. Raises `CommandError` unless one of the newest tasks begins with ``text``."""
    return whole(session, text, "/a2a/tasks", "entries", "task", lambda entry: str(entry["task"]["id"]))


def whole(session: Session, text: str, route: str, key: str, what: str, id_of: Any) -> str:
    """Return ``text`` if it is a whole id, or the only id of a list that begins with it. Raises `CommandError`."""
    given = text.lower()
    try:
        return str(UUID(given))
    except ValueError:
        if not re.fullmatch(rf"[0-9a-f-]{{{LEAST},36}}", given):
            raise typer.BadParameter(f'"{text}" is no id, nor the first {LEAST} or more characters of one') from None
    page: Mapping[str, Any] = session.read(route, limit=NEWEST)
    found = sorted({one for one in map(id_of, page[key]) if one.startswith(given)})
    if len(found) == 1:
        return str(found[0])
    if found:
        raise CommandError(f'"{text}" is the beginning of {len(found)} ids: {", ".join(found[:5])}')
    raise CommandError(f'none of the newest {len(page[key])} {what} ids begins with "{text}": write the whole id')

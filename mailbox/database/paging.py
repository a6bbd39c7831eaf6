"""Keyset pages: the items of a list, and an opaque cursor that tells where the next page starts."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from django.db.models import Model, Q, QuerySet

from mailbox.words import json_text
from mailbox.words.errors import InvalidJsonError, InvalidRequestError

Item = TypeVar("Item")
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """``items`` in their order; ``next_cursor`` is None on the last page."""

    items: Sequence[Item]
    next_cursor: str | None = None


def page(found: Sequence[tuple[Item, tuple[object, ...]]], limit: int, name: str) -> Page[Item]:
    """Return the first ``limit`` of the ``(item, position)`` pairs, of which the caller read up to one more."""
    kept = found[:limit]
    more = len(found) > limit and bool(kept)
    return Page([item for item, _ in kept], _encode(name, kept[-1][1]) if more else None)


def keyset(
    found: QuerySet[Row],
    field: str,
    kind: type,
    *,
    newest_first: bool = False,
    is_unique: bool = False,
    limit: int,
    cursor: str | None,
    name: str,
) -> Page[Row]:
    """Return the page of ``found`` after ``cursor``, ordered by ``field`` (of type ``kind``), then by age.

    A field that ``is_unique`` orders alone. Raises `InvalidRequestError` for a cursor of another list.
    """
    position = after(cursor, name, (kind,) if is_unique else (kind, int))
    order = (field,) if is_unique else (field, "pk")
    if position:
        found = found.filter(beyond(field, *position, newest_first=newest_first))
    sign = "-" if newest_first else ""
    rows = found.order_by(*(f"{sign}{key}" for key in order))[: limit + 1]
    return page([(row, tuple(getattr(row, key) for key in order)) for row in rows], limit, name)


def newest(found: QuerySet[Row], *, limit: int, cursor: str | None, name: str) -> Page[Row]:
    """Return the page of ``found`` after ``cursor``, the newest rows first; raises as `keyset` does."""
    return keyset(found, "pk", int, newest_first=True, is_unique=True, limit=limit, cursor=cursor, name=name)


def beyond(field: str, value: object, pk: int | None = None, *, newest_first: bool = False) -> Q:
    """Return what holds of the rows that follow the row with this ``value`` and ``pk``; None for a unique field."""
    past = "lt" if newest_first else "gt"
    further = Q(**{f"{field}__{past}": value})
    return further if pk is None else further | Q(**{field: value, f"pk__{past}": pk})


def after(cursor: str | None, name: str, types: tuple[type, ...]) -> tuple[Any, ...] | None:
    """Return the position of ``cursor`` in the list ``name``, None for no cursor; raise `InvalidRequestError`."""
    if cursor is None:
        return None
    try:
        found_name, *position = json_text.loads(base64.urlsafe_b64decode(cursor.encode()))
        decoded = tuple(_decode(kind, value) for kind, value in zip(types, position, strict=True))
    except (InvalidJsonError, ValueError, TypeError, OverflowError, OSError) as error:
        raise InvalidRequestError({"cursor": "not a cursor of this list"}) from error
    if found_name != name:
        raise InvalidRequestError({"cursor": "not a cursor of this list"})
    return decoded


def _encode(name: str, position: tuple[object, ...]) -> str:
    plain = [value.timestamp() if isinstance(value, datetime) else value for value in position]
    return base64.urlsafe_b64encode(json_text.dumps([name, *plain]).encode()).decode()


def _decode(kind: type, value: Any) -> Any:
    if kind is datetime:
        return datetime.fromtimestamp(value, UTC)
    if not isinstance(value, kind) or (isinstance(value, int) and not 0 <= value < 2**63):
        raise ValueError(value)
    return value

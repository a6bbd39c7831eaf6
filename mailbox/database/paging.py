"""Keyset pages: the items of a list, and an opaque cursor that tells where the next page starts.

A page ends at its limit of items, or before the item that would make it larger than `BUDGET`. The size of an item is
the number of bytes of its texts as JSON. Rows are read a few at a time, so that neither a page nor its making takes
more memory than that.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

import orjson
from django.db.models import F, IntegerField, Model, Q, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.db.models.sql import Query

from mailbox.words import json_text, secret_box
from mailbox.words.errors import InvalidJsonError, InvalidRequestError

BUDGET = 4 * 1024 * 1024  # bytes of text in one page; an item that is larger is a page of its own
AT_ONCE = 16  # rows that one query reads, where rows may hold payloads
READERS = 4  # threads of a process that read rows of pages at once; more would only take more memory
_readers = threading.BoundedSemaphore(READERS)
CURSORS = "cursors"  # the purpose of their key
Item = TypeVar("Item")
Row = TypeVar("Row", bound=Model)
Position = tuple[Any, ...]


def of(value: object) -> int:
    """Return the bytes of all texts in ``value`` as JSON: a row with its related rows, as far as they were read.

    Fields that were deferred count nothing, and neither do numbers, times and ids.
    """
    return _of(value, set())


def _of(value: Any, seen: set[int]) -> int:
    if isinstance(value, str):
        return len(orjson.dumps(value))
    if isinstance(value, list | tuple):
        return sum(_of(part, seen) for part in value)
    if isinstance(value, dict):
        return sum(_of(part, seen) for pair in value.items() for part in pair)
    if id(value) in seen:
        return 0
    if isinstance(value, Model):
        seen.add(id(value))
        related = [*value._state.fields_cache.values(), *map(list, _prefetched(value).values())]
        return sum(_of(part, seen) for name, part in vars(value).items() if name[0] != "_") + _of(related, seen)
    if is_dataclass(value):
        return sum(_of(getattr(value, field.name), seen) for field in fields(value))
    return 0


def _prefetched(row: Model) -> dict[str, Any]:
    cache: dict[str, Any] = getattr(row, "_prefetched_objects_cache", {})
    return cache


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """``items`` in their order; ``next_cursor`` is None on the last page."""

    items: Sequence[Item]
    next_cursor: str | None = None


def page(
    pairs: Iterable[tuple[Item, Position]],
    limit: int,
    name: str,
    *,
    budget: int = BUDGET,
    weigh: Callable[[Item], int] = of,
) -> Page[Item]:
    """Return the first ``limit`` of the ``(item, position)`` pairs, or fewer if they exceed ``budget`` bytes of text.

    ``weigh`` returns the bytes of an item.
    A first item beyond the budget is returned alone. ``pairs`` is read only up to the first pair that does not fit.
    `READERS` threads read at once, and the others wait.
    """
    kept: list[Item] = []
    last: Position = ()
    size = 0
    with _readers:
        for item, position in pairs:
            size += weigh(item)
            if len(kept) >= limit or (kept and size > budget):
                return Page(kept, _encode(name, last) if kept else None)
            kept.append(item)
            last = position
    return Page(kept)


def keyset(
    queryset: QuerySet[Row],
    field: str,
    kind: type,
    *,
    newest_first: bool = False,
    is_unique: bool = False,
    limit: int,
    cursor: str | None,
    name: str,
    at_once: int = AT_ONCE,
    budget: int = BUDGET,
    weigh: Callable[[Row], int] = of,
) -> Page[Row]:
    """Return the page of ``queryset`` after ``cursor``, ordered by ``field`` (of type ``kind``), then by age.

    A field that ``is_unique`` orders alone. One query reads ``at_once`` rows. ``weigh`` returns the bytes of a row.
    Raises `InvalidRequestError` for a cursor of another list.
    """
    position = after(cursor, name, (kind,) if is_unique else (kind, int))
    order = (field,) if is_unique else (field, "pk")
    rows = in_turn(queryset, order, position, newest_first=newest_first, most=limit + 1, at_once=at_once)
    return page(rows, limit, name, budget=budget, weigh=weigh)


def newest(queryset: QuerySet[Row], *, limit: int, cursor: str | None, name: str) -> Page[Row]:
    """Return the page of ``queryset`` after ``cursor``, the newest rows first; raises as `keyset` does."""
    return keyset(queryset, "pk", int, newest_first=True, is_unique=True, limit=limit, cursor=cursor, name=name)


def in_turn(
    queryset: QuerySet[Row],
    order: Sequence[str],
    position: Position | None = None,
    *,
    newest_first: bool = False,
    most: int | None = None,
    at_once: int = AT_ONCE,
) -> Iterator[tuple[Row, Position]]:
    """Yield the rows after ``position`` with their positions, at most ``most``, ``at_once`` of them read by one query.

    ``order`` has the one unique field of the order, or a field and then ``pk``. A row that changes meanwhile may be
    left out, and no row comes twice unless its position changes.
    """
    sign = "-" if newest_first else ""
    ordered = queryset.order_by(*(f"{sign}{key}" for key in order))
    while most is None or most > 0:
        wanted = at_once if most is None else min(at_once, most)
        rest = ordered if position is None else ordered.filter(beyond(order[0], *position, newest_first=newest_first))
        rows = list(rest[:wanted])
        for row in rows:
            position = tuple(getattr(row, key) for key in order)
            yield row, position
        if len(rows) < wanted:
            return
        most = None if most is None else most - wanted


def every(look: Callable[[str | None], Page[Item]]) -> Iterator[Item]:
    """Yield the items of all pages; ``look`` returns the page at a cursor."""
    cursor = None
    while True:
        page = look(cursor)
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def beyond(field: str, value: object, pk: int | None = None, *, newest_first: bool = False) -> Q:
    """Return what holds of the rows that follow the row with this ``value`` and ``pk``; None for a unique field."""
    past = "lt" if newest_first else "gt"
    further = Q(**{f"{field}__{past}": value})
    if pk is None:
        return further
    # The first condition follows from the others. It lets the database start in its index at the value.
    return Q(**{f"{field}__{past}e": value}) & (further | Q(**{f"pk__{past}": pk}))


def after(cursor: str | None, name: str, types: tuple[type, ...]) -> tuple[Any, ...] | None:
    """Return the position of ``cursor`` in the list ``name``, None for no cursor; raise `InvalidRequestError`."""
    if cursor is None:
        return None
    try:
        list_name, *position = json_text.loads(secret_box.unseal(cursor, purpose=CURSORS))
        decoded = tuple(_decode(kind, value) for kind, value in zip(types, position, strict=True))
    except (secret_box.UnreadableSecretError, InvalidJsonError, ValueError, TypeError, OverflowError, OSError) as error:
        raise InvalidRequestError({"cursor": "not a cursor of this list"}) from error
    if list_name != name:
        raise InvalidRequestError({"cursor": "not a cursor of this list"})
    return decoded


def _encode(name: str, position: Position) -> str:
    plain = [value.timestamp() if isinstance(value, datetime) else value for value in position]
    return secret_box.seal(json_text.dumps([name, *plain]), purpose=CURSORS)


def _decode(kind: type, value: Any) -> Any:
    if kind is datetime:
        return datetime.fromtimestamp(value, UTC)
    if not isinstance(value, kind) or (isinstance(value, int) and not 0 <= value < 2**63):
        raise ValueError(value)
    return value


class Counted(Subquery):
    """The number of rows of a query, which may have a limit."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()

    @classmethod
    def up_to(cls, most: int, rows: QuerySet[Model]) -> Counted:
        """Count up to one row more than ``most``, and no further."""
        return cls(rows.order_by().values("pk")[: most + 1])


class Summed(Subquery):
    """The sum of one column over the rows of a query, which may have a limit; None for no rows."""

    template = "(SELECT SUM(summed) FROM (%(subquery)s) counted)"
    output_field = IntegerField()

    @classmethod
    def up_to(cls, most: int, rows: QuerySet[Model], field: str) -> Summed:
        """Sum over up to one row more than ``most``, and no further."""
        return cls(rows.order_by().values(summed=F(field))[: most + 1])


def query_of_figures(*figures: Subquery | Combinable) -> Query:
    """Return one query for the values of these figures. It reads no table itself."""
    query = Query(None)
    for number, figure in enumerate(figures):
        query.add_annotation(figure, f"figure{number}")
    return query

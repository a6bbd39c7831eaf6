"""Tables for people: with colours and short ids at a terminal, plain and whole elsewhere."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

Row = Mapping[str, Any]
GAP = 2  # spaces between columns
LEAST = 8  # characters of a column that may be cut
SHORT_ID = 8
STYLES: Mapping[str, str] = {
    "queued": "cyan",
    "in flight": "yellow",
    "asks": "magenta",
    "ok": "green",
    "partial": "yellow",
    "error": "red",
    "rejected": "red",
    "expired": "red",
    "cancelled": "bright_black",
    "paused": "yellow",
    "revoked": "bright_black",
    "waiting": "yellow",
    "delivered": "green",
    "failed": "red",
    "given_up": "red",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. ``cell`` returns the text of a row.

    ``is_id``: a terminal shows the first characters. ``is_cut``: the text may be cut on a narrow terminal, and
    ``is_optional``: the column is left out there.
    """

    title: str
    cell: Callable[[Row], str]
    is_id: bool = False
    is_cut: bool = False
    is_optional: bool = False


def is_terminal() -> bool:
    """Whether people read stdout."""
    return sys.stdout.isatty()


def printable(text: str) -> str:
    """Return the text with escapes for characters that control a terminal or the direction of text.

    A stranger may have written it.
    """
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(char: str) -> str:
    is_shown = char.isprintable() or char in "\n\t" or unicodedata.category(char) == "Zs"
    return char if is_shown else char.encode("unicode_escape").decode()


def on_one_line(text: str) -> str:
    """Return the text on one line, with escapes as `printable`."""
    return printable(" ".join(text.split()))


def console() -> Console:
    """Return the console of stdout, which has no colour without a terminal or with NO_COLOR."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def print_table(rows: Sequence[Row], columns: Sequence[Column]) -> None:
    """Print a table. A terminal gets as many columns as fit; a pipe gets all of them, whole."""
    cells = [[on_one_line(column.cell(row)) for column in columns] for row in rows]
    if is_terminal():
        _print_fitted(cells, columns)
    else:
        for line in _aligned([[column.title for column in columns], *cells]):
            typer.echo(line)


def print_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """Print names and values, one pair on a line. The lines of a longer value are indented."""
    width = max((len(name) for name, _ in pairs), default=0) + GAP
    for name, value in pairs:
        first, *more = printable(value).splitlines() or [""]
        typer.echo(typer.style(name.ljust(width), dim=True) + first)
        for line in more:
            typer.echo(" " * width + line)


def fitting(widths: Sequence[int], columns: Sequence[Column], room: int) -> list[int]:
    """Return the places of the columns to show in ``room`` characters: optional columns go, the last one first."""
    places = list(range(len(columns)))
    least = [min(width, LEAST) if column.is_cut else width for width, column in zip(widths, columns, strict=True)]
    for place in reversed(range(len(columns))):
        if sum(least[one] + GAP for one in places) - GAP <= room:
            break
        if columns[place].is_optional:
            places.remove(place)
    return places


def shared(widths: Sequence[int], columns: Sequence[Column], room: int) -> list[int]:
    """Return the widths of the columns in ``room`` characters. Columns that may be cut share what is left."""
    left = (
        room
        - GAP * (len(columns) - 1)
        - sum(width for width, column in zip(widths, columns, strict=True) if not column.is_cut)
    )
    found = list(widths)
    cut = sorted(
        (width, place) for place, (width, column) in enumerate(zip(widths, columns, strict=True)) if column.is_cut
    )
    for number, (width, place) in enumerate(cut):
        found[place] = max(1, min(width, left // (len(cut) - number)))
        left -= found[place]
    return found


def _print_fitted(cells: Sequence[Sequence[str]], columns: Sequence[Column]) -> None:
    from rich.table import Table
    from rich.text import Text

    cells = [
        [cell[:SHORT_ID] if column.is_id else cell for cell, column in zip(row, columns, strict=True)] for row in cells
    ]
    natural = [max(len(column.title), *(len(row[at]) for row in cells)) for at, column in enumerate(columns)]
    screen = console()
    places = fitting(natural, columns, screen.width)
    fitted = [columns[place] for place in places]
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for column, width in zip(fitted, shared([natural[place] for place in places], fitted, screen.width), strict=True):
        table.add_column(column.title, no_wrap=True, overflow="ellipsis", width=width)
    for row in cells:
        table.add_row(*(Text(row[place], style=_style(row[place])) for place in places))
    screen.print(table, crop=False)


def _style(cell: str) -> str:
    return STYLES.get(cell.partition(" (")[0], "")


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]

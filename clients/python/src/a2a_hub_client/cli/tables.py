"""Tables for people: with colours and short ids at a terminal, plain and whole elsewhere.

Rows of the hub's JSON, times and spans get their words here.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import msgspec
import typer

if TYPE_CHECKING:
    from rich.console import Console

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
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

Row = Mapping[str, Any]
MILLISECOND = timedelta(milliseconds=1)
_SPAN = re.compile(r"(?:\d+(?:\.\d+)?[smhd])+")
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
Blocks = list[dict[str, Any]]


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


def single_line(text: str) -> str:
    """Return the text on one line, with escapes as `printable`."""
    return printable(" ".join(text.split()))


def console() -> Console:
    """Return the console of stdout, which has no colour without a terminal or with NO_COLOR."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def print_table(rows: Sequence[Row], columns: Sequence[Column]) -> None:
    """Print a table. A terminal gets as many columns as fit; a pipe gets all of them, whole."""
    cells = [[single_line(column.cell(row)) for column in columns] for row in rows]
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
    shares = list(widths)
    cut = sorted(
        (width, place) for place, (width, column) in enumerate(zip(widths, columns, strict=True)) if column.is_cut
    )
    for number, (width, place) in enumerate(cut):
        shares[place] = max(1, min(width, left // (len(cut) - number)))
        left -= shares[place]
    return shares


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
        table.add_row(*(Text(row[place], style=STYLES.get(row[place].partition(" (")[0], "")) for place in places))
    screen.print(table, crop=False)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def span(text: str) -> timedelta:
    """Read a span such as 90s, 5m, 2h or 1d12h. Raises `ValueError`."""
    if not _SPAN.fullmatch(text):
        raise ValueError(f'"{text}" is no length of time. Examples: 90s, 5m, 2h, 1d12h.')
    try:
        return timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text)))
    except OverflowError:
        raise ValueError(f'"{text}" is too long a time') from None


def moment(text: str) -> datetime:
    """Read a time in ISO 8601, or a span from now on. Raises `ValueError`."""
    duration = span(text) if _SPAN.fullmatch(text) else None
    try:
        if duration is not None:
            return datetime.now(timezone.utc) + duration
        instant = datetime.fromisoformat(text.replace("Z", "+00:00"))
        return instant if instant.tzinfo else instant.astimezone()
    except OverflowError:
        raise ValueError(f'"{text}" is too far away') from None
    except ValueError:
        raise ValueError(
            f'"{text}" is no time. Examples: 2030-01-31T12:00:00Z, or 2h for two hours from now.'
        ) from None


def short(seconds: float) -> str:
    """Return a span in one or two units, such as 12s, 5m or 3h 10m."""
    whole = max(0, int(seconds))
    for name, unit, smaller, small in (("d", 86_400, "h", 3600), ("h", 3600, "m", 60)):
        if whole >= unit:
            rest = whole % unit // small
            return f"{whole // unit}{name} {rest}{smaller}" if rest else f"{whole // unit}{name}"
    return f"{whole // 60}m" if whole >= 60 else f"{whole}s"


def age(ms: int | None) -> str:
    """Return how long ago an epoch time in milliseconds was, or how far it is in the future. "" for None."""
    if ms is None:
        return ""
    seconds = datetime.now(timezone.utc).timestamp() - ms / 1000
    return short(seconds) if seconds >= 0 else f"in {short(-seconds)}"


def local(ms: int | None) -> str:
    """Return an epoch time in milliseconds as local time, "" for None. After the year 9999 it is a distance."""
    if ms is None:
        return ""
    try:
        return f"{datetime.fromtimestamp(ms / 1000, timezone.utc).astimezone():%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):
        return age(ms)


def now_ms() -> int:
    """Return the time in Unix epoch milliseconds."""
    return int(datetime.now(timezone.utc).timestamp() * 1000)


def name(agent: Row | None) -> str:
    """Return the name of an agent, "" for None."""
    return "" if agent is None else str(agent["display"])


def state(row: Row) -> str:
    """Return the state of a task in a word, its outcome once it is resolved."""
    if row.get("outcome"):
        return str(row["outcome"])
    if row["state"] == "interrupted":
        return f"asks ({row['awaits']})" if row.get("awaits") else "asks"
    return str(row["state"]).replace("_", " ")


def content(blocks: Blocks) -> str:
    """Return the texts of content blocks, and other blocks as JSON, each on lines of its own."""
    texts = (
        block["text"] if block.get("type") == "text" else msgspec.json.encode(block).decode() for block in blocks or []
    )
    return "\n".join(texts)


def progress(report: Row) -> str:
    """Return a report of progress, such as 40 % reading."""
    return f"{report['fraction']:.0%} {report.get('note', '')}".rstrip()


def data(row: Row) -> str:
    """Return the data of a journal row, as ``name=value``."""
    return " ".join(f"{key}={_plain(value)}" for key, value in row["data"].items())


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


TASKS = (
    Column("TASK", lambda row: row["task"]["id"], is_id=True),
    Column("STATE", state),
    Column("AGE", lambda row: age(row.get("sent_at_ms") or row.get("leased_at_ms"))),
    Column("FROM", lambda row: name(row["task"]["sender"]), is_cut=True, is_optional=True),
    Column("TO", lambda row: name(row["task"]["recipient"]), is_cut=True),
    Column("ATTEMPT", lambda row: str(row["attempt"]), is_optional=True),
    Column("TEXT", lambda row: row["task"]["intent_text"], is_cut=True, is_optional=True),
)
LEASES = (
    Column("TASK", lambda row: row["task"]["id"], is_id=True),
    Column("LEASE", lambda row: row["lease_id"], is_id=True),
    Column("AGE", lambda row: age(row["leased_at_ms"])),
    Column("HOLDER", lambda row: name(row.get("leased_to")), is_cut=True),
    Column("ATTEMPT", lambda row: str(row["attempt"]), is_optional=True),
    Column("SEEN", lambda row: age(row.get("last_seen_at_ms")), is_optional=True),
    Column("TEXT", lambda row: row["task"]["intent_text"], is_cut=True, is_optional=True),
)
RESULTS = (
    Column("TASK", lambda row: row["task_id"], is_id=True),
    Column("STATUS", lambda row: row["status"]),
    Column("ERROR", lambda row: row.get("error_message") or "", is_cut=True, is_optional=True),
    Column("CONTENT", lambda row: single_line(content(row["content"])), is_cut=True, is_optional=True),
)
EVENTS = (
    Column("TIME", lambda row: local(row["at_ms"])),
    Column("KIND", lambda row: row["kind"]),
    Column("ACTOR", lambda row: row["actor"], is_cut=True),
    Column("TASK", lambda row: row.get("task_id") or "", is_id=True, is_optional=True),
    Column("SOURCE", lambda row: row["source"], is_optional=True),
    Column("DATA", data, is_cut=True, is_optional=True),
)

"""Tables and numbers in Markdown."""

from collections.abc import Iterable, Sequence

DATABASES = {"postgresql": "PostgreSQL", "sqlite": "SQLite"}
NOTHING = "-"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column is text, and whose other columns are numbers."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return lines(f"| {' | '.join(row)} |" for row in (head, rule, *rows))


def lines(texts: Iterable[str]) -> str:
    return "".join(f"{text}\n" for text in texts)


def number(value: float | None, digits: int = 0, unit: str = "") -> str:
    """Return the value with so many digits after the point, `NOTHING` for None."""
    return NOTHING if value is None else f"{value:,.{digits}f}{unit}"

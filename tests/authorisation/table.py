"""Reads ``expected.txt``, the table of what each route answers to each class of callers."""

from pathlib import Path
from typing import NamedTuple

from tests.authorisation.routes import METHODS

FILE = Path(__file__).with_name("expected.txt")
REST = "*"


class Section(NamedTuple):
    """One section of the table: its columns, and the answers by route and method. `REST` stands for all others."""

    columns: tuple[str, ...]
    rows: dict[tuple[str, str], tuple[str, ...]]

    def routes(self) -> set[str]:
        return {route for route, _ in self.rows} - {REST}

    def expected(self, route: str, method: str, column: str) -> str:
        """Return the expected answer. The row of the route itself comes first, then the row for all others."""
        named = [(route, method), (route, REST), (REST, method), (REST, REST)]
        row = next(self.rows[name] for name in named if name in self.rows)
        return row[self.columns.index(column)]


def read(text: str) -> dict[str, Section]:
    """Return the sections by name. Raise `ValueError` for a row of the wrong width, and for a row that stands twice."""
    sections: dict[str, Section] = {}
    rows: dict[tuple[str, str], tuple[str, ...]] = {}
    columns: tuple[str, ...] = ()
    for line in text.splitlines():
        words = line.split()
        if not words or words[0] == "#":
            continue
        if words[0].startswith("["):
            columns, rows = tuple(words[2:]), {}
            sections[words[0].strip("[]")] = Section(columns, rows)
            continue
        route, methods, *answers = words
        if len(answers) != len(columns):
            raise ValueError(f"the row has {len(answers)} answers for {len(columns)} columns: {line}")
        for method in methods.split(","):
            if (route, method) in rows or method not in (*METHODS, REST):
                raise ValueError(f"the row stands twice, or its method is unknown: {line}")
            rows[route, method] = tuple(answers)
    return sections

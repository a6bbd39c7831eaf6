"""How answers are printed: as a table for people, or as the hub's JSON."""

from __future__ import annotations

import enum
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import typer

from a2a_hub_client.cli import tables
from a2a_hub_client.cli.tables import Column

_BEYOND_ASCII = re.compile(r"[^\n -~]")


class Output(str, enum.Enum):
    """The form of an answer."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"


class Printer:
    """Prints the answers of one command."""

    def __init__(self, output: Output) -> None:
        self.output = output

    @property
    def is_for_people(self) -> bool:
        """Whether the answers are printed for people, not as JSON."""
        return self.output is Output.TABLE

    def answer(self, answer: Any, said: Callable[[], str]) -> None:
        """Print an answer of the hub: what ``said`` returns, or its JSON."""
        if self.is_for_people:
            self.text(said())
        else:
            self.document(answer)

    def details(self, answer: Any, pairs: Callable[[], Iterable[tuple[str, str]]]) -> None:
        """Print an answer of the hub: its names and values that are not empty, or its JSON."""
        if self.is_for_people:
            tables.print_pairs([(name, value) for name, value in pairs() if value])
        else:
            self.document(answer)

    def listed(self, answer: Mapping[str, Any], key: str, columns: Sequence[Column], *, none: str) -> None:
        """Print the items of a list: a table with these columns, ``none`` without an item, or JSON."""
        items = answer[key]
        if self.output is Output.JSONL:
            for item in items:
                self.document(item)
        elif self.output is Output.JSON:
            self.document(answer)
        elif items:
            tables.print_table(items, columns)
            if answer.get("next_cursor"):
                self.note(f"There are more than {len(items)}: --limit shows more.")
        else:
            self.note(none)

    def document(self, value: Any) -> None:
        """Print a value as JSON, on one line for ``jsonl``. Characters that control a terminal are escaped in it."""
        encoded = msgspec.json.encode(value)
        text = encoded if self.output is Output.JSONL else msgspec.json.format(encoded, indent=2)
        typer.echo(_BEYOND_ASCII.sub(_escaped, text.decode()).encode())

    def text(self, text: str) -> None:
        """Print lines for people."""
        typer.echo(tables.printable(text))
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Print a line that is no part of the answer, on stderr."""
        typer.echo(tables.printable(text), err=True)


def _escaped(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]

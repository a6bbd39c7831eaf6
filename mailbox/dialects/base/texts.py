"""The texts of the OpenAPI document, and the codes of errors with their meaning and advice.

They stand in a file ``descriptions.toml`` in the folder of each dialect. A text is ``"..."``, or
``["...", example]`` where an example is needed. The file has these tables:

- ``[fields]``: the fields of bodies and answers by name, the same in all shapes of all dialects.
- ``[shapes.<Component>]``: the fields that mean something else in one component. The key ``""`` is the component.
- ``[parameters]``: the parameters of paths, queries and headers.
- ``[operations.<Tag>]``: the operations by their ids, each a list of its summary, its text and perhaps an example. An
  operation that is served at several paths is named once.
- ``[statuses]``: what each status of an error means, and ``[advice]``: what a client does about each code.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

from mailbox.dialects.base import http_errors
from mailbox.words.errors import MailboxError

DIALECTS = Path(__file__).parent.parent
FILE = "descriptions.toml"
SUFFIXES = ("_of_tenant", "_v1")  # of operations that are served at a second path


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A description and its examples: one at most. ``example`` may be any JSON value, so that a tuple holds it."""

    text: str
    example: tuple[Any, ...] = ()

    @classmethod
    def read(cls, value: object) -> Self:
        """Return the text of ``"..."`` or ``["...", example]``."""
        text, *example = value if isinstance(value, list) else [value]
        return cls(text=str(text), example=tuple(example))


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationText(Text):
    """The description of an operation, with its tag and its summary."""

    tag: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All texts, of all dialects."""

    fields: dict[str, Text] = field(default_factory=dict)
    shapes: dict[str, dict[str, Text]] = field(default_factory=dict)
    parameters: dict[str, Text] = field(default_factory=dict)
    operations: dict[str, OperationText] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)
    advice: dict[str, str] = field(default_factory=dict)

    def of_field(self, component: str, name: str) -> Text | None:
        """Return the text of a field; None without one."""
        return self.shapes.get(component, {}).get(name) or self.fields.get(name)

    def of_operation(self, operation_id: str) -> OperationText | None:
        """Return the text of an operation, also of one with a suffix of `SUFFIXES`; None without one."""
        names = (operation_id, *(operation_id.removesuffix(suffix) for suffix in SUFFIXES))
        return next((self.operations[name] for name in names if name in self.operations), None)


@cache
def all_texts() -> Texts:
    """Return the texts of all dialects. Raises `ValueError` for a name that two files describe."""
    described = Texts()
    for file in sorted(DIALECTS.glob(f"*/{FILE}")):
        tables: Mapping[str, Mapping[str, Any]] = tomllib.loads(file.read_text())
        for name in ("fields", "parameters"):
            _add(getattr(described, name), _read(tables.get(name, {})), file)
        for name in ("statuses", "advice"):
            _add(getattr(described, name), tables.get(name, {}), file)
        _add(described.shapes, {name: _read(table) for name, table in tables.get("shapes", {}).items()}, file)
        for tag, table in tables.get("operations", {}).items():
            read = {
                name: OperationText(tag=tag, summary=summary, text=text, example=tuple(example))
                for name, (summary, text, *example) in table.items()
            }
            _add(described.operations, read, file)
    return described


def _read(table: Mapping[str, object]) -> dict[str, Text]:
    return {name: Text.read(value) for name, value in table.items()}


def _add(known: dict[str, Any], more: Mapping[str, Any], file: Path) -> None:
    if twice := known.keys() & more.keys():
        raise ValueError(f"{file} describes what another file describes: {', '.join(sorted(twice))}")
    known.update(more)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCode:
    """One code. ``meaning`` is the default message of the error, and ``advice`` what a client does about it."""

    code: str
    status: HTTPStatus
    meaning: str
    advice: str


def error_codes(statuses: Mapping[type[MailboxError], HTTPStatus] = http_errors.STATUS) -> list[ErrorCode]:
    """Return the codes of the errors of ``statuses`` and of HTTP, by status and then by name, each code once."""
    rows: dict[str, ErrorCode] = {}
    for error, status in {**statuses, **http_errors.TRANSPORT_STATUS}.items():
        meaning = " ".join((error.__doc__ or "").split())
        row = ErrorCode(code=error.code, status=status, meaning=meaning, advice=all_texts().advice[error.code])
        rows.setdefault(error.code, row)
    return sorted(rows.values(), key=lambda row: (row.status, row.code))


def table_of_codes(rows: Sequence[ErrorCode]) -> str:
    """Return the codes as a table in Markdown."""
    lines = [f"| `{row.code}` | {row.status.value} | {row.meaning} | {row.advice} |\n" for row in rows]
    return "".join(["| Code | Status | Meaning | Advice |\n|---|---|---|---|\n", *lines])

"""The texts of the OpenAPI document: a file ``descriptions.toml`` in the folder of each dialect.

A text is ``"..."``, or ``["...", example]`` where an example is needed. The file has these tables:

- ``[fields]``: the fields of bodies and answers by name, the same in all shapes of all dialects.
- ``[shapes.<Component>]``: the fields that mean something else in one component. The key ``""`` is the component.
- ``[parameters]``: the parameters of paths, queries and headers.
- ``[operations]``: the operations by their ids. An operation that is served at several paths is named once.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

DIALECTS = Path(__file__).parent.parent
FILE = "descriptions.toml"
WHOLE = ""  # names the component itself


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A description and its examples: one at most. ``example`` may be any JSON value, so that a tuple holds it."""

    text: str
    example: tuple[Any, ...] = ()

    @classmethod
    def read(cls, value: object) -> Text:
        """Return the text of ``"..."`` or ``["...", example]``."""
        text, *example = value if isinstance(value, list) else [value]
        return cls(text=str(text), example=tuple(example))


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """All texts, of all dialects."""

    fields: dict[str, Text] = field(default_factory=dict)
    shapes: dict[str, dict[str, Text]] = field(default_factory=dict)
    parameters: dict[str, Text] = field(default_factory=dict)
    operations: dict[str, Text] = field(default_factory=dict)

    def of_field(self, component: str, name: str) -> Text | None:
        """Return the text of a field; None without one."""
        return self.shapes.get(component, {}).get(name) or self.fields.get(name)

    def of_operation(self, operation_id: str) -> Text | None:
        """Return the text of an operation, also of one with a suffix for its path; None without one."""
        fitting = [name for name in self.operations if operation_id == name or operation_id.startswith(f"{name}_")]
        return self.operations[max(fitting, key=len)] if fitting else None


@cache
def texts() -> Texts:
    """Return the texts of all dialects. Raises `ValueError` for a name that two files describe."""
    found = Texts()
    for file in sorted(DIALECTS.glob(f"*/{FILE}")):
        given: Mapping[str, Mapping[str, Any]] = tomllib.loads(file.read_text())
        for name in ("fields", "parameters", "operations"):
            _add(getattr(found, name), {key: Text.read(value) for key, value in given.get(name, {}).items()}, file)
        shapes = given.get("shapes", {}).items()
        _add(found.shapes, {key: {name: Text.read(one) for name, one in value.items()} for key, value in shapes}, file)
    return found


def _add(known: dict[str, Any], more: Mapping[str, Any], file: Path) -> None:
    if twice := known.keys() & more.keys():
        raise ValueError(f"{file} describes what another file describes: {', '.join(sorted(twice))}")
    known.update(more)

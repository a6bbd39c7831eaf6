"""Checks that values and the fields of a dataclass have their declared types.

HTTP readers build envelopes from checked JSON. Code in this process may build one from any values.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, get_args, get_origin, get_type_hints
from uuid import UUID

from mailbox.words.errors import InvalidRequestError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_EXPECTED: Mapping[type, str] = {
    str: "must be text",
    int: "must be a whole number",
    UUID: "must be a UUID",
    timedelta: "must be a timedelta",
    Mapping: "must be a JSON object",
    Sequence: "must be a JSON array",
}


def require(kind: type, **values: object) -> None:
    """Raise `InvalidRequestError`, which names each value that is not of ``kind``. None is not of any kind."""
    wrong = {name: _expected(kind) for name, value in values.items() if not isinstance(value, kind)}
    if wrong:
        raise InvalidRequestError(wrong)


def shape_problems(value: DataclassInstance) -> Iterator[tuple[str, str]]:
    """Yield (path, problem) for each field of the dataclass ``value`` that is not of its declared type.

    The plain string of a `StrEnum` member fits. Fields of nested dataclasses have paths such as ``sender.display``.
    """
    for name, kind, is_optional, is_dataclass in _declared(type(value)):
        member = getattr(value, name)
        if member is None and is_optional:
            continue
        if type(member) is not kind and not _fits(member, kind):
            yield name, _expected(kind)
        elif is_dataclass:
            yield from ((f"{name}.{path}", problem) for path, problem in shape_problems(member))


@cache
def _declared(shape: type[DataclassInstance]) -> Sequence[tuple[str, type, bool, bool]]:
    """Return each field's name and type, whether None fits too, and whether the type is a dataclass."""
    fields: list[tuple[str, type, bool, bool]] = []
    for name, hint in get_type_hints(shape).items():
        choices = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        named = next(choice for choice in choices if choice is not types.NoneType)
        kind = get_origin(named) or named
        fields.append((name, kind, len(choices) > 1, dataclasses.is_dataclass(kind)))
    return fields


def _fits(value: object, kind: type) -> bool:
    if issubclass(kind, Enum):
        return isinstance(value, str) and value in kind._value2member_map_
    if kind is int:
        return type(value) is int
    return isinstance(value, list | tuple) if kind is Sequence else isinstance(value, kind)


def _expected(kind: type) -> str:
    if issubclass(kind, Enum):
        *others, last = (repr(member.value) for member in kind)
        return f"must be {', '.join(others)} or {last}"
    return _EXPECTED.get(kind) or f"must be of type {kind.__name__}"

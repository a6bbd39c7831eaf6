"""How many bytes of JSON the texts of a row take, so that an answer can be cut before it grows too large."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import orjson
from django.db.models import Model


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
    found: dict[str, Any] = getattr(row, "_prefetched_objects_cache", {})
    return found

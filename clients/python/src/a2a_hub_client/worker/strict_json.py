"""Strict JSON: what the hub would refuse of a job is an error here, with its reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from a2a_hub_client.models.wire import to_json


def loads(text: bytes) -> Any:
    """Read one JSON document that the hub can store.

    Raises `ValueError` for text that is not UTF-8 or not JSON, and for nesting too deep for the parser. Raises it too
    for duplicate keys, NaN, infinite numbers, NUL and lone surrogates.
    """
    try:
        value = _DECODER.decode(text.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: {error.reason} at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    for part in _strings(value):
        if "\0" in part:
            raise ValueError("a string contains a NUL character")
        if any("\ud800" <= character <= "\udfff" for character in part):
            raise ValueError("a string contains a lone surrogate")
    return value


def plain(value: object) -> tuple[Any, int]:
    """Return the value with its parts as JSON has them, and its bytes as JSON. A subclass of float becomes a float.

    Raises `ValueError` for what is not JSON, such as NaN or a set.
    """
    try:
        parts = json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
        return parts, len(to_json(parts))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from error


def _strings(value: object) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            pending.extend(part for pair in item.items() for part in pair)
        elif isinstance(item, list):
            pending.extend(item)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"duplicate key {repeated[:100]!r}")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number is out of range")
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite)

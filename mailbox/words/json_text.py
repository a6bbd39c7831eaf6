"""JSON as stored text, and the one strict reader that every outside byte passes.

Stored JSON is text, never ``jsonb``: PostgreSQL would rewrite numbers and reorder keys.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from mailbox.words.errors import InvalidJsonError

MAX_DEPTH = 64
MAX_DIGITS = 4300  # Python's own limit on the digits of an integer
TOO_DEEP = f"nesting deeper than {MAX_DEPTH} levels"
TOO_MANY_DIGITS = f"an integer has more than {MAX_DIGITS} digits"
_FIRST_TOO_LONG = 10**MAX_DIGITS
_SIGNIFICANT = re.compile("[1-9]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# The functions of `json` would make these objects anew in each call.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Unstorable:
    """An item of a batch that the databases cannot store, and its problem. Pass no part of it on without a check."""

    item: Any
    problem: str


def dumps(value: object) -> str:
    """Return compact JSON that `loads` reads back as an equal value."""
    return _ENCODER.encode(value)


def loads(text: bytes | str, *, items: str | None = None) -> Any:
    """Read one JSON document that both databases can store.

    ``items`` names the member of a batch that lists its items. An item with NUL, a lone surrogate or nesting that is
    too deep is then an `Unstorable` in this list. It is no error of the document. Levels count from the item.

    Raises `InvalidJsonError` for text that is not UTF-8 or not JSON. Raises it too for duplicate keys, NaN, numbers
    too large or too small for a double, NUL and lone surrogates. Nesting deeper than `MAX_DEPTH` and integers of more
    than 4,300 digits are also errors.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode()
        value = _DECODER.decode(text)
    except UnicodeDecodeError as error:
        raise InvalidJsonError(f"the body is not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise InvalidJsonError(TOO_DEEP) from error
    except json.JSONDecodeError as error:
        raise InvalidJsonError(_not_json(error)) from error
    except ValueError as error:
        raise InvalidJsonError(TOO_MANY_DIGITS) from error
    is_nested, is_escaped = text.count("[") + text.count("{") > MAX_DEPTH, "\\u" in text
    problem = _unstorable(value, is_nested=is_nested, is_escaped=is_escaped)
    if problem and items is not None and isinstance(value, dict) and isinstance(value.get(items), list):
        problem = _mark_each(value, items)
    if problem:
        raise InvalidJsonError(problem)
    return value


def same(first: object, second: object) -> bool:
    """Whether two values are the same JSON. The order of keys does not matter; 1, 1.0 and true differ."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def storable(text: str) -> str:
    """Return the text with U+FFFD for characters that a database cannot store: NUL and lone surrogates."""
    return _UNSTORABLE.sub("\ufffd", text)


def problem_with(text: str) -> str | None:
    """Return why ``text`` cannot be stored on both databases, None if it can."""
    match = _UNSTORABLE.search(text)
    if match is None:
        return None
    return "contains a NUL character" if match.group() == "\x00" else "contains a lone surrogate"


def is_deeper(value: object, levels: int) -> bool:
    """Return whether arrays and objects nest in this value deeper than ``levels``. A value without any has no level."""
    level: list[Any] = [value] if isinstance(value, (dict, list)) else []
    for _ in range(levels):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return bool(level)


def problem_in(value: object, *, level: int = 1) -> str | None:
    """Return why this value is not storable JSON, None if it is.

    ``level`` is the nesting level of the value in the stored text.
    """
    pending = [(value, level)]
    while pending:
        item, level = pending.pop()
        if problem := _problem_of(item, level):
            return problem
        if isinstance(item, dict):
            pending.extend((part, level + 1) for pair in item.items() for part in pair)
        elif isinstance(item, list):
            pending.extend((part, level + 1) for part in item)
    return None


def _problem_of(item: object, level: int) -> str | None:
    """Return the problem of this value itself, without its parts; None without a problem."""
    match item:
        case dict() | list() if level > MAX_DEPTH:
            return TOO_DEEP
        case dict() if not all(isinstance(key, str) for key in item):
            return "a key is not text"
        case str():
            problem = problem_with(item)
            return problem and f"a string {problem}"
        case float() if not math.isfinite(item):
            return "a number is out of range"
        case int() if abs(item) >= _FIRST_TOO_LONG:
            return TOO_MANY_DIGITS
        case None | bool() | int() | float() | dict() | list():
            return None
    return f"{type(item).__name__} is not JSON"


def _not_json(error: json.JSONDecodeError) -> str:
    if error.doc.startswith("\ufeff"):
        return "it begins with a byte order mark; send UTF-8 without one"
    return f"not JSON: {error.msg.removesuffix(' at')} at line {error.lineno} column {error.colno}"


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InvalidJsonError(f"duplicate key {repeated[:100]!r}")
    return members


def _no_constant(name: str) -> NoReturn:
    raise InvalidJsonError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    lost = number == 0 and _SIGNIFICANT.search(digits.lower().partition("e")[0])
    if lost or not math.isfinite(number):
        raise InvalidJsonError("a number is out of range")
    return number


def _mark_each(batch: dict[str, Any], items: str) -> str | None:
    """Put an `Unstorable` in the place of each item with a problem. Return the problem beside the items."""
    listed, batch[items] = batch[items], []
    problem = _unstorable(batch)
    batch[items] = [Unstorable(item, reason) if (reason := _unstorable(item)) else item for item in listed]
    return problem


def _unstorable(value: object, *, is_nested: bool = True, is_escaped: bool = True) -> str | None:
    """Return why a value that was read is not storable, None if it is.

    Only text with many brackets is nested too deep. Only text with escapes holds NUL or lone surrogates.
    """
    if is_nested and is_deeper(value, MAX_DEPTH):
        return TOO_DEEP
    return problem_in(value) if is_escaped else None


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite)

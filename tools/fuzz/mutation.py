"""Seeded mutations of valid examples: of text, of bytes and of JSON values."""

import copy
import json
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

LONGEST = 100_000  # characters of a mutated text
WORDS = (
    *('"', "'", "\\", "\\u0000", "\\ud800", "\x00", "\ud800", "\ufeff", "\u2028", "\x85", "\t", "\r", "\n", "\r\n"),
    *("é", "\U0001f600", "٣", "²", "\u202e", "%", "%00", "*", "-", "_", "@", ":", ",", "..", "<", ">", ">=", "<=", "="),
    *("{", "}", "[", "]", "{}", "[]", "null", "true", "NaN", "-Infinity", "1e999", "1e-999", "-0", "0", "1", "9" * 20),
    *("9" * 4301, "0x1", "1_000", " 1", "1.0", "-1", "9223372036854775808", "253402300800", "10000-01-01", "24:00"),
    *("```", "~~~", "> ", "- ", "1. ", "    ", "@delegate ", "@delegate a: b", "key:", "-key:", "age:>", "id:"),
    *("a2a_", "p_", "/p/", "whsec_", "http://[", "https://a:b@c", "//", "?", "#", "=", "==", "+00:00", "Z"),
)
VALUES: Sequence[Any] = (
    *(None, True, False, 0, -1, 1, 1.5, -0.0, 1e300, 2**31, 2**63, -(2**63) - 1, 10**40, "", " ", "\x00", "\ud800"),
    *("x" * 501, "0", "true", "null", [], {}, [[]], [None], {"": None}, {"a": {"b": []}}, "é", "\U0001f600"),
)


class Mutator:
    """Draws from one seeded source, so that a seed repeats every input."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def text(self, examples: Sequence[str]) -> str:
        """Return one of the examples with up to six changes."""
        random, text = self.random, self.random.choice(examples)
        for _ in range(random.choice((0, 1, 1, 1, 2, 2, 3, 6))):
            text = self._changed(text, examples)
        return text[:LONGEST]

    def _changed(self, text: str, examples: Sequence[str]) -> str:
        random = self.random
        start = random.randint(0, len(text))
        end = min(len(text), start + random.choice((1, 1, 2, 5, 40)))
        kind = random.randrange(32)
        if kind < 6:
            return text[:start] + text[end:]
        if kind < 14:
            return text[:start] + random.choice(WORDS) + text[random.choice((start, end)) :]
        if kind < 18:
            return text[:start] + chr(random.choice((random.randrange(128), random.randrange(0x11000)))) + text[end:]
        if kind < 22:
            return text[:end] + text[start:]
        if kind < 26:
            other = random.choice(examples)
            return text[:start] + other[random.randint(0, len(other)) :]
        if kind < 31:
            return text[:start] + text[start:end] * random.choice((2, 3, 20)) + text[end:]
        piece = text[start:end] or random.choice(WORDS)
        return (text[:start] + piece * random.choice((70, 1000, 20_000)))[:LONGEST] + text[end:]

    def raw(self, examples: Sequence[str]) -> bytes:
        """Return a mutated text as UTF-8; a third of the results have changed bytes too."""
        raw = self.text(examples).encode(errors="surrogatepass")
        if raw and not self.random.randrange(3):
            changed = bytearray(raw)
            for _ in range(self.random.choice((1, 1, 3))):
                changed[self.random.randrange(len(changed))] = self.random.randrange(256)
            return bytes(changed)
        return raw

    def value(self, examples: Sequence[Any]) -> Any:
        """Return one of the JSON examples with up to four changed parts."""
        value = copy.deepcopy(self.random.choice(examples))
        for _ in range(self.random.choice((0, 1, 1, 2, 4))):
            value = self._part(value, examples)
        return value

    def _part(self, value: Any, examples: Sequence[Any]) -> Any:
        """Return the value with one part changed. It descends at random; a leaf is changed itself."""
        random = self.random
        if isinstance(value, dict) and value and random.randrange(8):
            return self._entry(value, examples)
        if isinstance(value, list) and value and random.randrange(8):
            place = random.randrange(len(value))
            if random.randrange(4):
                return [*value[:place], self._part(value[place], examples), *value[place + 1 :]]
            times = random.choice((2, 2, 120)) if len(repr(value)) < LONGEST // 120 else 1
            return random.choice(([*value, value[place]], value[:place], value * times))
        if isinstance(value, str) and random.randrange(3):
            return self.text([value])
        if type(value) is int and random.randrange(2):
            return value + random.choice((-1, 1, 2**31, 2**53, 2**64, -value, -2 * value))
        if not random.randrange(12):
            return self._nested(value)
        return random.choice(random.choice((VALUES, examples)))

    def _entry(self, value: Mapping[str, Any], examples: Sequence[Any]) -> dict[str, Any]:
        random, changed = self.random, dict(value)
        key = random.choice(list(changed))
        match random.randrange(8):
            case 0:
                del changed[key]
            case 1:
                changed[self.text([key])] = changed.pop(key)
            case 2:
                changed[random.choice(WORDS)] = random.choice(VALUES)
            case _:
                changed[key] = self._part(changed[key], examples)
        return changed

    def _nested(self, value: Any) -> Any:
        for _ in range(self.random.choice((1, 3, 61, 62, 63, 64, 65, 200))):
            value = [value] if self.random.randrange(2) else {"a": value}
        return value


def as_json(value: object) -> str:
    """Return the value as JSON with escapes, so that every character of a text survives."""
    return json.dumps(value)

"""The query language, read: terms such as ``agent:hotels``, and words. `queries` explains it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from mailbox.words import json_text
from mailbox.words.errors import InvalidRequestError

LONGEST = 500
TEXT = "text"  # the key of words, which a query may leave out
_TERM = re.compile(r'(-?)(?:([^\W\d][\w-]*):((?:"[^"]*"|\S)*)|"([^"]*)"|(\S+))')
_VALUE = r'(?:"[^"]*"|[^",]*)'
_VALUES = re.compile(f"{_VALUE}(?:,{_VALUE})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """The term ``key:value,value``, or its negation. ``values`` is never empty, and holds no value twice."""

    key: str
    values: tuple[str, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchWord:
    """A text that must occur, or must not. It is never empty."""

    text: str
    is_negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    terms: tuple[Term, ...] = ()
    words: tuple[SearchWord, ...] = ()

    def asks(self, text: str) -> bool:
        """Whether it has words, or terms of their key ``text``."""
        return bool(self.words) or any(term.key == text for term in self.terms)

    def excludes(self, text: str) -> bool:
        """Whether it has words that must not occur, also in terms of their key ``text``."""
        is_in_terms = any(term.is_negated for term in self.terms if term.key == text)
        return is_in_terms or any(word.is_negated for word in self.words)


def parse(text: str, known: Mapping[str, object]) -> Query:
    """Read a query; raise `InvalidRequestError`. ``known`` has the keys of the list. The case of a key is ignored."""
    if problem := json_text.problem_with(text):
        raise InvalidRequestError({"q": problem})
    if len(text) > LONGEST:
        raise InvalidRequestError({"q": f"The query is longer than {LONGEST} characters."})
    query = Query()
    for minus, key, values, words, word in _TERM.findall(text):
        if not key:
            query = replace(query, words=(*query.words, _word(words, word, is_negated=bool(minus))))
            continue
        if key.lower() not in known:
            raise InvalidRequestError({"q": f"Unknown key “{key[:50]}”. Available keys: {', '.join(known)}."})
        term = Term(key=key.lower(), values=_values(key, values), is_negated=bool(minus))
        query = replace(query, terms=(*query.terms, term))
    return query


def term(key: str, value: str) -> str:
    """Return the term that matches ``value``, or its beginning if the language cannot spell the value."""
    start, quote, _ = value.partition('"')
    longest = LONGEST - len(key) - 10
    if quote or len(start) > longest:
        return f'{key}:"{start[:longest]}*"'
    return f"{key}:{start}" if re.fullmatch(r"[^\s,]+", start) else f'{key}:"{start}"'


def chosen(text: str, key: str) -> str:
    """Return the one value that ``text`` asks of ``key``; "" without one, and for several."""
    asked = [found[3] for found in _asked(text, key)]
    values = _VALUES.fullmatch(asked[0]) and _values(key, asked[0]) if len(asked) == 1 and asked[0] else ()
    return values[0] if values and len(values) == 1 else ""


def without(text: str, key: str) -> str:
    """Return ``text`` without the terms that ask a value of ``key``. Their negations stay."""
    for found in reversed(_asked(text, key)):
        text = f"{text[: found.start()].rstrip()} {text[found.end() :].lstrip()}"
    return text.strip()


def asks_words(text: str) -> bool:
    """Whether ``text`` asks for words, without a key or with their key. Negations do not count."""
    return any(not found[1] and (found[2] or TEXT).lower() == TEXT for found in _TERM.finditer(text))


def _asked(text: str, key: str) -> list[re.Match[str]]:
    return [found for found in _TERM.finditer(text) if (found[2] or "").lower() == key and not found[1]]


def _values(key: str, text: str) -> tuple[str, ...]:
    if not _VALUES.fullmatch(text):
        raise _misquoted(text, f"{key}:{text}")
    values = tuple(value.strip('"') for value in re.findall(rf"(?:^|,)({_VALUE})", text))
    if not all(values):
        where = " on each side of a comma" if len(values) > 1 else ""
        raise InvalidRequestError({"q": f"{key}: needs a value{where}."})
    return tuple(dict.fromkeys(values))


def _word(quoted: str, plain: str, *, is_negated: bool) -> SearchWord:
    if '"' in plain:
        raise _misquoted(plain, plain)
    if not (text := quoted or plain):
        raise InvalidRequestError({"q": "The quotes are empty."})
    return SearchWord(text=text, is_negated=is_negated)


def _misquoted(value: str, whole: str) -> InvalidRequestError:
    if value.count('"') % 2:
        return InvalidRequestError({"q": f"Close the quotes in “{value[:50]}”."})
    return InvalidRequestError({"q": f"Put a comma or a space beside the quotes of “{whole[:50]}”."})

"""The terms of the query language: how they are parsed, and the values they take. `queries` explains the language.

The values are texts, ids, ages, numbers, names of agents and time ranges.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.db.models import Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from mailbox.models import Agent, RollUp
from mailbox.models.agent import AgentQuerySet
from mailbox.models.rollup import MINUTE
from mailbox.models.task import matching_id
from mailbox.words import json_text, times
from mailbox.words.errors import InvalidRequestError
from mailbox.words.ids import LEAST, IdPattern

_COMPARED = re.compile(r"(>=|<=|>|<)?(.+)", re.DOTALL)
LONGEST = 500
TEXT = "text"  # the key of words, which a query may leave out
_TERM = re.compile(r'(-?)(?:([^\W\d][\w-]*):((?:"[^"]*"|\S)*)|"([^"]*)"|(\S+))')
_VALUE = r'(?:"[^"]*"|[^",]*)'
_VALUES = re.compile(f"{_VALUE}(?:,{_VALUE})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The time and time zone that relative values refer to."""

    now: datetime
    stale_after: timedelta


Reading = Callable[[str, Moment], Q]


def text(field: str) -> Reading:
    """Read a text, or the beginning of one: ``book*``."""

    def read(value: str, _: Moment) -> Q:
        if value.endswith("*"):
            return Q(**{f"{field}__startswith": value[:-1]})
        return Q(**{field: value})

    return read


def occurs(*fields: str) -> Reading:
    """Read a text that occurs in one of the fields, in any case, in part of a word too."""

    def read(value: str, _: Moment) -> Q:
        any_of = Q()
        for field in fields:
            any_of |= Q(**{f"{field}__icontains": value})
        return any_of

    return read


def choice(field: str, known: Sequence[str]) -> Reading:
    """Read one of the words ``known``."""

    def read(value: str, _: Moment) -> Q:
        if value not in known:
            raise unknown(field, value, known)
        return Q(**{field: value})

    return read


def unknown(what: str, value: str, known: Iterable[str]) -> InvalidRequestError:
    """Return the error for a value that is none of the words ``known``."""
    return InvalidRequestError({"q": f"Unknown {what} “{value[:50]}”. Use one of: {', '.join(known)}."})


def either(first: str, second: str) -> Reading:
    """Read a text that one of two fields has."""

    def read(value: str, at: Moment) -> Q:
        return text(first)(value, at) | text(second)(value, at)

    return read


def agent(*fields: str) -> Reading:
    """Read an agent by its local part, by its display, or by the beginning of its display."""

    def read(value: str, _: Moment) -> Q:
        any_of = Q()
        for field in fields:
            if value.endswith("*"):
                any_of |= Q(**{f"{field}__in": _named(value).values("pk")})
            else:
                any_of |= Q(**({field: _pk_of(value)} if "@" in value else {f"{field}__local": value}))
        return any_of

    return read


def _named(name: str) -> AgentQuerySet:
    if name.endswith("*"):
        return Agent.objects.filter(display__startswith=name[:-1])
    return Agent.objects.filter(**{"display" if "@" in name else "local": name})


def _pk_of(display: str) -> Coalesce:
    """Return the primary key of the agent, 0 without one. A single value lets an index be read in order."""
    return Coalesce(Subquery(Agent.objects.filter(display=display).values("pk")[:1]), 0)


def pubkey(field: str) -> Reading:
    """Read the name of an agent, for a field that has only its public key."""

    def read(value: str, _: Moment) -> Q:
        return Q(**{f"{field}__in": _named(value).values("pubkey")})

    return read


def uuid(field: str) -> Reading:
    """Read an id in full, its first characters, or both of its ends."""

    def read(value: str, _: Moment) -> Q:
        if (pattern := IdPattern.parse(value)) is None:
            raise InvalidRequestError(
                {"q": f"“{value[:50]}” isn't an ID. Use the full ID or at least its first {LEAST} characters."}
            )
        return matching_id(field, pattern)

    return read


def since(field: str, mark: str = "") -> Reading:
    """Read an age: ``>10m`` is older, ``<10m`` or ``10m`` is younger.

    ``mark`` of the roll-ups bounds the rows to read.
    """

    def read(value: str, at: Moment) -> Q:
        sign, rest = _compared(value)
        span = times.parse(rest)
        if span is None:
            raise InvalidRequestError({"q": f"“{value[:50]}” isn't a duration. Examples: >90s, <5m, 2h, 1d."})
        moment, is_older = at.now - span, sign.startswith(">")
        condition = Q(**{f"{field}__{'lte' if is_older else 'gt'}": moment})
        if mark and is_older:
            return condition & Q(pk__lte=RollUp.objects.mark_after(moment + MINUTE, mark))
        return condition & Q(pk__gt=RollUp.objects.mark_before(moment, mark)) if mark else condition

    return read


def number(field: str) -> Reading:
    """Read a number, or a bound: ``>3``, ``<=3``."""

    def read(value: str, _: Moment) -> Q:
        sign, rest = _compared(value)
        if not rest.isdecimal() or len(rest) > 9:
            raise InvalidRequestError({"q": f"“{value[:50]}” isn't a number for {field}."})
        lookups = {">": "__gt", ">=": "__gte", "<": "__lt", "<=": "__lte", "": ""}
        return Q(**{f"{field}{lookups[sign]}": int(rest)})

    return read


def moments(value: str, now: datetime) -> tuple[datetime, datetime | None]:
    """Read a time range, in the person's time zone; raise `InvalidRequestError`."""
    span = times.parse_range(value, timezone.localtime(now))
    if span is None:
        examples = "02:14..02:15, 2026-01-31T02:14..2026-01-31T03:00, 02:14.."
        raise InvalidRequestError({"q": f"“{value[:50]}” isn't a time range. Examples: {examples}"})
    return span


def _compared(value: str) -> tuple[str, str]:
    match = _COMPARED.fullmatch(value)
    return (match[1] or "", match[2]) if match else ("", value)


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
    texts = [found[3] for found in _terms_of(text, key)]
    values = _VALUES.fullmatch(texts[0]) and _values(key, texts[0]) if len(texts) == 1 and texts[0] else ()
    return values[0] if values and len(values) == 1 else ""


def without(text: str, key: str) -> str:
    """Return ``text`` without the terms that ask a value of ``key``. Their negations stay."""
    for found in reversed(_terms_of(text, key)):
        text = f"{text[: found.start()].rstrip()} {text[found.end() :].lstrip()}"
    return text.strip()


def asks_words(text: str) -> bool:
    """Whether ``text`` asks for words, without a key or with their key. Negations do not count."""
    return any(not found[1] and (found[2] or TEXT).lower() == TEXT for found in _TERM.finditer(text))


def _terms_of(text: str, key: str) -> list[re.Match[str]]:
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

"""The values of the query language: texts, ids, ages, numbers, names of agents, time ranges."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from mailbox.models import Agent, RollUp
from mailbox.models.agent import AgentQuerySet
from mailbox.models.ids import matching
from mailbox.models.rollup import MINUTE
from mailbox.words import times
from mailbox.words.errors import InvalidRequestError
from mailbox.words.ids import LEAST, IdPattern

_COMPARED = re.compile(r"(>=|<=|>|<)?(.+)", re.DOTALL)


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


def one_of(field: str, known: Sequence[str]) -> Reading:
    """Read one of the words ``known``."""

    def read(value: str, _: Moment) -> Q:
        if value not in known:
            raise InvalidRequestError({"q": f"Unknown {field} “{value[:50]}”. Use one of: {', '.join(known)}."})
        return Q(**{field: value})

    return read


def either(one: str, other: str) -> Reading:
    """Read a text that one of two fields has."""

    def read(value: str, at: Moment) -> Q:
        return text(one)(value, at) | text(other)(value, at)

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
        return matching(field, pattern)

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
        found = Q(**{f"{field}__{'lte' if is_older else 'gt'}": moment})
        if mark and is_older:
            return found & Q(pk__lte=RollUp.objects.mark_after(moment + MINUTE, mark))
        return found & Q(pk__gt=RollUp.objects.mark_before(moment, mark)) if mark else found

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
    found = times.parse_range(value, timezone.localtime(now))
    if found is None:
        examples = "02:14..02:15, 2026-01-31T02:14..2026-01-31T03:00, 02:14.."
        raise InvalidRequestError({"q": f"“{value[:50]}” isn't a time range. Examples: {examples}"})
    return found


def _compared(value: str) -> tuple[str, str]:
    match = _COMPARED.fullmatch(value)
    return (match[1] or "", match[2]) if match else ("", value)

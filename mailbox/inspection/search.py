"""The query language of lists: ``agent:hotels state:stale key:inv-* age:>10m -to:writer "some words"``.

``key:value`` terms narrow one after the other, a comma means or, a leading minus not, a trailing * any end.
Free words are looked for in the newest tasks only. Whatever is none of these is refused, never passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.db.models import Q

from mailbox.inspection.search_keys import (
    AGENT_KEYS,
    DELIVERY_KEYS,
    EVENT_KEYS,
    LEASE_KEYS,
    PLAN_KEYS,
    REPLAY_KEYS,
    RESULT_KEYS,
    SCAN_KEYS,
    TASK_KEYS,
)
from mailbox.inspection.search_values import Moment, Reading
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, RepairPlan, ReplayEntry, Result, Task
from mailbox.models.agent import AgentQuerySet
from mailbox.models.audit import AuditEventQuerySet
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.push import PushDeliveryQuerySet
from mailbox.models.repair_plan import RepairPlanQuerySet
from mailbox.models.replay_entry import ReplayEntryQuerySet
from mailbox.models.result import ResultQuerySet
from mailbox.models.task import TaskQuerySet
from mailbox.words import json_text
from mailbox.words.errors import InvalidRequestError

__all__ = [
    "AGENT_KEYS",
    "DELIVERY_KEYS",
    "EVENT_KEYS",
    "LEASE_KEYS",
    "PLAN_KEYS",
    "REPLAY_KEYS",
    "RESULT_KEYS",
    "SCAN_KEYS",
    "TASK_KEYS",
    "WORDS_AMONG",
    "Moment",
    "agents",
    "attempts",
    "deliveries",
    "events",
    "leases",
    "parse",
    "plans",
    "replay_entries",
    "results",
    "scans",
    "tasks",
    "term",
]

WORDS_AMONG = 10_000  # the newest tasks, or the oldest leases, that free words are looked for in
LONGEST = 500
_TERM = re.compile(r'(-?)(?:([^\W\d][\w-]*):((?:"[^"]*"|\S)*)|"([^"]*)"|(\S+))')
_VALUE = r'(?:"[^"]*"|[^",]*)'
_VALUES = re.compile(f"{_VALUE}(?:,{_VALUE})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """``key:value,value``, or the opposite; ``values`` is never empty."""

    key: str
    values: tuple[str, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchWord:
    """Some text that is looked for, or that must not be there; never empty."""

    text: str
    is_negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    terms: tuple[Term, ...] = ()
    words: tuple[SearchWord, ...] = ()


def parse(text: str, known: Mapping[str, object]) -> Query:
    """Read a query; raise `InvalidRequestError` that names an unknown key and those there are.

    Keys are known in whatever case.
    """
    if problem := json_text.problem_with(text):
        raise InvalidRequestError({"q": problem})
    if len(text) > LONGEST:
        raise InvalidRequestError({"q": f"longer than {LONGEST} characters"})
    query = Query()
    for minus, key, values, words, word in _TERM.findall(text):
        if not key:
            query = replace(query, words=(*query.words, _word(words, word, is_negated=bool(minus))))
            continue
        if key.lower() not in known:
            there_is = ", ".join(f"{one}:" for one in known)
            raise InvalidRequestError({"q": f'there is no "{key[:50]}:"; there is {there_is}'})
        term = Term(key=key.lower(), values=_values(key, values), is_negated=bool(minus))
        query = replace(query, terms=(*query.terms, term))
    return query


def _values(key: str, text: str) -> tuple[str, ...]:
    if not _VALUES.fullmatch(text):
        raise _misquoted(text, f"{key}:{text}")
    values = tuple(value.strip('"') for value in re.findall(rf"(?:^|,)({_VALUE})", text))
    if not all(values):
        where = " on each side of a comma" if len(values) > 1 else ""
        raise InvalidRequestError({"q": f"{key}: needs a value{where}"})
    return values


def _word(quoted: str, plain: str, *, is_negated: bool) -> SearchWord:
    if '"' in plain:
        raise _misquoted(plain, plain)
    if not (text := quoted or plain):
        raise InvalidRequestError({"q": "nothing stands between the quotes"})
    return SearchWord(text=text, is_negated=is_negated)


def _misquoted(value: str, whole: str) -> InvalidRequestError:
    if value.count('"') % 2:
        return InvalidRequestError({"q": f'close the quotes: "{value[:50]}" has one mark alone'})
    return InvalidRequestError({"q": f"put a comma or a space beside the quotes of {whole[:50]}"})


def tasks(text: str, at: Moment) -> TaskQuerySet:
    """Return the tasks that fit; raise `InvalidRequestError` saying what does not make sense."""
    query = parse(text, TASK_KEYS)
    found = Task.objects.filter(_all(query, TASK_KEYS, at))
    if query.words:
        found = found.filter(pk__in=Task.objects.order_by("-pk").values("pk")[:WORDS_AMONG])
        found = found.filter(_worded(query, "intent_text"))
    return found


def leases(text: str, at: Moment) -> LeaseQuerySet:
    """Return the live leases that fit; raise `InvalidRequestError` saying what does not make sense."""
    return _leases(text, at, Lease.objects.live().order_by("leased_at"))


def attempts(text: str, at: Moment) -> LeaseQuerySet:
    """Return the leases that fit, ended ones too; raise `InvalidRequestError` saying what does not make sense."""
    return _leases(text, at, Lease.objects.order_by("-pk"))


def results(text: str, at: Moment) -> ResultQuerySet:
    """Return the results that fit; raise `InvalidRequestError` saying what does not make sense."""
    return Result.objects.filter(_keys_alone(text, RESULT_KEYS, at))


def agents(text: str, at: Moment) -> AgentQuerySet:
    """Return the agents that fit, free words as parts of their names; raise `InvalidRequestError`."""
    query = parse(text, AGENT_KEYS)
    return Agent.objects.filter(_all(query, AGENT_KEYS, at), _worded(query, "display"))


def scans(text: str, at: Moment) -> AuditEventQuerySet:
    """Return the passes of the retry gate that fit; raise `InvalidRequestError` saying what does not make sense."""
    return AuditEvent.objects.scans().filter(_keys_alone(text, SCAN_KEYS, at))


def events(text: str, at: Moment) -> AuditEventQuerySet:
    """Return the journal rows that fit; raise `InvalidRequestError` saying what does not make sense."""
    return AuditEvent.objects.filter(_keys_alone(text, EVENT_KEYS, at))


def plans(text: str, at: Moment) -> RepairPlanQuerySet:
    """Return the plans of repairs that fit; raise `InvalidRequestError` saying what does not make sense."""
    return RepairPlan.objects.filter(_keys_alone(text, PLAN_KEYS, at))


def replay_entries(text: str, at: Moment) -> ReplayEntryQuerySet:
    """Return the cached results that fit; raise `InvalidRequestError` saying what does not make sense."""
    return ReplayEntry.objects.filter(_keys_alone(text, REPLAY_KEYS, at))


def deliveries(text: str, at: Moment) -> PushDeliveryQuerySet:
    """Return the callbacks that fit; raise `InvalidRequestError` saying what does not make sense."""
    return PushDelivery.objects.filter(_keys_alone(text, DELIVERY_KEYS, at))


def term(key: str, value: str) -> str:
    """Write the term that finds ``value``; where the language cannot spell it, all that begin like it."""
    start, quote, _ = value.partition('"')
    longest = LONGEST - len(key) - 10
    if quote or len(start) > longest:
        return f'{key}:"{start[:longest]}*"'
    return f"{key}:{start}" if re.fullmatch(r"[^\s,]+", start) else f'{key}:"{start}"'


def _leases(text: str, at: Moment, among: LeaseQuerySet) -> LeaseQuerySet:
    """Return what fits of ``among``, in whose order free words are looked for."""
    query = parse(text, LEASE_KEYS)
    found = among.order_by().filter(_all(query, LEASE_KEYS, at))
    if query.words:
        found = found.filter(_worded(query, "task__intent_text"), pk__in=among.values("pk")[:WORDS_AMONG])
    return found


def _worded(query: Query, field: str) -> Q:
    every = Q()
    for word in query.words:
        has = Q(**{f"{field}__icontains": word.text})
        every &= ~has if word.is_negated else has
    return every


def _keys_alone(text: str, known: Mapping[str, Reading], at: Moment) -> Q:
    query = parse(text, known)
    if query.words:
        raise InvalidRequestError({"q": f"write key:value; there is {', '.join(f'{one}:' for one in known)}"})
    return _all(query, known, at)


def _all(query: Query, known: Mapping[str, Reading], at: Moment) -> Q:
    every = Q()
    for term in query.terms:
        any_of = Q()
        for value in term.values:
            any_of |= known[term.key](value, at)
        every &= ~any_of if term.is_negated else any_of
    return every

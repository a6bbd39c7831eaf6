"""The query language of lists: ``agent:hotels state:stale key:inv-* age:>10m -to:writer "some words"``.

``key:value`` terms narrow one after the other, a comma means or, a leading minus not, a trailing * any end.
Free words are looked for in the newest tasks only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.db.models import Q

from mailbox import json_text
from mailbox.errors import InvalidRequestError
from mailbox.models import AuditEvent, Lease, PushDelivery, RepairPlan, ReplayEntry, Task
from mailbox.models.audit import AuditEventQuerySet
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.push import PushDeliveryQuerySet
from mailbox.models.repair_plan import RepairPlanQuerySet
from mailbox.models.replay_entry import ReplayEntryQuerySet
from mailbox.models.task import TaskQuerySet
from mailbox.readings import Moment, Reading
from mailbox.search_keys import (
    DELIVERY_KEYS,
    EVENT_KEYS,
    LEASE_KEYS,
    PLAN_KEYS,
    REPLAY_KEYS,
    TASK_KEYS,
)

__all__ = [
    "DELIVERY_KEYS",
    "EVENT_KEYS",
    "LEASE_KEYS",
    "PLAN_KEYS",
    "REPLAY_KEYS",
    "TASK_KEYS",
    "WORDS_AMONG",
    "Moment",
    "deliveries",
    "events",
    "leases",
    "parse",
    "plans",
    "replay_entries",
    "tasks",
    "term",
]

WORDS_AMONG = 10_000  # the newest tasks, or the oldest leases, that free words are looked for in
LONGEST = 500
_TERM = re.compile(r'(-?)([a-z]+):(?:"([^"]*)"|(\S+))|"([^"]*)"|(\S+)')


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """``key:value,value``, or the opposite; ``values`` is never empty."""

    key: str
    values: tuple[str, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    terms: tuple[Term, ...] = ()
    words: tuple[str, ...] = ()


def parse(text: str, known: Mapping[str, object]) -> Query:
    """Read a query; raise `InvalidRequestError` that names an unknown key and those there are."""
    if problem := json_text.problem_with(text):
        raise InvalidRequestError({"q": problem})
    if len(text) > LONGEST:
        raise InvalidRequestError({"q": f"longer than {LONGEST} characters"})
    query = Query()
    for minus, key, quoted, plain, words, word in _TERM.findall(text):
        if not key:
            query = replace(query, words=(*query.words, words or word))
            continue
        if key not in known:
            raise InvalidRequestError({"q": f'there is no "{key}:"; there is {", ".join(f"{one}:" for one in known)}'})
        values = (quoted,) if quoted else tuple(filter(None, plain.split(",")))
        if not values:
            raise InvalidRequestError({"q": f"{key}: needs a value"})
        query = replace(query, terms=(*query.terms, Term(key=key, values=values, is_negated=bool(minus))))
    return query


def tasks(text: str, at: Moment) -> TaskQuerySet:
    """Return the tasks that fit; raise `InvalidRequestError` saying what does not make sense."""
    query = parse(text, TASK_KEYS)
    found = Task.objects.filter(_all(query, TASK_KEYS, at))
    if query.words:
        found = found.filter(pk__in=Task.objects.order_by("-pk").values("pk")[:WORDS_AMONG])
        for word in query.words:
            found = found.filter(intent_text__icontains=word)
    return found


def leases(text: str, at: Moment) -> LeaseQuerySet:
    """Return the live leases that fit; raise `InvalidRequestError` saying what does not make sense."""
    query = parse(text, LEASE_KEYS)
    found = Lease.objects.live().filter(_all(query, LEASE_KEYS, at))
    if query.words:
        found = found.filter(pk__in=Lease.objects.live().order_by("leased_at").values("pk")[:WORDS_AMONG])
        for word in query.words:
            found = found.filter(task__intent_text__icontains=word)
    return found


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

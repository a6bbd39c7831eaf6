"""The query language of lists: ``agent:hotels state:stale key:inv-* age:>10m -to:writer "some words"``.

A ``key:value`` term narrows the list. A comma means or, a leading minus means not, a trailing ``*`` means any ending.
Other words are searched in the texts of the newest tasks only. An unknown key or an invalid value is an error.
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
    SPOKEN_KEYS,
    TASK_KEYS,
)
from mailbox.inspection.search_values import Moment, Reading
from mailbox.models import (
    Agent,
    Artifact,
    AuditEvent,
    Lease,
    Message,
    PushDelivery,
    RepairPlan,
    ReplayEntry,
    Result,
    Task,
)
from mailbox.models.agent import AgentQuerySet
from mailbox.models.artifact import ArtifactQuerySet
from mailbox.models.audit import AuditEventQuerySet
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.message import MessageQuerySet
from mailbox.models.push import PushDeliveryQuerySet
from mailbox.models.repair_plan import RepairPlanQuerySet
from mailbox.models.replay_entry import ReplayEntryQuerySet
from mailbox.models.result import ResultQuerySet
from mailbox.models.task_queries import TaskQuerySet
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
    "artifacts",
    "attempts",
    "deliveries",
    "events",
    "leases",
    "messages",
    "parse",
    "plans",
    "replay_entries",
    "results",
    "scans",
    "tasks",
    "term",
]

WORDS_AMONG = 10_000  # tasks or leases in which words are searched: the newest tasks, the oldest leases
LONGEST = 500
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


def parse(text: str, known: Mapping[str, object]) -> Query:
    """Read a query; raise `InvalidRequestError`. ``known`` has the keys of the list. The case of a key is ignored."""
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
            keys = ", ".join(f"{name}:" for name in known)
            raise InvalidRequestError({"q": f'unknown key "{key[:50]}:"; known keys: {keys}'})
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
    return tuple(dict.fromkeys(values))


def _word(quoted: str, plain: str, *, is_negated: bool) -> SearchWord:
    if '"' in plain:
        raise _misquoted(plain, plain)
    if not (text := quoted or plain):
        raise InvalidRequestError({"q": "the quotes are empty"})
    return SearchWord(text=text, is_negated=is_negated)


def _misquoted(value: str, whole: str) -> InvalidRequestError:
    if value.count('"') % 2:
        return InvalidRequestError({"q": f'close the quotes: "{value[:50]}" has one mark alone'})
    return InvalidRequestError({"q": f"put a comma or a space beside the quotes of {whole[:50]}"})


def tasks(text: str, at: Moment) -> TaskQuerySet:
    """Return the tasks that match; raise `InvalidRequestError` for an invalid query."""
    query = parse(text, TASK_KEYS)
    found = Task.objects.filter(_all(query, TASK_KEYS, at))
    if query.words:
        found = found.filter(pk__in=Task.objects.order_by("-pk").values("pk")[:WORDS_AMONG])
        found = found.filter(_worded(query, "intent_text"))
    return found


def leases(text: str, at: Moment) -> LeaseQuerySet:
    """Return the live leases that match; raise `InvalidRequestError` for an invalid query."""
    return _leases(text, at, Lease.objects.live().order_by("leased_at"))


def attempts(text: str, at: Moment) -> LeaseQuerySet:
    """Return the leases that match, live or ended; raise `InvalidRequestError` for an invalid query."""
    return _leases(text, at, Lease.objects.order_by("-pk"))


def messages(text: str, at: Moment) -> MessageQuerySet:
    """Return the messages that match; raise `InvalidRequestError` for an invalid query."""
    return Message.objects.filter(_keys_alone(text, SPOKEN_KEYS, at))


def artifacts(text: str, at: Moment) -> ArtifactQuerySet:
    """Return the rows of artifacts that match; raise `InvalidRequestError` for an invalid query."""
    return Artifact.objects.filter(_keys_alone(text, SPOKEN_KEYS, at))


def results(text: str, at: Moment) -> ResultQuerySet:
    """Return the results that match; raise `InvalidRequestError` for an invalid query."""
    return Result.objects.filter(_keys_alone(text, RESULT_KEYS, at))


def agents(text: str, at: Moment) -> AgentQuerySet:
    """Return the agents that match, by words in their names too; raise `InvalidRequestError` for an invalid query."""
    query = parse(text, AGENT_KEYS)
    return Agent.objects.filter(_all(query, AGENT_KEYS, at), _worded(query, "display"))


def scans(text: str, at: Moment) -> AuditEventQuerySet:
    """Return the passes of the retry gate that match; raise `InvalidRequestError` for an invalid query."""
    return AuditEvent.objects.scans().filter(_keys_alone(text, SCAN_KEYS, at))


def events(text: str, at: Moment) -> AuditEventQuerySet:
    """Return the journal rows that match; raise `InvalidRequestError` for an invalid query."""
    return AuditEvent.objects.filter(_keys_alone(text, EVENT_KEYS, at))


def plans(text: str, at: Moment) -> RepairPlanQuerySet:
    """Return the plans that match; raise `InvalidRequestError` for an invalid query."""
    return RepairPlan.objects.filter(_keys_alone(text, PLAN_KEYS, at))


def replay_entries(text: str, at: Moment) -> ReplayEntryQuerySet:
    """Return the cached results that match; raise `InvalidRequestError` for an invalid query."""
    return ReplayEntry.objects.filter(_keys_alone(text, REPLAY_KEYS, at))


def deliveries(text: str, at: Moment) -> PushDeliveryQuerySet:
    """Return the callbacks that match; raise `InvalidRequestError` for an invalid query."""
    return PushDelivery.objects.filter(_keys_alone(text, DELIVERY_KEYS, at))


def term(key: str, value: str) -> str:
    """Return the term that matches ``value``, or its beginning if the language cannot spell the value."""
    start, quote, _ = value.partition('"')
    longest = LONGEST - len(key) - 10
    if quote or len(start) > longest:
        return f'{key}:"{start[:longest]}*"'
    return f"{key}:{start}" if re.fullmatch(r"[^\s,]+", start) else f'{key}:"{start}"'


def _leases(text: str, at: Moment, among: LeaseQuerySet) -> LeaseQuerySet:
    """Return the leases of ``among`` that match. Words are searched in the first of them, in their order."""
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
        raise InvalidRequestError({"q": f"write key:value; known keys: {', '.join(f'{name}:' for name in known)}"})
    return _all(query, known, at)


def _all(query: Query, known: Mapping[str, Reading], at: Moment) -> Q:
    every = Q()
    for term in query.terms:
        any_of = Q()
        for value in term.values:
            any_of |= known[term.key](value, at)
        every &= ~any_of if term.is_negated else any_of
    return every

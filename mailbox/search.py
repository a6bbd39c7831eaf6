"""The query language of lists: ``agent:hotels state:stale key:inv-* age:>10m -to:writer "some words"``.

``key:value`` terms narrow one after the other, a comma means or, a leading minus not, a trailing * any end.
Free words are looked for in the newest tasks only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q

from mailbox import spans
from mailbox.envelopes import DuplicateSafety
from mailbox.errors import InvalidRequestError
from mailbox.models import Agent, AuditEvent, Lease, ReplayEntry, Task
from mailbox.models.audit import AuditEventQuerySet
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.replay_entry import ReplayEntryQuerySet
from mailbox.models.task import TaskQuerySet

WORDS_AMONG = 10_000  # the newest tasks, or the oldest leases, that free words are looked for in
LONGEST = 500
_TERM = re.compile(r'(-?)([a-z]+):(?:"([^"]*)"|(\S+))|"([^"]*)"|(\S+)')
_COMPARED = re.compile(r"(>=|<=|>|<)?(.+)", re.DOTALL)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What relative values are relative to."""

    now: datetime
    stale_after: timedelta


Reading = Callable[[str, Moment], Q]


def parse(text: str, known: Mapping[str, object]) -> Query:
    """Read a query; raise `InvalidRequestError` that names an unknown key and those there are."""
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


def replay_entries(text: str, at: Moment) -> ReplayEntryQuerySet:
    """Return the cached results that fit; raise `InvalidRequestError` saying what does not make sense."""
    return ReplayEntry.objects.filter(_keys_alone(text, REPLAY_KEYS, at))


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


def _text(field: str) -> Reading:
    def read(value: str, _: Moment) -> Q:
        if value.endswith("*"):
            return Q(**{f"{field}__startswith": value[:-1]})
        return Q(**{field: value})

    return read


def _agent(*fields: str) -> Reading:
    def read(value: str, _: Moment) -> Q:
        part = "display" if "@" in value else "local"
        any_of = Q()
        for field in fields:
            any_of |= Q(**{f"{field}__{part}": value})
        return any_of

    return read


def _pubkey(field: str) -> Reading:
    """Read the name of an agent, where only its key is kept."""

    def read(value: str, _: Moment) -> Q:
        named = Agent.objects.filter(**{"display" if "@" in value else "local": value})
        return Q(**{f"{field}__in": named.values("pubkey")})

    return read


def _uuid(field: str) -> Reading:
    def read(value: str, _: Moment) -> Q:
        try:
            return Q(**{field: UUID(value)})
        except ValueError as error:
            raise InvalidRequestError({"q": f'"{value[:50]}" is no id'}) from error

    return read


def _since(field: str) -> Reading:
    """Age: ``>10m`` is older, ``<10m`` or plain ``10m`` younger."""

    def read(value: str, at: Moment) -> Q:
        sign, rest = _compared(value)
        span = spans.parse(rest)
        if span is None:
            raise InvalidRequestError({"q": f'"{value[:50]}" is no age; write >90s, <5m, 2h or 1d'})
        return Q(**{f"{field}__{'lte' if sign.startswith('>') else 'gt'}": at.now - span})

    return read


def _attempt(value: str, _: Moment) -> Q:
    sign, rest = _compared(value)
    if not rest.isdecimal() or len(rest) > 9:
        raise InvalidRequestError({"q": f'attempt: needs a number, not "{value[:50]}"'})
    lookups = {">": "__gt", ">=": "__gte", "<": "__lt", "<=": "__lte", "": ""}
    return Q(**{f"attempt{lookups[sign]}": int(rest)})


def _compared(value: str) -> tuple[str, str]:
    match = _COMPARED.fullmatch(value)
    return (match[1] or "", match[2]) if match else ("", value)


def _state(value: str, at: Moment) -> Q:
    if value == "stale":
        return Q(leases__ended_at=None, leases__leased_at__lte=at.now - at.stale_after, state=Task.State.IN_FLIGHT)
    if value == "waiting":
        return Q(waits_on__isnull=False)
    if value in Task.State.values:
        return Q(state=value)
    if value in Task.Outcome.values:
        return Q(outcome=value)
    words = ", ".join([*Task.State.values, "stale", "waiting", *Task.Outcome.values])
    raise InvalidRequestError({"q": f'there is no state "{value[:50]}"; there is {words}'})


def _lease_state(value: str, at: Moment) -> Q:
    if value not in ("stale", "in_flight"):
        raise InvalidRequestError({"q": f'there is no state "{value[:50]}" of a live lease; there is stale, in_flight'})
    return Q(leased_at__lte=at.now - at.stale_after) if value == "stale" else Q(ended_at=None)


def _safety(field: str) -> Reading:
    def read(value: str, _: Moment) -> Q:
        if value not in list(DuplicateSafety):
            raise InvalidRequestError({"q": f"safety: is {' or '.join(DuplicateSafety)}"})
        return Q(**{f"{field}__isnull": value != DuplicateSafety.IDEMPOTENT})

    return read


TASK_KEYS: Mapping[str, Reading] = {
    "state": _state,
    "agent": _agent("sender", "recipient"),
    "from": _agent("sender"),
    "to": _agent("recipient"),
    "key": _text("idempotency_key"),
    "kind": _text("task_kind"),
    "safety": _safety("cache_key"),
    "age": _since("sent_at"),
    "attempt": _attempt,
    "id": _uuid("uuid"),
    "parent": _uuid("parent"),
    "source": _text("source"),
    "context": _text("context_id"),
}
LEASE_KEYS: Mapping[str, Reading] = {
    "state": _lease_state,
    "agent": _agent("holder"),
    "from": _agent("task__sender"),
    "to": _agent("task__recipient"),
    "key": _text("task__idempotency_key"),
    "kind": _text("task__task_kind"),
    "safety": _safety("task__cache_key"),
    "age": _since("leased_at"),
    "attempt": _attempt,
    "id": _uuid("lease_id"),
    "task": _uuid("task__uuid"),
}
EVENT_KEYS: Mapping[str, Reading] = {
    "kind": _text("kind"),
    "actor": _text("actor"),
    "task": _uuid("task_id"),
    "since": _since("at"),
    "source": _text("source"),
    "request": _text("request_id"),
}
REPLAY_KEYS: Mapping[str, Reading] = {
    "sender": _pubkey("sender_pubkey"),
    "recipient": _pubkey("recipient_pubkey"),
    "key": _text("key"),
    "kind": _text("task_kind"),
    "status": _text("status"),
    "source": _uuid("source_task_id"),
    "age": _since("stored_at"),
    "hit": _since("last_hit_at"),
}

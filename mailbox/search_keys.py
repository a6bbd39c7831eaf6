"""What each key of the query language means, for each list it searches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from mailbox import spans
from mailbox.envelopes import DuplicateSafety
from mailbox.errors import InvalidRequestError
from mailbox.kinds import FREQUENT
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, RepairPlan, Result, RollUp, Task
from mailbox.models.rollup import MINUTE

_COMPARED = re.compile(r"(>=|<=|>|<)?(.+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What relative values are relative to."""

    now: datetime
    stale_after: timedelta


Reading = Callable[[str, Moment], Q]


def _text(field: str) -> Reading:
    def read(value: str, _: Moment) -> Q:
        if value.endswith("*"):
            return Q(**{f"{field}__startswith": value[:-1]})
        return Q(**{field: value})

    return read


def _one_of(field: str, known: Sequence[str]) -> Reading:
    def read(value: str, _: Moment) -> Q:
        if value not in known:
            raise InvalidRequestError({"q": f'{field}: is one of {", ".join(known)}, not "{value[:50]}"'})
        return Q(**{field: value})

    return read


def _either(one: str, other: str) -> Reading:
    def read(value: str, at: Moment) -> Q:
        return _text(one)(value, at) | _text(other)(value, at)

    return read


def _agent(*fields: str) -> Reading:
    def read(value: str, _: Moment) -> Q:
        any_of = Q()
        for field in fields:
            any_of |= Q(**({field: _pk_of(value)} if "@" in value else {f"{field}__local": value}))
        return any_of

    return read


def _pk_of(display: str) -> Coalesce:
    """Return the agent's key as one value, by which an index can be walked in order; 0 for none."""
    return Coalesce(Subquery(Agent.objects.filter(display=display).values("pk")[:1]), 0)


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


def _since(field: str, mark: str = "") -> Reading:
    """Age: ``>10m`` is older, ``<10m`` or plain ``10m`` younger. ``mark`` of the roll-ups bounds the keys to look at."""

    def read(value: str, at: Moment) -> Q:
        sign, rest = _compared(value)
        span = spans.parse(rest)
        if span is None:
            raise InvalidRequestError({"q": f'"{value[:50]}" is no age; write >90s, <5m, 2h or 1d'})
        moment, is_older = at.now - span, sign.startswith(">")
        found = Q(**{f"{field}__{'lte' if is_older else 'gt'}": moment})
        if mark and is_older:
            return found & Q(pk__lte=RollUp.objects.mark_after(moment + MINUTE, mark))
        return found & Q(pk__gt=RollUp.objects.mark_before(moment, mark)) if mark else found

    return read


def _actor(value: str, at: Moment) -> Q:
    """Read who did it. Only the names of agents have an @, and only they have keys."""
    found = _text("actor")(value, at)
    if "@" in value:
        key = Subquery(Agent.objects.filter(display=value).values("pubkey")[:1])
        return found & (Q(actor_pubkey=key) | Q(actor_pubkey=None))
    return found if value.endswith("*") and ":" not in value else found & Q(actor_pubkey=None)


def _source(value: str, at: Moment) -> Q:
    """Read the door a decision came through; that it is not the API's is said too, which has no index."""
    found = _text("source")(value, at)
    is_usual = "*" in value or value == AuditEvent.Source.API
    return found if is_usual else found & ~Q(source=AuditEvent.Source.API.value)


def _kind(value: str, at: Moment) -> Q:
    """Read the kind of a journal row. That it is none of the frequent ones is said too: those have no index."""
    found = _text("kind")(value, at)
    is_frequent = any(kind == value or (value.endswith("*") and kind.startswith(value[:-1])) for kind in FREQUENT)
    return found if is_frequent else found & ~Q(kind__in=[kind.value for kind in FREQUENT])


def _number(field: str) -> Reading:
    def read(value: str, _: Moment) -> Q:
        sign, rest = _compared(value)
        if not rest.isdecimal() or len(rest) > 9:
            raise InvalidRequestError({"q": f'{field}: needs a number, not "{value[:50]}"'})
        lookups = {">": "__gt", ">=": "__gte", "<": "__lt", "<=": "__lte", "": ""}
        return Q(**{f"{field}{lookups[sign]}": int(rest)})

    return read


def _finished(value: str, at: Moment) -> Q:
    """Read the range of time in which the result was posted, such as ``02:14..02:15``."""
    return Q(pk__in=Result.objects.posted_between(*moments(value, at.now)).values("task"))


def moments(value: str, now: datetime) -> tuple[datetime, datetime | None]:
    """Read a range of time, in the person's zone; raise `InvalidRequestError` where it is none."""
    found = spans.parse_range(value, timezone.localtime(now))
    if found is None:
        example = "02:14..02:15, 2026-01-31T02:14..2026-01-31T03:00 or 02:14.."
        raise InvalidRequestError({"q": f'"{value[:50]}" is no range of time; write {example}'})
    return found


def _compared(value: str) -> tuple[str, str]:
    match = _COMPARED.fullmatch(value)
    return (match[1] or "", match[2]) if match else ("", value)


def _state(value: str, at: Moment) -> Q:
    if value in ("stale", Task.State.IN_FLIGHT):
        live = Lease.objects.stale(at.now, at.stale_after) if value == "stale" else Lease.objects.live()
        return Q(pk__in=live.values("task"))
    if value == "waiting":
        return Q(waits_on__isnull=False)
    if value in Task.State.values:
        return Q(state=value)
    if value in Task.Outcome.values:
        # The index leaves out the usual end; SQLite knows that the others have one only when it is told.
        return Q(outcome=value) if value == Task.Outcome.OK else Q(outcome=value) & ~Q(outcome=Task.Outcome.OK.value)
    words = ", ".join([*Task.State.values, "stale", "waiting", *Task.Outcome.values])
    raise InvalidRequestError({"q": f'there is no state "{value[:50]}"; there is {words}'})


def _lease_state(value: str, at: Moment) -> Q:
    if value not in ("stale", "in_flight"):
        raise InvalidRequestError({"q": f'there is no state "{value[:50]}" of a live lease; there is stale, in_flight'})
    return Q(leased_at__lte=at.now - at.stale_after) if value == "stale" else Q(ended_at=None)


def _delivery_state(value: str, _: Moment) -> Q:
    if value not in PushDelivery.State.values:
        words = ", ".join(PushDelivery.State.values)
        raise InvalidRequestError({"q": f'there is no state "{value[:50]}" of a callback; there is {words}'})
    return Q(state=value)


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
    "age": _since("sent_at", "last_task"),
    "finished": _finished,
    "attempt": _number("attempt"),
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
    "attempt": _number("attempt"),
    "id": _uuid("lease_id"),
    "task": _uuid("task__uuid"),
}
EVENT_KEYS: Mapping[str, Reading] = {
    "kind": _kind,
    "actor": _actor,
    "task": _uuid("task_id"),
    "since": _since("at", "last_event"),
    "source": _source,
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
PLAN_KEYS: Mapping[str, Reading] = {
    "state": _one_of("state", RepairPlan.State.values),
    "verb": _one_of("verb", RepairPlan.Verb.values),
    "actor": _either("made_by", "decided_by"),
    "age": _since("made_at"),
}
DELIVERY_KEYS: Mapping[str, Reading] = {
    "state": _delivery_state,
    "sender": _agent("sender"),
    "task": _uuid("task_uuid"),
    "id": _uuid("delivery_id"),
    "attempts": _number("attempts"),
    "age": _since("created_at"),
}

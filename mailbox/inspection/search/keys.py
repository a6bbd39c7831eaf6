"""The keys of the query language, for each list, and the actors of journal rows."""

from collections.abc import Mapping

from django.db.models import Q

from mailbox.inspection.search import full_text, terms
from mailbox.inspection.statistics import backlogs, standing
from mailbox.models import Agent, AuditEvent, Failure, Lease, PushDelivery, RepairPlan, Result, RollUp, Task
from mailbox.models.agent import NAMESAKES
from mailbox.models.audit import OF_RARE_KINDS
from mailbox.models.result import posted
from mailbox.words.envelopes import DuplicateSafety
from mailbox.words.kinds import FREQUENT

SPOKEN_KEYS: Mapping[str, terms.Reading] = {  # of messages, and of the rows of artifacts
    "task": terms.uuid("task__uuid"),
}
PLAN_KEYS: Mapping[str, terms.Reading] = {
    "state": terms.choice("state", RepairPlan.State.values),
    "verb": terms.choice("verb", RepairPlan.Verb.values),
    "actor": terms.either("made_by", "decided_by"),
    "age": terms.since("made_at"),
}


def actor(value: str, at: terms.Moment) -> Q:
    """Read an actor. Only agents' names contain an @, and only rows of agents have a public key.

    A name alone is that of a person or of an agent: ``ana`` also finds ``user:ana`` and ``ana@local``.
    """
    if "@" in value:
        return _agent(value, terms.text("actor")(value, at) & Q(actor_pubkey=None))
    if ":" in value:
        return terms.text("actor")(value, at) & Q(actor_pubkey=None)
    if value.endswith("*"):
        return terms.text("actor")(value, at) | terms.text("actor")(f"user:{value}", at)
    people = Q(actor__in=[value, f"user:{value}"], actor_pubkey=None)
    keys = list(Agent.objects.filter(local=value).values_list("pubkey", flat=True)[:NAMESAKES])
    return people | Q(actor_pubkey__in=keys) if keys else people


def _agent(display: str, unsigned: Q) -> Q:
    """Read the events of an agent. If it has ``unsigned`` events too, the query reads two indexes."""
    key = Agent.objects.filter(display=display).values_list("pubkey", flat=True).first()
    if key is None:
        return unsigned
    signed = Q(actor_pubkey=key)
    return signed | unsigned if AuditEvent.objects.filter(unsigned).exists() else signed


def _source(value: str, at: terms.Moment) -> Q:
    """Read the source. A rare source also excludes the API, so that SQLite uses the index of the rare sources."""
    condition = terms.text("source")(value, at)
    is_usual = "*" in value or value == AuditEvent.Source.API
    return condition if is_usual else condition & ~Q(source=AuditEvent.Source.API.value)


def _kind(value: str, at: terms.Moment) -> Q:
    """Read the kind of a journal row.

    The filter for a rare kind also excludes the frequent kinds, so that SQLite uses the index of rare kinds.
    """
    condition = terms.text("kind")(value, at)
    is_frequent = any(kind == value or (value.endswith("*") and kind.startswith(value[:-1])) for kind in FREQUENT)
    return condition if is_frequent else condition & OF_RARE_KINDS


def _finished(value: str, at: terms.Moment) -> Q:
    """Read the time range in which the result was posted, such as ``02:14..02:15``."""
    return Q(pk__in=Result.objects.posted_between(*terms.moments(value, at.now)).values("task"))


def _state(value: str, at: terms.Moment) -> Q:
    if value in ("stale", Task.State.IN_FLIGHT):
        live = Lease.objects.stale(at.now, at.stale_after) if value == "stale" else Lease.objects.live()
        return Q(pk__in=live.values("task"))
    if value == "waiting":
        return Q(waits_on__isnull=False)
    if value in Task.State.values:
        return Q(state=value)
    if value in Task.Outcome.values:
        # The index leaves out the usual end. The condition is repeated, so that SQLite uses it for other ends.
        return Q(outcome=value) if value == Task.Outcome.OK else Q(outcome=value) & ~Q(outcome=Task.Outcome.OK.value)
    raise terms.unknown("state", value, [*Task.State.values, "stale", "waiting", *Task.Outcome.values])


def _failure(value: str, _: terms.Moment) -> Q:
    """Read a fingerprint of the failures page. Failures are filed within a minute."""
    return Q(pk__in=Failure.objects.filter(fingerprint=value.lower()).values("pk"))


def _awaits(value: str, at: terms.Moment) -> Q:
    """Read what an interrupted task waits for. The state is repeated, so that the index of these tasks is used."""
    return Q(state=Task.State.INTERRUPTED) & terms.choice("awaits", Task.Awaits.values)(value, at)


def _lease_state(value: str, at: terms.Moment) -> Q:
    if value not in ("stale", "in_flight"):
        raise terms.unknown("state", value, ("stale", "in_flight"))
    live = Q(ended_at=None)
    return live & Q(leased_at__lte=at.now - at.stale_after) if value == "stale" else live


def _status(value: str, at: terms.Moment) -> Q:
    condition = terms.choice("status", Result.Status.values)(value, at)
    # The index has only the rare states. The condition is repeated, so that SQLite uses it.
    return condition if value == Result.Status.OK else condition & ~Q(status=Result.Status.OK.value)


def _posted(value: str, at: terms.Moment) -> Q:
    """Read the time range in which the result was posted, such as ``02:14..02:15``."""
    return posted(*terms.moments(value, at.now))


def _during(value: str, at: terms.Moment) -> Q:
    """Read the time range of a journal row, such as ``02:14..02:15``. Marks of the roll-ups bound the rows to read."""
    start, end = terms.moments(value, at.now)
    condition = Q(at__gte=start, pk__gt=RollUp.objects.mark_before(start, "last_event"))
    return condition & Q(at__lt=end, pk__lte=RollUp.objects.mark_after(end, "last_event")) if end else condition


def _party(*fields: str) -> terms.Reading:
    """Read a party of a result's task, in two ways.

    The task's index serves all results, and the result's own index the pending results.
    """

    def read(value: str, at: terms.Moment) -> Q:
        any_of = Q()
        for field in fields:
            any_of |= terms.agent(field)(value, at) & terms.agent(f"task__{field}")(value, at)
        return any_of

    return read


def _agent_state(value: str, at: terms.Moment) -> Q:
    known = {
        "quiet": lambda: Q(pk__in=backlogs.quiet(at.now - backlogs.QUIET_AFTER).values("pk")),
        "unserved": lambda: Q(pk__in=standing.late_queues(at.now).values("pk")),
        "paused": lambda: Q(paused_at__isnull=False),
    }
    if value not in known:
        raise terms.unknown("state", value, known)
    return known[value]()


def _outcome(value: str, _: terms.Moment) -> Q:
    """Read the outcome of a pass of the retry gate, by the text of its compact JSON."""
    went_well, changed_nothing = Q(data__contains='"error":null'), Q(data__contains='"requeued":0,')
    outcomes = {
        "failed": ~went_well,
        "requeued": went_well & ~changed_nothing,
        "unchanged": went_well & changed_nothing,
    }
    if value not in outcomes:
        raise terms.unknown("outcome", value, outcomes)
    return outcomes[value]


def _delivery_state(value: str, at: terms.Moment) -> Q:
    known = [*(state for state in PushDelivery.State.values if state != PushDelivery.State.TELLING), "failing"]
    if value not in known:
        raise terms.unknown("state", value, known)
    if value == PushDelivery.State.PENDING:
        return Q(state=value) | Q(state=PushDelivery.State.TELLING)
    if value == "failing":
        parts = standing.failing_callbacks(standing.failing_before(at.now))
        telling, pending = (Q(pk__in=part.values("pk")) for part in parts)
        return telling | pending
    return Q(state=value)


def _safety(field: str) -> terms.Reading:
    def read(value: str, _: terms.Moment) -> Q:
        if value not in list(DuplicateSafety):
            raise terms.unknown("safety", value, DuplicateSafety)
        return Q(**{f"{field}__isnull": value != DuplicateSafety.IDEMPOTENT})

    return read


def _task_text(field: str) -> terms.Reading:
    """Read words of the task's intent or its error."""

    def read(value: str, _: terms.Moment) -> Q:
        return Q(**{f"{field}__among": full_text.tasks(value)})

    return read


def _event_text(value: str, _: terms.Moment) -> Q:
    """Read words of a reason in the journal."""
    return Q(pk__among=full_text.events(value))


TASK_KEYS: Mapping[str, terms.Reading] = {
    "state": _state,
    "awaits": _awaits,
    "agent": terms.agent("sender", "recipient"),
    "from": terms.agent("sender"),
    "to": terms.agent("recipient"),
    "key": terms.text("idempotency_key"),
    "kind": terms.text("task_kind"),
    "safety": _safety("cache_key"),
    "age": terms.since("sent_at", "last_task"),
    "finished": _finished,
    "attempt": terms.number("attempt"),
    "id": terms.uuid("uuid"),
    "parent": terms.uuid("parent"),
    "source": terms.text("source"),
    "context": terms.text("context_id"),
    "failure": _failure,
    terms.TEXT: _task_text("pk"),
}
LEASE_KEYS: Mapping[str, terms.Reading] = {
    "state": _lease_state,
    "agent": terms.agent("holder"),
    "from": terms.agent("task__sender"),
    "to": terms.agent("task__recipient"),
    "key": terms.text("task__idempotency_key"),
    "kind": terms.text("task__task_kind"),
    "safety": _safety("task__cache_key"),
    "age": terms.since("leased_at"),
    "attempt": terms.number("attempt"),
    "id": terms.uuid("lease_id"),
    "task": terms.uuid("task__uuid"),
    terms.TEXT: terms.occurs(
        "task__intent_text", "holder__display", "task__sender__display", "task__recipient__display"
    ),
}
EVENT_KEYS: Mapping[str, terms.Reading] = {
    "kind": _kind,
    "actor": actor,
    "task": terms.uuid("task_id"),
    "since": terms.since("at", "last_event"),
    "at": _during,
    "source": _source,
    "request": terms.text("request_id"),
    "address": terms.text("address"),
    terms.TEXT: _event_text,
}
RESULT_KEYS: Mapping[str, terms.Reading] = {
    "status": _status,
    "delivery": terms.choice("delivery", Result.Delivery.values),
    "agent": _party("sender", "recipient"),
    "from": _party("sender"),
    "to": _party("recipient"),
    "key": terms.text("task__idempotency_key"),
    "kind": terms.text("task__task_kind"),
    "posted": _posted,
    "age": terms.since("posted_at", "last_result"),
    "task": terms.uuid("task__uuid"),
    terms.TEXT: _task_text("task__pk"),
}
AGENT_KEYS: Mapping[str, terms.Reading] = {
    "state": _agent_state,
    "name": terms.either("display", "local"),
    "key": terms.text("pubkey"),
    "age": terms.since("created_at"),
    terms.TEXT: terms.occurs("display"),
}
SCAN_KEYS: Mapping[str, terms.Reading] = {
    "outcome": _outcome,
    "actor": actor,
    "source": _source,
    "since": terms.since("at", "last_event"),
}
REPLAY_KEYS: Mapping[str, terms.Reading] = {
    "sender": terms.pubkey("sender_pubkey"),
    "recipient": terms.pubkey("recipient_pubkey"),
    "key": terms.text("key"),
    "kind": terms.text("task_kind"),
    "status": terms.text("status"),
    "source": terms.uuid("source_task_id"),
    "age": terms.since("stored_at"),
    "hit": terms.since("last_hit_at"),
}
DELIVERY_KEYS: Mapping[str, terms.Reading] = {
    "state": _delivery_state,
    "sender": terms.agent("sender"),
    "task": terms.uuid("task_uuid"),
    "id": terms.uuid("delivery_id"),
    "attempts": terms.number("attempts"),
    "age": terms.since("created_at"),
}

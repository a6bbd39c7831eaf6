"""The query language of lists: ``agent:hotels state:stale key:inv-* age:>10m -to:writer "some words"``.

A ``key:value`` term narrows the list. A comma means or, a leading minus means not, a trailing ``*`` means any ending.
Other words are searched in the texts of the newest tasks only. An unknown key or an invalid value is an error.
"""

from __future__ import annotations

from collections.abc import Mapping

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
from mailbox.inspection.search_query import LONGEST, Query, chosen, parse, term, without
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
from mailbox.words.errors import InvalidRequestError

__all__ = [
    "AGENT_KEYS",
    "DELIVERY_KEYS",
    "EVENT_KEYS",
    "LEASE_KEYS",
    "LONGEST",
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
    "chosen",
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
    "without",
]

WORDS_AMONG = 10_000  # tasks or leases in which words are searched: the newest tasks, the oldest leases
LEASE_WORDS = ("task__intent_text", "holder__display", "task__sender__display", "task__recipient__display")


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


def _leases(text: str, at: Moment, among: LeaseQuerySet) -> LeaseQuerySet:
    """Return the leases of ``among`` that match. Words are searched in the first of them, in their order."""
    query = parse(text, LEASE_KEYS)
    found = among.order_by().filter(_all(query, LEASE_KEYS, at))
    if query.words:
        found = found.filter(_worded(query, *LEASE_WORDS), pk__in=among.values("pk")[:WORDS_AMONG])
    return found


def _worded(query: Query, *fields: str) -> Q:
    """Return the condition that each word occurs in one of ``fields``, and no negated word in any."""
    every = Q()
    for word in query.words:
        has = Q()
        for field in fields:
            has |= Q(**{f"{field}__icontains": word.text})
        every &= ~has if word.is_negated else has
    return every


def _keys_alone(text: str, known: Mapping[str, Reading], at: Moment) -> Q:
    query = parse(text, known)
    if query.words:
        raise InvalidRequestError(
            {"q": f"Free text isn't supported here. Use key:value with one of: {', '.join(known)}."}
        )
    return _all(query, known, at)


def _all(query: Query, known: Mapping[str, Reading], at: Moment) -> Q:
    every = Q()
    for one in query.terms:
        any_of = Q()
        for value in one.values:
            any_of |= known[one.key](value, at)
        every &= ~any_of if one.is_negated else any_of
    return every

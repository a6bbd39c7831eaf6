"""The query language of lists: ``agent:hotels state:stale key:inv-* age:>10m -to:writer "some words"``.

A ``key:value`` term narrows the list. A comma means or, a leading minus means not, a trailing ``*`` means any ending.
Other words are those of the key ``text``. An unknown key or an invalid value is an error.
"""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet

from mailbox import models
from mailbox.inspection.search import keys
from mailbox.inspection.search.terms import TEXT, Moment, Query, Reading, parse
from mailbox.models.agent import AgentQuerySet
from mailbox.models.artifact import ArtifactQuerySet
from mailbox.models.audit import AuditEventQuerySet
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.message import MessageQuerySet
from mailbox.models.push import PushDeliveryQuerySet
from mailbox.models.repair_plan import RepairPlanQuerySet
from mailbox.models.replay_entry import ReplayEntryQuerySet
from mailbox.models.result import ResultQuerySet
from mailbox.models.task import TaskQuerySet
from mailbox.words.errors import InvalidRequestError

WORDS_AMONG = 10_000  # rows in which words are searched that must not occur: the newest; of leases, the oldest


def tasks(text: str, at: Moment) -> TaskQuerySet:
    """Return the tasks that match; raise `InvalidRequestError` for an invalid query."""
    query = parse(text, keys.TASK_KEYS)
    rows = models.Task.objects.filter(_all(query, keys.TASK_KEYS, at))
    return rows.filter(pk__in=_newest(models.Task.objects.all())) if query.excludes(TEXT) else rows


def leases(text: str, at: Moment) -> LeaseQuerySet:
    """Return the live leases that match; raise `InvalidRequestError` for an invalid query."""
    return _leases(text, at, models.Lease.objects.live().order_by("leased_at"))


def attempts(text: str, at: Moment) -> LeaseQuerySet:
    """Return the leases that match, live or ended; raise `InvalidRequestError` for an invalid query."""
    return _leases(text, at, models.Lease.objects.order_by("-pk"))


def messages(text: str, at: Moment) -> MessageQuerySet:
    """Return the messages that match; raise `InvalidRequestError` for an invalid query."""
    return models.Message.objects.filter(_matching(text, keys.SPOKEN_KEYS, at))


def artifacts(text: str, at: Moment) -> ArtifactQuerySet:
    """Return the rows of artifacts that match; raise `InvalidRequestError` for an invalid query."""
    return models.Artifact.objects.filter(_matching(text, keys.SPOKEN_KEYS, at))


def results(text: str, at: Moment) -> ResultQuerySet:
    """Return the results that match; raise `InvalidRequestError` for an invalid query."""
    query = parse(text, keys.RESULT_KEYS)
    rows = models.Result.objects.filter(_all(query, keys.RESULT_KEYS, at))
    return rows.filter(task__in=_newest(models.Task.objects.all())) if query.excludes(TEXT) else rows


def agents(text: str, at: Moment) -> AgentQuerySet:
    """Return the agents that match, by words in their names too; raise `InvalidRequestError` for an invalid query."""
    return models.Agent.objects.filter(_matching(text, keys.AGENT_KEYS, at))


def scans(text: str, at: Moment) -> AuditEventQuerySet:
    """Return the passes of the retry gate that match; raise `InvalidRequestError` for an invalid query."""
    return models.AuditEvent.objects.scans().filter(_matching(text, keys.SCAN_KEYS, at))


def events(text: str, at: Moment) -> AuditEventQuerySet:
    """Return the journal rows that match; raise `InvalidRequestError` for an invalid query."""
    query = parse(text, keys.EVENT_KEYS)
    rows = models.AuditEvent.objects.filter(_all(query, keys.EVENT_KEYS, at))
    return rows.filter(pk__in=_newest(models.AuditEvent.objects.all())) if query.excludes(TEXT) else rows


def plans(text: str, at: Moment) -> RepairPlanQuerySet:
    """Return the plans that match; raise `InvalidRequestError` for an invalid query."""
    return models.RepairPlan.objects.filter(_matching(text, keys.PLAN_KEYS, at))


def replay_entries(text: str, at: Moment) -> ReplayEntryQuerySet:
    """Return the cached results that match; raise `InvalidRequestError` for an invalid query."""
    return models.ReplayEntry.objects.filter(_matching(text, keys.REPLAY_KEYS, at))


def deliveries(text: str, at: Moment) -> PushDeliveryQuerySet:
    """Return the callbacks that match; raise `InvalidRequestError` for an invalid query."""
    return models.PushDelivery.objects.filter(_matching(text, keys.DELIVERY_KEYS, at))


def _leases(text: str, at: Moment, among: LeaseQuerySet) -> LeaseQuerySet:
    """Return the leases of ``among`` that match. Words are searched in the first of them, in their order."""
    query = parse(text, keys.LEASE_KEYS)
    rows = among.order_by().filter(_all(query, keys.LEASE_KEYS, at))
    return rows.filter(pk__in=among.values("pk")[:WORDS_AMONG]) if query.asks(TEXT) else rows


def _newest(rows: QuerySet[Any]) -> QuerySet[Any]:
    return rows.order_by("-pk").values("pk")[:WORDS_AMONG]


def _matching(text: str, known: Mapping[str, Reading], at: Moment) -> Q:
    return _all(parse(text, known), known, at)


def _all(query: Query, known: Mapping[str, Reading], at: Moment) -> Q:
    if query.words and TEXT not in known:
        raise InvalidRequestError(
            {"q": f"Free text isn't supported here. Use key:value with one of: {', '.join(known)}."}
        )
    every = Q()
    for one in query.terms:
        any_of = Q()
        for value in one.values:
            any_of |= known[one.key](value, at)
        every &= ~any_of if one.is_negated else any_of
    for word in query.words:
        condition = known[TEXT](word.text, at)
        every &= ~condition if word.is_negated else condition
    return every

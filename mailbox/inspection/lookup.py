"""Look-ups by name: ids in full or in part, numbers, agents, idempotency keys, conversations.

A number has at most 18 digits.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models.functions import Lower

from mailbox.journal import compacted_tasks
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, RepairPlan, ReplayEntry, Task
from mailbox.models.task import matching_id
from mailbox.words.envelopes import DISPLAY, LOCAL_PART
from mailbox.words.ids import IdPattern

MOST = 8  # rows of one kind that a name finds
_PLAN = re.compile(r"(?:repair|plan)[ :#]+(\d{1,18})", re.IGNORECASE)
_EVENT = re.compile(r"(?:journal|audit|event)[ :#]+(\d{1,18})", re.IGNORECASE)
_NUMBER = re.compile(r"#?(\d{1,18})")  # of a journal row or a plan


@dataclass(frozen=True, slots=True)
class CompactedTask:
    """A task that was compacted, or a lease of such a task."""

    task_id: UUID
    lease_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class TasksWith:
    """Several tasks that share a ``value``. ``key`` names it in the query language."""

    key: str
    value: str


Match = Task | Lease | AuditEvent | Agent | RepairPlan | PushDelivery | ReplayEntry | CompactedTask | TasksWith


def find(text: str) -> Sequence[Match]:
    """Return what ``text`` names, at most `MOST` rows of each kind; nothing if it names nothing.

    An exact name comes alone: an id in full, ``plan 7``, ``journal 7``, ``#7``, an agent, an idempotency key, a
    conversation. Else these are found together: the first characters of an id, both of its ends, a bare number, the
    beginning of an agent's name.
    """
    text = text.strip()
    if not text or "\x00" in text:
        return []
    for look in (_numbered, _by_id, _named, _begun):
        if matches := list(look(text)):
            return matches
    return []


def is_id(text: str) -> bool:
    """Whether ``text`` can be only an id or a number, and no word."""
    text = text.strip()
    if any(shape.fullmatch(text) for shape in (_PLAN, _EVENT, _NUMBER)):
        return True
    pattern = IdPattern.parse(text)
    return pattern is not None and any(mark.isdecimal() or mark in "….*" for mark in text)


def lease(lease_id: UUID) -> Lease | None:
    """Return the lease, live or ended, with its holder and its task's parties; None without one."""
    return Lease.objects.with_task().named([lease_id]).first()


def event(number: int) -> AuditEvent | None:
    """Return the journal row of this number; None without one."""
    return AuditEvent.objects.filter(pk=number).first()


def neighbours(event: AuditEvent) -> tuple[int | None, int | None]:
    """Return the numbers of the journal rows before and after this one; None without one."""
    rows = AuditEvent.objects.values_list("pk", flat=True)
    older = rows.filter(pk__lt=event.pk).order_by("-pk").first()
    return older, rows.filter(pk__gt=event.pk).order_by("pk").first()


def agents_named(displays: Collection[str]) -> Sequence[Agent]:
    """Return the agents of these names, by name, at most `MOST`."""
    return list(Agent.objects.filter(display__in=displays).order_by("display")[:MOST])


def agents_beginning(name: str) -> Sequence[Agent]:
    """Return the agents whose names begin so, in any case, by name, at most `MOST`."""
    folded = Agent.objects.annotate(folded=Lower("display"))
    return list(folded.filter(folded__startswith=name.lower()).order_by("display")[:MOST])


def scan(number: int) -> AuditEvent | None:
    """Return the journal row of this number if it is a pass of the retry gate; else None."""
    return AuditEvent.objects.scans().filter(pk=number).first()


def plan(number: int) -> RepairPlan | None:
    """Return the plan of this number with the plan that it follows; None without one."""
    return RepairPlan.objects.select_related("after").filter(pk=number).first()


def cached_result(number: int) -> ReplayEntry | None:
    """Return the cached result of this number with the names of its parties; None without one."""
    return ReplayEntry.objects.with_parties().filter(pk=number).first()


def delivery(delivery_id: UUID) -> PushDelivery | None:
    """Return the callback of this id with its last attempt; None without one."""
    return PushDelivery.objects.with_last_attempt().filter(delivery_id=delivery_id).first()


def given_up(delivery_ids: Collection[UUID]) -> Sequence[PushDelivery]:
    """Return the callbacks of these ids that were given up, newest first, each with its last attempt."""
    rows = PushDelivery.objects.given_up().filter(delivery_id__in=delivery_ids)
    return list(rows.with_last_attempt().defer("body").order_by("-pk"))


def task_of_lease(lease_id: UUID) -> UUID | None:
    """Return the id of a lease's task; None without one.

    For a lease of a compacted task, the newest journal rows are searched.
    """
    known = Lease.objects.named([lease_id]).values_list("task__uuid", flat=True).first()
    return known or AuditEvent.objects.naming(lease_id).values_list("task_id", flat=True).first()


def recipient_of(task_id: UUID) -> Agent | None:
    """Return the recipient of a task, also of a compacted task; None for an unknown id."""
    task = Task.objects.select_related("recipient").filter(uuid=task_id).first() or compacted_tasks.find(task_id)
    return task.recipient if task else None


def sender_of(task_id: UUID) -> Agent | None:
    """Return the sender of a task, also of a compacted task; None for an unknown id."""
    task = Task.objects.select_related("sender").filter(uuid=task_id).first() or compacted_tasks.find(task_id)
    return task.sender if task else None


def end_of(task_id: UUID) -> AuditEvent | None:
    """Return the newest numbered row of a compacted task; None for a task that the hub has, and for an unknown id."""
    if Task.objects.filter(uuid=task_id).exists():
        return None
    return AuditEvent.objects.of_task(task_id).last()


def compaction_of(task_id: UUID) -> AuditEvent | None:
    """Return the journal row of the task's compaction; None for a task that was not compacted."""
    return AuditEvent.objects.compaction_of(task_id).first()


def _numbered(text: str) -> Iterator[RepairPlan | AuditEvent]:
    if number := _PLAN.fullmatch(text):
        yield from RepairPlan.objects.filter(pk=int(number[1]))
    elif number := _EVENT.fullmatch(text):
        yield from AuditEvent.objects.filter(pk=int(number[1]))
    elif text.startswith("#") and (number := _NUMBER.fullmatch(text)):
        yield from _of_number(int(number[1]))


def _of_number(number: int) -> Iterator[RepairPlan | AuditEvent]:
    yield from RepairPlan.objects.filter(pk=number)
    yield from AuditEvent.objects.filter(pk=number)


def _by_id(text: str) -> Iterator[Match]:
    pattern = IdPattern.parse(text)
    if pattern is None or not pattern.is_whole:
        return
    wanted = pattern.bounds[0]
    if kept := list(_with_ids(pattern)):
        yield from kept
    elif end_of(wanted):
        yield CompactedTask(wanted)
    elif task_id := task_of_lease(wanted):
        yield CompactedTask(task_id, wanted)
    else:
        yield from AuditEvent.objects.filter(task_id=wanted).newest_first()[:1]


def _named(text: str) -> Iterator[Match]:
    agents = Agent.objects.typed(text)
    if not agents and DISPLAY.fullmatch(text) and (alike := Agent.objects.spelled_like(text)):
        agents = [alike]
    yield from agents
    for key, field in (("key", "idempotency_key"), ("context", "context_id")):
        tasks = list(Task.objects.filter(**{field: text}).with_parties().with_opening().order_by("-pk")[:2])
        yield from tasks if len(tasks) < 2 else [TasksWith(key, text)]
    yield from ReplayEntry.objects.with_parties().filter(key=text).order_by("-pk")[:MOST]


def _begun(text: str) -> Iterator[Match]:
    if number := _NUMBER.fullmatch(text):
        yield from _of_number(int(number[1]))
    if pattern := IdPattern.parse(text):
        yield from _with_ids(pattern)
        yield from _compacted(pattern)
    if LOCAL_PART.fullmatch(text) or DISPLAY.fullmatch(text):
        yield from agents_beginning(text)


def _with_ids(pattern: IdPattern) -> Iterator[Task | Lease | PushDelivery]:
    tasks = Task.objects.matching(pattern).with_parties().with_opening()
    yield from tasks.order_by("uuid")[:MOST]
    yield from Lease.objects.filter(matching_id("lease_id", pattern)).with_task_opening().order_by("lease_id")[:MOST]
    yield from (
        PushDelivery.objects.filter(matching_id("delivery_id", pattern)).defer("body").order_by("delivery_id")[:MOST]
    )


def _compacted(pattern: IdPattern) -> Iterator[CompactedTask]:
    """Yield compacted tasks. Every task has a first row in the journal, which outlives it."""
    rows = AuditEvent.objects.filter(matching_id("task_id", pattern), seq=1).order_by("task_id")
    ids = list(rows.values_list("task_id", flat=True)[: 2 * MOST])
    kept = set(Task.objects.filter(uuid__in=ids).values_list("uuid", flat=True))
    yield from [CompactedTask(one) for one in ids if one and one not in kept][:MOST]

"""Look-ups by an exact name: the id of a task or lease, also of a compacted task, a number, or an agent.

A number has at most 18 digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from mailbox.gate import compacted
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, RepairPlan, ReplayEntry, Task
from mailbox.words.envelopes import DISPLAY

_PLAN = re.compile(r"(?:(?:repair|plan)[ :#]+|#)(\d{1,18})", re.IGNORECASE)
_EVENT = re.compile(r"(?:(?:journal|audit)[ :#]+|#)?(\d{1,18})", re.IGNORECASE)
_NUMBER = re.compile(r"#?(\d{1,18})")  # of a journal row or a plan


@dataclass(frozen=True, slots=True)
class CompactedTask:
    """A task that was compacted, or a lease of such a task."""

    task_id: UUID
    lease_id: UUID | None = None


Found = Task | Lease | AuditEvent | Agent | RepairPlan | CompactedTask


def find(text: str) -> Found | None:
    """Return the row that ``text`` names; None if it names none.

    A number names a row of the journal. ``#7`` names a plan, or without such a plan a row of the journal. A local part
    names an agent if only one agent has it. An id must be whole.
    """
    text = text.strip()
    if (plan_number := _PLAN.fullmatch(text)) and (known := RepairPlan.objects.filter(pk=int(plan_number[1])).first()):
        return known
    if (number := _EVENT.fullmatch(text)) and (row := event(int(number[1]))):
        return row
    return _by_id(text) or _agent(text)


def namesake(text: str, found: Found | None) -> AuditEvent | RepairPlan | None:
    """Return the other row that the same number can mean; None without one.

    ``found`` is the row that `find` returned.
    """
    number = _NUMBER.fullmatch(text.strip())
    if number is None or not isinstance(found, AuditEvent | RepairPlan):
        return None
    other = RepairPlan if isinstance(found, AuditEvent) else AuditEvent
    return other._default_manager.filter(pk=int(number[1])).first()


def lease(lease_id: UUID) -> Lease | None:
    """Return the lease, live or ended, with its holder and its task's parties; None without one."""
    return Lease.objects.with_task().named([lease_id]).first()


def event(number: int) -> AuditEvent | None:
    """Return the journal row of this number; None without one."""
    return AuditEvent.objects.filter(pk=number).first()


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


def task_of_lease(lease_id: UUID) -> UUID | None:
    """Return the id of a lease's task; None without one.

    For a lease of a compacted task, the newest journal rows are searched.
    """
    known = Lease.objects.named([lease_id]).values_list("task__uuid", flat=True).first()
    return known or AuditEvent.objects.naming(lease_id).values_list("task_id", flat=True).first()


def recipient_of(task_id: UUID) -> Agent | None:
    """Return the recipient of a task, also of a compacted task; None for an unknown id."""
    task = Task.objects.select_related("recipient").filter(uuid=task_id).first() or compacted.find(task_id)
    return task.recipient if task else None


def sender_of(task_id: UUID) -> Agent | None:
    """Return the sender of a task, also of a compacted task; None for an unknown id."""
    task = Task.objects.select_related("sender").filter(uuid=task_id).first() or compacted.find(task_id)
    return task.sender if task else None


def end_of(task_id: UUID) -> AuditEvent | None:
    """Return the newest numbered row of a compacted task; None for a task that the hub has, and for an unknown id."""
    if Task.objects.filter(uuid=task_id).exists():
        return None
    return AuditEvent.objects.of_task(task_id).last()


def compaction_of(task_id: UUID) -> AuditEvent | None:
    """Return the journal row of the task's compaction; None for a task that was not compacted."""
    return AuditEvent.objects.compaction_of(task_id).first()


def _by_id(text: str) -> Task | Lease | AuditEvent | CompactedTask | None:
    try:
        wanted = UUID(text)
    except ValueError:
        return None
    if kept := Task.objects.filter(uuid=wanted).first() or Lease.objects.filter(lease_id=wanted).first():
        return kept
    if end_of(wanted):
        return CompactedTask(wanted)
    task_id = task_of_lease(wanted)
    return (
        CompactedTask(task_id, wanted) if task_id else AuditEvent.objects.filter(task_id=wanted).newest_first().first()
    )


def _agent(text: str) -> Agent | None:
    fitting = Agent.objects.typed(text)
    if not fitting and DISPLAY.fullmatch(text):
        return Agent.objects.spelled_like(text)
    return fitting[0] if len(fitting) == 1 else None

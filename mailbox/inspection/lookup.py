"""What an exact name means: the id of a task or lease, also of one that was compacted, a number, an agent.

Numbers are at most 18 digits long.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, RepairPlan, ReplayEntry, Task
from mailbox.words.envelopes import DISPLAY
from mailbox.words.kinds import Kind

_PLAN = re.compile(r"(?:(?:repair|plan)[ :#]+|#)(\d{1,18})", re.IGNORECASE)
_EVENT = re.compile(r"(?:(?:journal|audit)[ :#]+|#)?(\d{1,18})", re.IGNORECASE)
_NUMBER = re.compile(r"#?(\d{1,18})")  # which does not say of what


@dataclass(frozen=True, slots=True)
class CompactedTask:
    """A task that only the journal still tells of, or a lease of one."""

    task_id: UUID
    lease_id: UUID | None = None


Found = Task | Lease | AuditEvent | Agent | RepairPlan | CompactedTask


def find(text: str) -> Found | None:
    """Return what ``text`` names, None for nothing; a local part names an agent only where no other has it.

    A number names a row of the journal; ``#7``, as pages write the numbers of both, a repair in bulk if there is one.
    Nothing is found by a part of its id.
    """
    text = text.strip()
    if (plan_number := _PLAN.fullmatch(text)) and (known := RepairPlan.objects.filter(pk=int(plan_number[1])).first()):
        return known
    if (number := _EVENT.fullmatch(text)) and (row := event(int(number[1]))):
        return row
    return _by_id(text) or _agent(text)


def namesake(text: str, found: Found | None) -> AuditEvent | RepairPlan | None:
    """Return what else than ``found`` is meant by ``text`` where that is a mere number, None for nothing."""
    number = _NUMBER.fullmatch(text.strip())
    if number is None or not isinstance(found, AuditEvent | RepairPlan):
        return None
    other = RepairPlan if isinstance(found, AuditEvent) else AuditEvent
    return other._default_manager.filter(pk=int(number[1])).first()


def lease(lease_id: UUID) -> Lease | None:
    """Return the lease, live or ended, with its holder and its task's parties; None where there is none."""
    return Lease.objects.with_task().named([lease_id]).first()


def event(number: int) -> AuditEvent | None:
    """Return the journal row of this number; None where there is none."""
    return AuditEvent.objects.filter(pk=number).first()


def scan(number: int) -> AuditEvent | None:
    """Return the pass of the retry gate whose journal row has this number; None where there is none."""
    return AuditEvent.objects.scans().filter(pk=number).first()


def plan(number: int) -> RepairPlan | None:
    """Return the repair in bulk of this number with the one it follows; None where there is none."""
    return RepairPlan.objects.select_related("after").filter(pk=number).first()


def cached_result(number: int) -> ReplayEntry | None:
    """Return the cached result of this number with the names of its parties; None where there is none."""
    return ReplayEntry.objects.with_parties().filter(pk=number).first()


def delivery(delivery_id: UUID) -> PushDelivery | None:
    """Return the callback with its last attempt; None where there is none."""
    return PushDelivery.objects.with_last_attempt().filter(delivery_id=delivery_id).first()


def task_of_lease(lease_id: UUID) -> UUID | None:
    """Return the task of a lease; of one that is no longer kept as far back as the newest journal rows name it."""
    known = Lease.objects.named([lease_id]).values_list("task__uuid", flat=True).first()
    return known or AuditEvent.objects.naming(lease_id).values_list("task_id", flat=True).first()


def is_kept(task_id: UUID) -> bool:
    """Whether there is such a task now, whoever its parties are."""
    return Task.objects.filter(uuid=task_id).exists()


def recipient_of(task_id: UUID) -> Agent | None:
    """Return the agent that a task is addressed to; None where there is no such task."""
    task = Task.objects.select_related("recipient").filter(uuid=task_id).first()
    return task.recipient if task else None


def end_of(task_id: UUID) -> AuditEvent | None:
    """Return the newest row of the life of a task that was compacted; None for one that is kept, or never was."""
    if is_kept(task_id):
        return None
    return AuditEvent.objects.of_task(task_id).last()


def compaction_of(task_id: UUID) -> AuditEvent | None:
    """Return the row of the compaction that dropped the task; None for a task that is kept, or never was."""
    return AuditEvent.objects.filter(task_id=task_id, kind=Kind.TASKS_COMPACTED).first()


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

"""What an exact name means: the id of a task or lease, the number of a journal row or a repair, an agent."""

from __future__ import annotations

import re
from uuid import UUID

from mailbox.envelopes import DISPLAY_MAX_LENGTH, is_pubkey
from mailbox.models import Agent, AuditEvent, Lease, RepairPlan, Task

_NUMBER = re.compile(r"#?(\d{1,18})")
_PLAN = re.compile(r"(?:repair|plan)[ :#]+(\d{1,18})", re.IGNORECASE)
_NAME = re.compile(rf"[\w.@-]{{1,{DISPLAY_MAX_LENGTH}}}", re.ASCII)


def find(text: str) -> Task | Lease | AuditEvent | Agent | RepairPlan | None:
    """Return what ``text`` names, None for nothing; a local part names an agent only where no other has it.

    The id of a task that was compacted names the newest journal row about it. Nothing is found by a part of its id.
    """
    text = text.strip()
    if plan := _PLAN.fullmatch(text):
        return RepairPlan.objects.filter(pk=int(plan[1])).first()
    if number := _NUMBER.fullmatch(text):
        found = AuditEvent.objects.filter(pk=int(number[1])).first()
        return found or _agent(text)
    return _by_id(text) or _agent(text)


def task_of_lease(lease_id: UUID) -> UUID | None:
    """Return the task of a lease that is no longer kept, as far back as the newest journal rows name it."""
    return AuditEvent.objects.naming(lease_id).values_list("task_id", flat=True).first()


def last_event(task_id: UUID) -> AuditEvent | None:
    """Return the newest row of a task's life, which the journal keeps also when the task is compacted."""
    return AuditEvent.objects.of_task(task_id).last()


def _by_id(text: str) -> Task | Lease | AuditEvent | None:
    try:
        wanted = UUID(text)
    except ValueError:
        return None
    return (
        Task.objects.filter(uuid=wanted).first()
        or Lease.objects.filter(lease_id=wanted).first()
        or AuditEvent.objects.filter(task_id=wanted).newest_first().first()
    )


def _agent(text: str) -> Agent | None:
    if not _NAME.fullmatch(text):
        return None
    if is_pubkey(text):
        return Agent.objects.filter(pubkey=text).first()
    if "@" in text:
        return Agent.objects.filter(display__iexact=text).first()
    alike = list(Agent.objects.filter(local=text)[:2])
    return alike[0] if len(alike) == 1 else None

"""The import of tasks from another system, in the state that they had there."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from mailbox.access import audit
from mailbox.access.agents import registration
from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.access.requests import Request
from mailbox.journal import task_entries
from mailbox.life.leasing import begin
from mailbox.life.resolution import resolve
from mailbox.models import Agent, AuditEvent, Lease, Task
from mailbox.words.envelopes import ResultEnvelope, TaskEnvelope
from mailbox.words.errors import InvalidRequestError, TaskConflictError


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A task of another system. ``task`` has its id; ``sender`` is a display, or a local part at ``local``.

    ``leased`` is whether the recipient works on it. ``result`` is None for an unresolved task.
    """

    task: TaskEnvelope
    sender: str
    leased: bool = False
    result: ResultEnvelope | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCounts:
    """How many tasks were stored, and how many the hub had already."""

    imported: int
    skipped: int


def import_tasks(caller: Caller, recipient: str, kept: Sequence[Kept]) -> ImportCounts:
    """Store tasks of the agent ``recipient``, a display: all of them, or none.

    Needs ``a2a.inboxes.import``, which admins and trusted code hold, because the import acts for senders and recipient.
    A task that the hub has or has compacted is skipped. New senders and a new recipient are registered without an API
    key. Raises `InvalidRequestError`, a capability error, `AgentConflictError`, `TaskConflictError` for the id of
    another agent's task, and `QuotaExceededError` for a sender at its quota. Journals ``agent_registered`` and the life
    of each task, marked ``imported``.
    """
    registration.check_display(recipient)
    for one in kept:
        _check(one)
    return audit.again_on_conflict(lambda: _import(caller, recipient, kept))


def _import(caller: Caller, recipient: str, kept: Sequence[Kept]) -> ImportCounts:
    with audit.decision(caller) as journal:
        journal.admit(Request.to_import(recipient))
        owner = registration.enrol(recipient, journal)
        fresh = {one.task.id: one for one in kept if one.task.id}
        for task_id in _known(list(fresh), owner):
            del fresh[task_id]
        senders = {name: registration.enrol(name, journal) for name in {one.sender: None for one in fresh.values()}}
        stored = [_store(one, senders[one.sender], owner, journal) for one in fresh.values()]
        for task in sorted(stored, key=lambda task: task.sender_id):
            quotas.take(task)
    return ImportCounts(imported=len(fresh), skipped=len(kept) - len(fresh))


def _check(item: Kept) -> None:
    try:
        item.task.check()
        registration.check_display(registration.display_of(item.sender))
        if item.result is not None:
            item.result.check()
    except InvalidRequestError as error:
        fields = {f"tasks.{item.task.id}.{path}": problem for path, problem in error.fields.items()}
        raise InvalidRequestError(fields) from error


def _known(ids: Sequence[UUID], recipient: Agent) -> set[UUID]:
    """Return the ids of tasks that the hub has for ``recipient``, or has compacted."""
    known: set[UUID] = set()
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        for task in Task.objects.filter(uuid__in=some).only("uuid", "recipient_id"):
            if task.recipient_id != recipient.pk:
                raise TaskConflictError(f"Task {task.uuid} belongs to another inbox.", task_id=task.uuid)
            known.add(task.uuid)
        known.update(filter(None, AuditEvent.objects.lives_among(some)))
    return known


def _store(item: Kept, sender: Agent, recipient: Agent, journal: audit.Journal) -> Task:
    task = Task.from_envelope(item.task, sender=sender, recipient=recipient, now=journal.now)
    task.save(force_insert=True)
    journal.life(task, task_entries.TaskSentEntry(sender.display, recipient.display, imported=True))
    lease = begin(task, journal) if item.leased or item.result is not None else None
    if item.result is not None:
        resolve(
            task,
            Task.Outcome(item.result.status),
            journal,
            task_entries.ResultPostedEntry(
                item.result.status, lease_id=lease.lease_id if lease else None, attempt=task.attempt, imported=True
            ),
            end=Lease.End.RESULT,
            lease=lease,
            content=item.result.content,
            error_message=item.result.error_message,
            posted_by=recipient,
        )
    return task

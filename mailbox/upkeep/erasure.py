"""Erasure: blanks the payload of finished tasks, and keeps its hashes. The journal's seals stay valid."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from mailbox import models
from mailbox.access.audit import Journal
from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.database import write_turns
from mailbox.journal import hub_entries
from mailbox.models.audit import AuditEventQuerySet
from mailbox.models.push import PushDeliveryQuerySet
from mailbox.models.task import TaskQuerySet
from mailbox.words import json_text
from mailbox.words.envelopes import check_reason
from mailbox.words.errors import InvalidRequestError, UnknownTaskError, WrongPartyError
from mailbox.words.kinds import Kind
from mailbox.words.sealed import ERASED, Tombstone, digest_of

TASKS_AT_ONCE = 50
ROWS_AT_ONCE = 500
NAMED = 3  # unfinished tasks that a refusal names
# The rows of a task's life whose data may hold text of an agent. Rows of updates hold it in older versions.
WITH_TEXT = (Kind.TASK_UPDATED, Kind.MESSAGE_SENT, Kind.TASK_CANCELLED, Kind.TASK_RELEASED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Erasure:
    """One transaction of an erasure, as its journal row names it."""

    caller: Caller
    subject: str
    reason: str


def erase_task(caller: Caller, task_id: UUID, *, reason: str) -> Mapping[str, int]:
    """Blank the payload of one finished task, also of a compacted one; return the number of erased rows by table.

    The task's bytes no longer count for its sender's quota. Raises `WrongPartyError` unless ``caller`` is trusted,
    `InvalidRequestError` for a blank reason and for a task that has not ended, and `UnknownTaskError`. Locks the task;
    journals ``a2a_erased`` if anything was left to erase.
    """
    reason = _admit(caller, reason)
    if not models.AuditEvent.objects.filter(task_id=task_id, seq=1).exists():
        raise UnknownTaskError.of(task_id)
    _require_finished(models.Task.objects.filter(uuid=task_id))
    return _erase(_Erasure(caller=caller, subject=f"task:{task_id}", reason=reason), [task_id])


def erase_agent(caller: Caller, agent: models.Agent, *, reason: str) -> Mapping[str, int]:
    """Blank the payload of every task that the agent sent or received, as `erase_task` does, and delete its peers.

    Cached results of the agent's work are deleted. Each transaction erases some tasks. If the erasure is cut off, a
    repeated call erases the rest. The agent's name and its journal rows stay. Raises as `erase_task` does.
    """
    reason = _admit(caller, reason)
    theirs = models.Task.objects.filter(Q(sender=agent) | Q(recipient=agent))
    _require_finished(theirs)
    step = _Erasure(caller=caller, subject=f"agent:{agent.display}", reason=reason)
    total: Counter[str] = Counter()
    for some in _batches(agent):
        total.update(_erase(step, some))
    total.update(_bury(step, models.AuditEvent.objects.of_profile(agent)))
    total.update(_bury(step, models.AuditEvent.objects.of_cards(agent)))
    cached = models.ReplayEntry.objects.filter(Q(sender_pubkey=agent.pubkey) | Q(recipient_pubkey=agent.pubkey))
    counts = {"cached results": cached.count(), "peers": models.Peer.objects.of_agent(agent).count()}
    if any(counts.values()):
        with write_turns.turn(), transaction.atomic(durable=True):
            _journal(step, (), counts)
            cached.delete()
            models.Peer.objects.of_agent(agent).delete()
        total.update(counts)
    return total


def _admit(caller: Caller, reason: str) -> str:
    if not caller.trusted:
        raise WrongPartyError("Only the command line of the hub's machine erases.")
    return check_reason(reason)


def _require_finished(tasks: TaskQuerySet) -> None:
    """Raise `InvalidRequestError` if one of these tasks has not ended: its holder may still need the payload."""
    live = tasks.exclude(state=models.Task.State.RESOLVED)
    if some := [str(found) for found in live.values_list("uuid", flat=True)[:NAMED]]:
        raise InvalidRequestError({"task": f"not finished, so cancel it or end its lease first: {', '.join(some)}"})


def _batches(agent: models.Agent) -> Sequence[Sequence[UUID]]:
    """Return the ids of the agent's tasks, also of compacted tasks, some at a time."""
    kept = (
        models.Task.objects.filter(Q(sender=agent) | Q(recipient=agent)).order_by("pk").values_list("uuid", flat=True)
    )
    ids = list(dict.fromkeys([*kept, *models.AuditEvent.objects.compacted_tasks(agent)]))
    return [ids[at : at + TASKS_AT_ONCE] for at in range(0, len(ids), TASKS_AT_ONCE)]


def _erase(step: _Erasure, ids: Sequence[UUID]) -> Mapping[str, int]:
    """Blank the payload of these tasks in one transaction, and the text in their journal rows in later transactions."""
    total: Counter[str] = Counter()
    live = set(
        models.Task.objects.filter(uuid__in=ids)
        .exclude(state=models.Task.State.RESOLVED)
        .values_list("uuid", flat=True)
    )
    ids = [found for found in ids if found not in live]  # sent since the check
    with write_turns.turn(), transaction.atomic(durable=True):
        tasks = list(
            models.Task.objects.filter(uuid__in=ids, state=models.Task.State.RESOLVED)
            .order_by("pk")
            .select_for_update()
        )
        freed: Counter[int] = Counter()
        for task in tasks:
            freed[task.sender_id] += task.size
        counts = _blank(tasks, ids)
        if any(counts.values()):
            _journal(step, (), counts)
            total.update(counts)
    quotas.give_back(freed)
    total.update(_bury(step, models.AuditEvent.objects.filter(task_id__in=ids, kind__in=WITH_TEXT)))
    return total


def _bury(step: _Erasure, events: AuditEventQuerySet) -> Mapping[str, int]:
    """Replace the data of these journal rows by tombstones, some in each transaction; return how many.

    A tombstone names the journal row of its transaction.
    """
    rows = events.order_by("pk").values_list("pk", "data")
    left = [key for key, data in rows if Tombstone.read(data) is None]
    for at in range(0, len(left), ROWS_AT_ONCE):
        some = models.AuditEvent.objects.in_bulk(left[at : at + ROWS_AT_ONCE])
        with write_turns.turn(), transaction.atomic(durable=True):
            row = _journal(step, list(some), {"journal rows": len(some)})
            for key, event in some.items():
                tombstone = Tombstone(digest_of(event.data), row.pk)
                models.AuditEvent.objects.filter(pk=key).update(data=str(tombstone))
    return {"journal rows": len(left)}


def _journal(step: _Erasure, rows: Sequence[int], counts: Mapping[str, int]) -> models.AuditEvent:
    journal = Journal(step.caller)
    journal.beside(hub_entries.ErasedEntry(step.subject, step.reason, rows=rows, erased=counts))
    (row,) = journal.write()
    return row


def _blank(tasks: Sequence[models.Task], ids: Sequence[UUID]) -> dict[str, int]:
    """Blank what is not blank yet; return the number of blanked rows by table."""
    cached = models.ReplayEntry.objects.filter(source_task_id__in=ids)
    planned = models.RepairPlanRow.objects.filter(task_id__in=ids).exclude(intent=ERASED)
    results = models.Result.objects.filter(task__in=tasks).exclude(content__contains=ERASED)
    messages = models.Message.objects.filter(task__in=tasks).exclude(content__contains=ERASED)
    artifacts = models.Artifact.objects.filter(task__in=tasks).exclude(content__contains=ERASED)
    counts = {
        "tasks": sum(_blank_task(task) for task in tasks),
        "results": sum(_blank_result(result) for result in results),
        "messages": sum(_blank_message(message) for message in messages),
        "artifacts": sum(_blank_artifact(artifact) for artifact in artifacts),
        "webhooks": models.PushConfig.objects.open().filter(task__in=tasks).update(next_attempt_at=None),
        "callbacks": _blank_callbacks(models.PushDelivery.objects.filter(task_uuid__in=ids)),
        "rows of plans": planned.update(intent=ERASED),
        "cached results": cached.count(),
    }
    cached.delete()
    return counts


def _blank_task(task: models.Task) -> int:
    if task.intent_text.startswith(ERASED):
        return 0
    task.intent_text, task.metadata, task.size = _blanked(task.intent_text + task.metadata), "{}", 0
    task.save(update_fields=["intent_text", "metadata", "size"])
    return 1


def _blank_result(result: models.Result) -> int:
    result.content = _block(result.content)
    result.error_message = None if result.error_message is None else _blanked(result.error_message)
    result.save(update_fields=["content", "error_message"])
    return 1


def _blank_message(message: models.Message) -> int:
    message.content, message.message_id, message.extra = _block(message.content), "", "{}"
    message.save(update_fields=["content", "message_id", "extra"])
    return 1


def _blank_artifact(artifact: models.Artifact) -> int:
    """Blank an artifact. Its id becomes a hash, so that chunks of one artifact stay together."""
    artifact.content, artifact.extra = _block(artifact.content), "{}"
    artifact.artifact_id = hashlib.sha256(artifact.artifact_id.encode()).hexdigest()
    artifact.save(update_fields=["content", "extra", "artifact_id"])
    return 1


def _blank_callbacks(callbacks: PushDeliveryQuerySet) -> int:
    """Blank the bodies, and the answers of their receivers, which may repeat a body.

    A callback that was not delivered is given up: it would send nothing but the hash.
    """
    deliveries = list(callbacks.exclude(body__contains=ERASED).select_for_update())
    models.PushAttempt.objects.filter(delivery__in=deliveries).exclude(problem="").update(problem="[erased]")
    for one in deliveries:
        one.body = _block(one.body)
        one.state = models.PushDelivery.State.DISABLED if one.state in models.PushDelivery.UNDER_WAY else one.state
        one.save(update_fields=["body", "state"])
    return len(deliveries)


def _block(text: str) -> str:
    return json_text.dumps([{"type": "text", "text": _blanked(text)}])


def _blanked(text: str) -> str:
    return f"{ERASED}{hashlib.sha256(text.encode()).hexdigest()}]"

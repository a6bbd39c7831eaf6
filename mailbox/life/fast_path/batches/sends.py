"""The plain cases of the sender's calls in batches: a batch of sends, and a drain with acknowledgements.

A drain acknowledges the last results and delivers the next, in one commit.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.access.requests import Request
from mailbox.database.bell import ringing, topics
from mailbox.database.paging import BUDGET
from mailbox.journal import task_entries
from mailbox.life.fast_path import plain, statements
from mailbox.life.fast_path.batches import values
from mailbox.models import Agent, Result, Task
from mailbox.words import json_text
from mailbox.words.envelopes import TaskEnvelope
from mailbox.words.errors import InvalidRequestError
from mailbox.words.kinds import Kind
from mailbox.words.times import epoch_ms


def recipients(envelopes: Sequence[TaskEnvelope]) -> Mapping[str, Agent]:
    """Return the agents that the tasks name by their whole displays, by those."""
    named = {getattr(envelope.recipient, "display", None) for envelope in envelopes}
    displays = [display for display in named if isinstance(display, str)]
    rows = Agent.objects.filter(display__in=displays).values_list("pk", "display", "pubkey")
    return {row[1]: Agent.from_identity(*row) for row in rows}


def send_first(
    caller: Caller, envelopes: Sequence[TaskEnvelope], known: Mapping[str, Agent]
) -> tuple[int, Mapping[int, Task]]:
    """Store the tasks before the first that is not plain, in one commit. ``known`` holds their `recipients`.

    Return how many these are, and the stored tasks by their places. A task whose id is taken is not stored. If a quota
    stops one task, none is stored.
    """
    sender = plain.served(caller)
    if sender is None:
        return 0, {}
    now = timezone.now()
    caller, tasks, items = values.informed(caller, now), [], []
    named: set[UUID] = set()
    for place, envelope in enumerate(envelopes, 1):
        task = _task(envelope, sender, known, now)
        if task is None or task.uuid in named:
            break
        permit = plain.permitted(caller, Request.to_send(envelope.recipient, envelope.id), now)
        if permit is None:
            break
        tasks.append(task)
        named.add(task.uuid)
        items.append(values.item(_item(place, task, envelope), permit))
    rows = _stored(caller, sender, items, now) if len(tasks) > 1 else ()
    keys = dict(rows)
    sent = {place: _sent(task, keys[task.uuid]) for place, task in enumerate(tasks) if task.uuid in keys}
    ringing.ring([topics.agent(task.recipient_id) for task in sent.values()])
    audit.note_tasks(task.uuid for task in sent.values())
    return len(tasks), sent


def _task(envelope: TaskEnvelope, sender: Agent, known: Mapping[str, Agent], now: datetime) -> Task | None:
    """Return the unsaved row of a plain task; None for another task."""
    try:
        envelope.check()
    except InvalidRequestError:
        return None
    recipient = known.get(envelope.recipient.display or "")
    if recipient is None or envelope.recipient.pubkey not in (None, recipient.pubkey):
        return None
    if not plain.is_plain(envelope, sender):
        return None
    return Task.from_envelope(envelope, sender=sender, recipient=recipient, now=now)


def _item(place: int, task: Task, envelope: TaskEnvelope) -> dict[str, object]:
    sent = task_entries.TaskSentEntry(task.sender.display, str(envelope.recipient))
    return {
        "place": place,
        "change_data": json_text.dumps(sent.data),
        **statements.new_task_values(task),
    }


def _stored(
    caller: Caller, sender: Agent, items: Sequence[Mapping[str, object]], now: datetime
) -> Sequence[tuple[Any, Any]]:
    rows: Sequence[tuple[Any, Any]] | None = values.store().send(
        items,
        sender=sender.pk,
        most_queued=quotas.QUEUED.default,
        most_queued_to_one=quotas.QUEUED_OF_PAIR.default,
        most_bytes=quotas.BYTES.default,
        check_kind=str(Kind.CAPABILITY_CHECK),
        change_kind=str(Kind.TASK_SENT),
        **plain.stamp(caller, now),
    )
    return rows or ()


def _sent(task: Task, pk: int) -> Task:
    task.pk = pk
    task._state.adding, task._state.db = False, DEFAULT_DB_ALIAS
    return task


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainDrain:
    """The ids of the tasks whose results are acknowledged, and the results that were delivered.

    ``results`` None: the case is not plain, and no result was delivered. ``before``: the attempt got results before.
    """

    acked: frozenset[UUID]
    results: list[Result] | None
    before: bool


def drain(caller: Caller, *, most: int, attempt_id: UUID | None, ack: Collection[UUID]) -> PlainDrain | None:
    """Acknowledge the results of ``ack``, and deliver the caller's oldest pending results, at most ``most``.

    Return None if a constraint or a deadlock stops the statement; nothing has changed then.
    """
    sender = plain.served(caller)
    if sender is None:
        return None
    now = timezone.now()
    drained = values.store().drain(
        list(ack),
        sender=sender.pk,
        most=most,
        budget=BUDGET,
        attempt_id=attempt_id,
        now_ms=epoch_ms(now),
        acked_kind=str(Kind.RESULT_ACKED),
        acked_data=json_text.dumps(task_entries.ResultAckedEntry().data),
        change_kind=str(Kind.RESULT_DELIVERED),
        change_data=json_text.dumps(task_entries.ResultDeliveredEntry(attempt_id).data),
        **plain.credential(caller),
        **plain.stamp(caller, now),
    )
    if drained is None:
        return None
    acked, is_plain, before, rows = drained
    results = [plain.delivered(row) for row in rows]
    audit.note_tasks(result.task.uuid for result in results)
    is_plain = bool(results) or (is_plain and not before)
    return PlainDrain(acked=frozenset(acked), results=results if is_plain else None, before=before)

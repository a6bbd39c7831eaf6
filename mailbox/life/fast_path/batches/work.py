"""The plain case of a worker's call: the results of its last batch, and the leases of its next, in one commit."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS
from django.utils import timezone

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.capabilities import Permit
from mailbox.access.limits import quotas
from mailbox.access.requests import Request
from mailbox.database import managers
from mailbox.database.bell import ringing, topics
from mailbox.database.paging import BUDGET
from mailbox.journal import task_entries
from mailbox.life.fast_path import plain, statements
from mailbox.life.fast_path.batches import values
from mailbox.models import Agent, Lease, Result, Task
from mailbox.models.result import size_of
from mailbox.words import json_text
from mailbox.words.envelopes import ResultEnvelope
from mailbox.words.errors import InvalidRequestError
from mailbox.words.kinds import Kind
from mailbox.words.times import epoch_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainResult:
    """A plain result, and the leased task that takes it, as the task was when it was read."""

    envelope: ResultEnvelope
    task: Task
    journal_seq: int
    lease_id: UUID
    permit: Permit


@dataclass(frozen=True, slots=True, kw_only=True)
class Worked:
    """The results that were posted, by their places, and the leases.

    ``leases`` None: the case is not plain, and no task was leased. ``before``: the attempt leased tasks before.
    """

    results: Mapping[int, Result]
    leases: list[Lease] | None
    before: bool


def answers(caller: Caller, envelopes: Sequence[ResultEnvelope], *, begun: int = 0) -> Mapping[int, PlainResult]:
    """Return the results that are plain, by their places, which count from ``begun``.

    Of two results of one task, only the first is plain.
    """
    holder = plain.served(caller)
    if holder is None:
        return {}
    first = {envelope.task_id: place for place, envelope in reversed(list(enumerate(envelopes, 1)))}
    plain_envelopes = {place: envelope for place, envelope in enumerate(envelopes, 1) if _is_plain(envelope)}
    items = [
        values.item({"place": place, "uuid": envelope.task_id, "lease_id": envelope.lease_id})
        for place, envelope in plain_envelopes.items()
        if first[envelope.task_id] == place
    ]
    rows = values.store().answerable(items, recipient=holder.pk, at=timezone.now()) if items else ()
    caller = values.informed(caller, timezone.now())
    decided = {begun + place - 1: _answer(caller, holder, plain_envelopes[place], *row) for place, *row in rows}
    return {place: answer for place, answer in decided.items() if answer is not None}


def work(
    caller: Caller, plain_results: Mapping[int, PlainResult], *, most: int, attempt_id: UUID | None
) -> Worked | None:
    """Post plain results, and lease the caller's oldest tasks, at most ``most``, in one commit.

    Return None if a constraint or a deadlock stops the batch; nothing has changed then. A result whose task has
    changed since it was read is not posted.
    """
    holder = plain.served(caller)
    if holder is None:
        return None
    now = timezone.now()
    items = {place: _item(number, answer) for number, (place, answer) in enumerate(plain_results.items(), 1)}
    lease_ids = _random_uuids(max(most, 1))
    to_come = task_entries.TaskLeasedEntry(lease_ids[0], statements.ATTEMPT_TO_COME, holder.display)
    worked = values.store().work(
        list(items.values()),
        holder=holder.pk,
        most=most,
        budget=BUDGET,
        attempt_id=attempt_id,
        lease_ids=lease_ids,
        now_ms=epoch_ms(now),
        check_kind=str(Kind.CAPABILITY_CHECK),
        posted_kind=str(Kind.RESULT_POSTED),
        change_kind=str(Kind.TASK_LEASED),
        change_data=json_text.dumps(to_come.data),
        **plain.credential(caller),
        **plain.stamp(caller, now),
    )
    if worked is None:
        return None
    posted, oldest, before, taken = worked
    keys = dict(posted)
    results = {
        place: _posted(answer, items[place], keys[answer.task.pk], now)
        for place, answer in plain_results.items()
        if answer.task.pk in keys
    }
    leases = [plain.leased(holder, row) for row in taken]
    _after(results.values(), leases)
    is_plain = bool(leases) or not (oldest or before)
    return Worked(results=results, leases=leases if is_plain else None, before=before)


def _random_uuids(count: int) -> list[UUID]:
    """Return new random ids. One read of random bytes lets other threads in once, and not for each id."""
    read = os.urandom(16 * count)
    return [UUID(bytes=read[at : at + 16], version=4) for at in range(0, len(read), 16)]


def _is_plain(envelope: ResultEnvelope) -> bool:
    try:
        envelope.check()
    except InvalidRequestError:
        return False
    return envelope.is_plain


def _answer(caller: Caller, holder: Agent, envelope: ResultEnvelope, *row: Any) -> PlainResult | None:
    """Return the result of a task that the row holds; None if it needs more of the gate."""
    pk, task_id, attempt, journal_seq, reads_result, *sender, lease_id = row
    known = {
        "id": pk,
        "uuid": task_id,
        "sender_id": sender[0],
        "recipient_id": holder.pk,
        "attempt": attempt,
        "reads_result": reads_result,
    }
    related = {"sender": Agent.from_identity(*sender), "recipient": holder}
    task = managers.instance_of(Task, list(known), list(known.values()), **related)
    permit = plain.permitted(caller, Request.to_respond(task.sender, task.uuid, envelope.lease_id), timezone.now())
    if permit is None:
        return None
    return PlainResult(envelope=envelope, task=task, journal_seq=journal_seq, lease_id=lease_id, permit=permit)


def _item(number: int, answer: PlainResult) -> dict[str, Any]:
    task, envelope = answer.task, answer.envelope
    content = json_text.dumps([dict(block) for block in envelope.content])
    change = task_entries.ResultPostedEntry(envelope.status, lease_id=answer.lease_id, attempt=task.attempt)
    fields = {
        "place": number,
        "task_id": task.pk,
        "uuid": task.uuid,
        "journal_seq": answer.journal_seq,
        "sender_id": task.sender_id,
        "status": str(envelope.status),
        "content": content,
        "error_message": envelope.error_message,
        "size": size_of(content, envelope.error_message),
        "reads_result": task.reads_result,
        "change_data": json_text.dumps(change.data),
    }
    return values.item(fields, answer.permit)


def _posted(answer: PlainResult, item: Mapping[str, Any], pk: int, now: datetime) -> Result:
    """Return the row of a result that was posted."""
    task = answer.task
    delivery = Result.Delivery.DELIVERED if task.reads_result else Result.Delivery.PENDING
    result = Result(
        pk=pk,
        task=task,
        sender_id=task.sender_id,
        recipient_id=task.recipient_id,
        status=item["status"],
        content=item["content"],
        error_message=item["error_message"],
        posted_by=task.recipient,
        posted_at=now,
        delivery=delivery,
        delivered_at=now if task.reads_result else None,
    )
    result._state.adding, result._state.db = False, DEFAULT_DB_ALIAS
    return result


def _after(posted: Iterable[Result], leases: Iterable[Lease]) -> None:
    """Remember the bytes of the results, and ring the bell for what came."""
    rung = [topics.task(lease.task.uuid) for lease in leases]
    for result in posted:
        quotas.grow_by_result(result.sender_id, result.size)
        rung += [topics.sender(result.sender_id), topics.task(result.task.uuid)]
    ringing.ring(rung)
    audit.note_tasks(topics.tasks_among(rung))

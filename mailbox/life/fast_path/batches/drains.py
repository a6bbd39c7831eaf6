"""The plain case of a sender's call: it acknowledges its last results and drains its next, in one commit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.database import instances
from mailbox.database.paging import BUDGET
from mailbox.journal import changed_tasks, entries
from mailbox.life.fast_path import plain
from mailbox.life.fast_path.batches import values
from mailbox.models import Result, Task
from mailbox.words import json_text
from mailbox.words.kinds import Kind
from mailbox.words.times import epoch_ms


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
        acked_data=json_text.dumps(entries.result_acked().data),
        change_kind=str(Kind.RESULT_DELIVERED),
        change_data=json_text.dumps(entries.result_delivered(attempt_id).data),
        **values.credential(caller),
        **values.stamp(caller, now),
    )
    if drained is None:
        return None
    acked, is_plain, before, rows = drained
    results = [_delivered(row) for row in rows]
    changed_tasks.note(result.task.uuid for result in results)
    is_plain = bool(results) or (is_plain and not before)
    return PlainDrain(acked=frozenset(acked), results=results if is_plain else None, before=before)


def _delivered(row: Sequence[Any]) -> Result:
    result = instances.of_row(Result, plain.RESULT, row[:-3])
    result.task = instances.of_row(Task, plain.DELIVERED, row[-3:])
    return result

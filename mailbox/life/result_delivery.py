"""The delivery of results to the sender of their tasks, within a drain."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from mailbox.access.audit import Journal
from mailbox.database.paging import AT_ONCE, BUDGET
from mailbox.journal import entries
from mailbox.models import Result


def deliver(
    free: QuerySet[Result], delivered: list[Result], limit: int, attempt_id: UUID | None, journal: Journal
) -> bool:
    """Deliver results of ``free`` until ``delivered`` has ``limit``, or one more would exceed `paging.BUDGET` bytes.

    Return whether ``delivered`` has room for more. A first result beyond the budget is delivered alone. ``free`` locks
    the task of each result. Journals ``a2a_result_delivered``.
    """
    room = BUDGET - sum(result.size for result in delivered)
    while len(delivered) < limit:
        wanted = min(limit - len(delivered), AT_ONCE)
        found = list(free[:wanted])
        for result in found:
            if delivered and result.size > room:
                return False
            if _mark(result, len(delivered), attempt_id, journal):
                delivered.append(result)
                room -= result.size
        if len(found) < wanted:
            return True
    return False


def _mark(result: Result, index: int, attempt_id: UUID | None, journal: Journal) -> bool:
    """Mark a result as delivered. Return whether it was still pending.

    Only the task is locked. The filter skips a result that was delivered between the snapshot and the lock.
    """
    how = {"delivered_at": journal.now, "receive_attempt_id": attempt_id, "receive_index": index}
    pending = Result.objects.pending().filter(pk=result.pk)
    if not pending.update(delivery=Result.Delivery.DELIVERED, **how):
        return False
    result.refresh_from_db(fields=["delivery", *how])
    result.task.change()
    journal.life(result.task, entries.result_delivered(attempt_id))
    return True

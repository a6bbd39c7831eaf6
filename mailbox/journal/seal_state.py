"""The state of the seals, in a few indexed queries. Only a verification reads the rows of blocks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import BigIntegerField

from mailbox.database import compiled
from mailbox.database.compiled import Given
from mailbox.journal.seals import Head
from mailbox.models import AuditEvent, Seal


@dataclass(frozen=True, slots=True, kw_only=True)
class SealState:
    """``head`` is the newest block, None without one. ``waits_since`` is the time of the oldest row without a seal.

    ``problem`` says why the seals cannot be right, "" without a reason.
    """

    head: Head | None
    waits_since: datetime | None
    problem: str


def state() -> SealState:
    """Return the state of the seals."""
    newest = Seal.objects.newest()
    waits_since: list[datetime] = _unsealed().rows(after=newest.last_id if newest else 0)
    return SealState(
        head=Head.of(newest.block) if newest else None,
        waits_since=waits_since[0] if waits_since else None,
        problem=_problem(newest),
    )


@compiled.once
def _unsealed() -> Any:
    """Return the query of the time of the oldest row after the last sealed row."""
    rows = AuditEvent.objects.filter(pk__gt=Given("after", BigIntegerField()))
    return rows.order_by("pk").values_list("at", flat=True)[:1]


def _problem(newest: Seal | None) -> str:
    recorded = Head.recorded()
    if recorded is not None and not recorded.is_in_the_journal():
        return f"the block up to row {recorded.last_id} is missing or was changed"
    if newest is not None and not newest.block.is_signed():
        return f"the block up to row {newest.last_id} was changed"
    return ""

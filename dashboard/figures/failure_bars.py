"""The small charts of the failures page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from dashboard.figures.charts import Bar, Range
from dashboard.forms import choices
from mailbox.inspection.statistics.failures import FailureGroup
from mailbox.models.failure import MINUTE, minute_of, moment_of

RANGES = (
    Range(name="1h", span=timedelta(hours=1), step=timedelta(minutes=2)),
    Range(name="24h", span=timedelta(hours=24), step=timedelta(hours=1)),
    Range(name="7d", span=timedelta(days=7), step=timedelta(hours=6)),
)
USUAL = "24h"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """A group of failures with its bars, oldest first."""

    group: FailureGroup
    bars: Sequence[Bar]
    scale: Range

    @property
    def version(self) -> object:
        """A value that changes when the row looks different."""
        sample: Any = self.group.sample
        return self.group.fingerprint, self.group.count, sample and sample.pk


def range_named(asked: str | None) -> Range:
    """Return the range of this name, a day for None; raise `InvalidRequestError`."""
    named = {one.name: one for one in RANGES}
    return named[choices.one_of("range", asked, named, USUAL)]


def start_of(scale: Range, now: datetime) -> datetime:
    """Return the beginning of the first slot. The last slot holds ``now``. Slots are counted from 1970."""
    return moment_of(_last(scale, now) - (scale.bars - 1) * (scale.step // MINUTE))


def row_of(group: FailureGroup, scale: Range, now: datetime) -> GroupRow:
    return GroupRow(group=group, bars=_bars(group.slots, scale, now), scale=scale)


def _last(scale: Range, now: datetime) -> int:
    step = scale.step // MINUTE
    return minute_of(now) // step * step


def _bars(slots: Mapping[int, int], scale: Range, now: datetime, *, height: float = 20) -> Sequence[Bar]:
    top = max(slots.values(), default=0) or 1
    step = scale.step // MINUTE
    first = minute_of(start_of(scale, now)) // step
    return [
        Bar(x=4 * place, y=height - tall, width=3, height=tall, kind="error", label="", count=count)
        for place in range(scale.bars)
        if (count := slots.get(first + place, 0))
        for tall in [max(2.0, round(height * count / top, 1))]
    ]

"""Failures: results with an error, also those of cancelled, rejected and expired tasks.

A group has the failures of one agent with one outcome and one pattern of messages. Failures are filed by
`mailbox.upkeep.failure_filing`. The newest failures are not filed yet, and are counted directly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from mailbox.models import Agent, Failure, Result, RollUpTurn
from mailbox.models.failure import MINUTE, FailureQuerySet, minute_of, moment_of
from mailbox.words import digests

AMONG = 1_000  # the newest errors of the hub, in which those of one agent are looked for
COUNTED = 50_000  # the newest filed failures of a range that are counted
UNFILED = 500  # the newest failures without a file that are counted
GROUPS = 100  # groups of one page


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureGroup:
    """Failures of one cause. The times are whole minutes.

    ``slots`` has the number of failures by time slot, counted from 1970. ``sample`` is the newest failure; None if it
    was compacted.
    """

    fingerprint: str
    agent: str
    outcome: str
    count: int
    first_at: datetime
    last_at: datetime
    sample: Result | None
    slots: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """The groups of a time range.

    ``since`` is later than requested if the range has more than `COUNTED` failures: ``is_short``. ``is_cut`` is whether
    there are further groups, ``is_behind`` whether older failures are not filed yet, and so not counted.
    """

    groups: Sequence[FailureGroup]
    since: datetime
    is_short: bool = False
    is_cut: bool = False
    is_behind: bool = False


@dataclass(frozen=True, slots=True)
class _Seen:
    """Failures of one fingerprint: their number, their first and last minute, and the key of the newest task."""

    fingerprint: str
    agent: int
    outcome: str
    count: int
    first: int
    last: int
    sample: int

    def plus(self, other: _Seen) -> _Seen:
        return replace(
            self,
            count=self.count + other.count,
            first=min(self.first, other.first),
            last=max(self.last, other.last),
            sample=max(self.sample, other.sample),
        )


def newest_of(agent: Agent, *, most: int) -> Sequence[Result]:
    """Return the ``most`` newest errors of this agent among the newest `AMONG` of the hub, newest first."""
    errors = Result.objects.errors()
    rows = errors.filter(pk__in=errors.order_by("-pk").values("pk")[:AMONG], recipient=agent)
    return list(rows.with_opening().with_error_line().order_by("-pk")[:most])


def read(start: datetime, *, slot: timedelta, agent: Agent | None = None, by_last: bool = False) -> Failures:
    """Return the groups of failures since ``start``, the largest first, or ``by_last`` the newest first."""
    failures, since = _bounded(Failure.objects.of_agent(agent), start)
    rows = failures.by_fingerprint().order_by("-last" if by_last else "-count", "-sample")[: GROUPS + 1]
    fresh = [part for part in _unfiled(agent) if part.first >= minute_of(since)]
    seen = _summed([*(_Seen(*row) for row in rows), *fresh])
    seen.sort(key=lambda part: (part.last, part.count) if by_last else (part.count, part.last), reverse=True)
    return Failures(
        groups=_groups(seen[:GROUPS], failures, fresh, slot // MINUTE),
        since=since,
        is_short=since > start,
        is_cut=len(seen) > GROUPS,
        is_behind=len(fresh) == UNFILED,
    )


def group_of(fingerprint: str, start: datetime, *, slot: timedelta) -> FailureGroup | None:
    """Return the group of the failures of this fingerprint since ``start``, None without any failure.

    Of more than `COUNTED` failures, only those of the newest minutes are counted.
    """
    failures, since = _bounded(Failure.objects.filter(fingerprint=fingerprint), start)
    fresh = [one for one in _unfiled(None) if one.fingerprint == fingerprint and one.first >= minute_of(since)]
    seen = _summed([*(_Seen(*row) for row in failures.by_fingerprint()), *fresh])
    return next(iter(_groups(seen, failures, fresh, slot // MINUTE)), None)


def _bounded(failures: FailureQuerySet, start: datetime) -> tuple[FailureQuerySet, datetime]:
    """Return the failures since ``start``, at most `COUNTED`, and the moment since which they are whole."""
    failures = failures.since(minute_of(start))
    beyond = failures.minute_beyond(COUNTED)
    since = start if beyond is None else moment_of(beyond + 1)
    return failures.since(minute_of(since)), since


def _unfiled(agent: Agent | None) -> list[_Seen]:
    """Return the newest failures that are not filed yet, each alone, at most `UNFILED`."""
    after = Result.objects.errors_after(RollUpTurn.read().filed_to, digests.READ).filter(task__failure=None)
    rows = (after if agent is None else after.filter(recipient=agent)).order_by("-pk")[:UNFILED]
    return [
        _Seen(digests.fingerprint(display, outcome, message or ""), to, outcome, 1, minute, minute, task)
        for _, task, outcome, to, display, posted_at, message in rows
        for minute in [minute_of(posted_at)]
    ]


def _summed(parts: Iterable[_Seen]) -> list[_Seen]:
    sums: dict[str, _Seen] = {}
    for one in parts:
        sums[one.fingerprint] = sums[one.fingerprint].plus(one) if one.fingerprint in sums else one
    return list(sums.values())


def _groups(
    seen: Collection[_Seen], failures: FailureQuerySet, fresh: Iterable[_Seen], slot: int
) -> list[FailureGroup]:
    slots: dict[str, Counter[int]] = {one.fingerprint: Counter() for one in seen}
    for fingerprint, place, count in failures.filter(fingerprint__in=slots).by_slot(slot):
        slots[fingerprint][place] += count
    for one in fresh:
        if one.fingerprint in slots:
            slots[one.fingerprint][one.first // slot] += 1
    newest = Result.objects.filter(task__in=[one.sample for one in seen]).with_opening().with_error_line()
    samples = {result.task_id: result for result in newest}
    names = Agent.objects.in_bulk({one.agent for one in seen})
    return [
        FailureGroup(
            fingerprint=one.fingerprint,
            agent=names[one.agent].display,
            outcome=one.outcome,
            count=one.count,
            first_at=moment_of(one.first),
            last_at=moment_of(one.last),
            sample=samples.get(one.sample),
            slots=slots[one.fingerprint],
        )
        for one in seen
    ]

"""The life of a task as one stream: its attempts, its messages and its artifacts in the order of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from dashboard.wording.conversation import ArtifactList, Saying, Shown, Talk
from dashboard.wording.journal import JournalLine
from dashboard.wording.task_story import AttemptTiming
from mailbox.models import Lease

# The endings of attempts that no message and no result tells.
TOLD_BY_NOTHING = {
    Lease.End.REQUEUE,
    Lease.End.AUTO_REQUEUE,
    Lease.End.FORCE_ERROR,
    Lease.End.RELEASE,
    Lease.End.CANCEL,
    Lease.End.EXPIRED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamStep:
    """One step of the stream. Exactly one of the first four fields is set.

    ``act`` is the journal row that ended the attempt, None if it was not read.
    """

    at: datetime
    began: AttemptTiming | None = None
    ended: AttemptTiming | None = None
    said: Saying | None = None
    made: Shown | None = None
    act: JournalLine | None = None

    @property
    def rank(self) -> int:
        """The order of steps at the same instant."""
        return 0 if self.ended else 1 if self.began else 2


def entries(
    talk: Talk, made: ArtifactList, attempts: Sequence[AttemptTiming], acts: Sequence[JournalLine], *, is_back: bool
) -> list[StreamStep]:
    """Return the steps, oldest first. Where messages are left out, the attempts of their time are left out too.

    ``is_back`` is whether newer messages are left out. Artifacts then stand on the newest page alone.
    """
    since = talk.sayings[0].at if talk.sayings and talk.earlier else None
    until = talk.sayings[-1].at if talk.sayings and is_back else None
    found = [StreamStep(at=one.at, said=one) for one in talk.sayings]
    found += [
        step
        for step in _attempts(attempts, acts)
        if (since is None or step.at >= since) and (until is None or step.at <= until)
    ]
    if not is_back:
        found += [StreamStep(at=one.artifact.since, made=one) for one in made.shown]
    return sorted(found, key=lambda step: (step.at, step.rank))


def quoted(acts: Sequence[JournalLine], talk: Talk) -> list[JournalLine]:
    """Return the journal rows, those of messages with the beginning of their text as the reason."""
    texts: Mapping[int | None, str] = {one.seq: one.opening for one in talk.sayings}
    return [replace(act, reason=act.reason or texts.get(act.event.seq, "")) for act in acts]


def _attempts(attempts: Sequence[AttemptTiming], acts: Sequence[JournalLine]) -> Iterator[StreamStep]:
    ends = {act.event.at: act for act in acts if act.is_life and act.reason}
    for one in attempts:
        yield StreamStep(at=one.lease.leased_at, began=one)
        if one.lease.ended_at and one.lease.end in TOLD_BY_NOTHING:
            yield StreamStep(at=one.lease.ended_at, ended=one, act=ends.get(one.lease.ended_at))

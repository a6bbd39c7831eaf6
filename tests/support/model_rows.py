"""The rows of `model`: tasks with their leases and their answer, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

SPENT_IDS_KEPT = timedelta(minutes=10)
INTENT = "summarise the report"
KINDS = {
    "sent": "a2a_task_sent",
    "leased": "a2a_task_leased",
    "noted": "a2a_task_updated",
    "placed": "a2a_task_updated",
    "added": "a2a_task_updated",
    "asked": "a2a_task_asked",
    "said": "a2a_message_sent",
    "released": "a2a_task_released",
    "requeued": "a2a_repair_applied",
    "auto-requeued": "a2a_repair_applied",
    "forced": "a2a_repair_applied",
    "posted": "a2a_result_posted",
    "cancelled": "a2a_task_cancelled",
    "expired": "a2a_task_expired",
    "woken": "a2a_task_woken",
    "replayed": "a2a_result_replayed",
    "delivered": "a2a_result_delivered",
    "acked": "a2a_result_acked",
}


class Refused(Exception):  # noqa: N818 it is an answer
    """The model refuses an act. ``code`` is the error code."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


class Work(NamedTuple):
    """The cache key of a task: idempotent tasks with the same key are duplicates."""

    sender: str
    recipient: str
    kind: str
    key: str


@dataclass
class Lease:
    attempt: int
    leased_at: datetime
    ended_at: datetime | None = None
    end: str | None = None
    attempt_id: UUID | None = None
    index: int = 0  # within its receive attempt


@dataclass(kw_only=True)
class Answer:
    status: str
    text: str | None
    message: str | None
    number: int  # in the order of posting
    by_holder: bool
    direct: bool
    replayed_from: UUID | None
    delivery: str = "pending"
    delivered_at: datetime | None = None
    acked_at: datetime | None = None
    attempt_id: UUID | None = None


@dataclass(kw_only=True, eq=False)
class Task:
    id: UUID
    number: int  # in the order of sending
    sender: str
    recipient: str
    safety: str | None
    key: str | None
    kind: str | None
    deadline: datetime | None
    work_timeout: timedelta | None
    queued_at: datetime
    converses: bool = True
    state: str = "queued"
    awaits: str | None = None  # while interrupted: what its sender must give
    turn: int = 1
    spoken: list[tuple[str, str]] = field(default_factory=list)  # the role and the text of each message, in order
    produced: dict[str, list[str]] = field(default_factory=dict)  # the texts of each artifact, by its id
    outcome: str | None = None
    waits_on: Task | None = None
    leases: list[Lease] = field(default_factory=list)
    answer: Answer | None = None
    story: list[str] = field(default_factory=list)  # all events of the task in order, with refusals and repetitions
    dropped: bool = False

    @property
    def life(self) -> list[str]:
        """The kinds of the task's numbered journal rows."""
        return [KINDS[event] for event in self.story if event in KINDS]

    @property
    def work(self) -> Work | None:
        if self.safety != "idempotent" or self.key is None:
            return None
        return Work(self.sender, self.recipient, self.kind or INTENT, self.key.strip())

    @property
    def live(self) -> Lease | None:
        return next((lease for lease in self.leases if lease.end is None), None)

    def lease_of(self, attempt_id: UUID | None) -> Lease | None:
        """Return its lease of a receive attempt, live or ended; None if it has none."""
        return next((lease for lease in self.leases if attempt_id and lease.attempt_id == attempt_id), None)

    def wait_on(self, leader: Task | None) -> None:
        self.waits_on = leader
        if leader is not None:
            self.story.append("waits")

    def is_overdue(self, now: datetime) -> bool:
        return self.state in ("queued", "interrupted") and self.deadline is not None and self.deadline <= now

    def has_timed_out(self, now: datetime) -> bool:
        lease, limit = self.live, self.work_timeout
        return lease is not None and limit is not None and lease.leased_at + limit <= now

    def is_finished(self, now: datetime, keep_delivered: timedelta) -> bool:
        """Whether a compaction may drop it. Delivered results are kept this long, acknowledged results no longer."""
        answer = self.answer
        if answer is None or answer.delivery == "pending":
            return False
        return answer.delivery == "acked" or (
            answer.delivered_at is not None and answer.delivered_at <= now - keep_delivered
        )

    def is_spent_lately(self, now: datetime) -> bool:
        """Whether a lease or the answer came with a receive attempt and ended lately."""
        times = [lease.ended_at for lease in self.leases if lease.attempt_id]
        if self.answer and self.answer.attempt_id:
            times += [self.answer.delivered_at, self.answer.acked_at]
        return any(time is not None and time > now - SPENT_IDS_KEPT for time in times)

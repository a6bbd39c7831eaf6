"""The history of a task as a sequence of states: pure functions over its journal and its leases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from dashboard.wording.journal import JournalLine
from mailbox.models import Lease, Task
from mailbox.words.kinds import Kind


@dataclass(slots=True, kw_only=True)
class Card:
    """A state of the task, with the journal rows that began and followed it.

    ``until`` is None while the task is in this state.
    """

    state: str
    act: JournalLine
    until: datetime | None = None
    notes: list[JournalLine] = field(default_factory=list)

    @property
    def since(self) -> datetime:
        return self.act.event.at

    @property
    def is_final(self) -> bool:
        return self.state in Task.Outcome.values

    @property
    def attempt(self) -> int | None:
        return self.act.event.fields.get("attempt") if self.state == Task.State.IN_FLIGHT else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptTiming:
    """A lease with its times: in the queue before it, at work, and until the next lease.

    ``waited`` is None if the attempt before it was not read. ``gap`` is None if no lease follows yet. ``ending`` is the
    state in which the attempt ended, ``in_flight`` while it lasts.
    """

    lease: Lease
    ending: str
    waited: timedelta | None
    ran: timedelta
    gap: timedelta | None


def cards(acts: Sequence[JournalLine]) -> list[Card]:
    """Return the states of a task, newest first. ``acts`` are the rows of its life in order."""
    cards: list[Card] = []
    for act in acts:
        state = _leads_to(act)
        if state:
            if cards:
                cards[-1].until = act.event.at
            cards.append(Card(state=state, act=act))
        elif cards:
            cards[-1].notes.append(act)
    return cards[::-1]


def attempts(task: Task, leases: Sequence[Lease], now: datetime) -> list[AttemptTiming]:
    """Return the attempts of ``leases``, which are the task's newest leases, newest first."""
    timings = []
    later: Lease | None = None
    for place, lease in enumerate(leases):
        earlier = leases[place + 1] if place + 1 < len(leases) else None
        queued_at = earlier.ended_at if earlier else task.sent_at if lease.attempt == 1 else None
        ended_at = lease.ended_at or now
        timings.append(
            AttemptTiming(
                lease=lease,
                ending=ending_of(lease, task),
                waited=lease.leased_at - queued_at if queued_at else None,
                ran=ended_at - lease.leased_at,
                gap=later.leased_at - ended_at if later else None,
            )
        )
        later = lease
    return timings


def ending_of(lease: Lease, task: Task) -> str:
    """Return the state in which an attempt of ``task`` ended, ``in_flight`` while it lasts."""
    if lease.end == Lease.End.RESULT:
        return OF_A_RESULT.get(task.outcome or "", "result")
    return lease.end or "in_flight"


# The ending of the attempt whose result ended the task so.
OF_A_RESULT: Mapping[str, str] = {
    Task.Outcome.ERROR: "failed",
    Task.Outcome.PARTIAL: "partial",
    Task.Outcome.REJECTED: "rejected",
}

# The state after a row of these kinds, with any data.
LEADS_TO: Mapping[str, str] = {
    Kind.TASK_WOKEN: "queued",
    Kind.TASK_RELEASED: "queued",
    Kind.TASK_LEASED: "in_flight",
    Kind.TASK_ASKED: "interrupted",
    Kind.TASK_CANCELLED: "cancelled",
    Kind.TASK_EXPIRED: "expired",
}


def _leads_to(act: JournalLine) -> str:
    """Return the state that this row put the task into; "" if the row changed no state."""
    data = act.event.fields
    match act.event.kind:
        case Kind.TASK_SENT:
            return "waiting" if data.get("waits_on") else "queued"
        case Kind.MESSAGE_SENT:
            return "queued" if data.get("answers") else ""
        case Kind.REPAIR_APPLIED:
            return "error" if data.get("action") == "force_error" else "queued"
        case Kind.RESULT_POSTED | Kind.RESULT_REPLAYED:
            return str(data.get("status") or "ok")
    return LEADS_TO.get(act.event.kind, "")

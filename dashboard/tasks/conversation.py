"""The conversation, the artifacts and the history of a task, as its page shows them.

Of messages and artifacts it shows the newest, each up to a length. The history is a sequence of states.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from dashboard.wording import journal, payload
from mailbox.inspection import answers, tasks
from mailbox.inspection.answers import Produced
from mailbox.models import Agent, Lease, Message, Task
from mailbox.words import content, kinds

OPENING = 300  # characters of a message in the history
MESSAGES, ARTIFACTS = 30, 20  # messages and artifacts of a page
MESSAGE_SHOWN = 2_000  # characters of a message, and of what stands beside an artifact
READ = 4 * payload.SHOWN  # characters of JSON
LARGEST_CHUNK = 2**20  # characters of a chunk that a page still reads
# The ending of the attempt whose result ended the task so.
OF_A_RESULT: Mapping[str, str] = {
    Task.Outcome.ERROR: "failed",
    Task.Outcome.PARTIAL: "partial",
    Task.Outcome.REJECTED: "rejected",
}


class Saying(NamedTuple):
    """A message. ``turn`` counts the messages of the task's sender, from 1 for the task itself; None for its agent's.

    ``details`` is what its author sent beside it, as JSON; "" without anything. ``left`` counts the blocks that are not
    shown.
    """

    seq: int
    at: datetime
    by: Agent
    turn: int | None
    parts: Sequence[payload.Part]
    left: int
    message_id: str
    details: str
    is_question: bool

    @property
    def whole(self) -> str:
        """The name of the whole message among the task's parts."""
        return f"message-{self.seq}"

    @property
    def opening(self) -> str:
        """The beginning of its text; "" for a message of files alone."""
        return next((part.text[:OPENING] for part in self.parts if part.text), "")


class Talk(NamedTuple):
    """Messages in order. ``earlier`` is the number of the first if earlier messages are left out, else None."""

    sayings: Sequence[Saying]
    earlier: int | None

    @property
    def question(self) -> Saying | None:
        """The newest question; None without one among the messages."""
        return next((one for one in reversed(self.sayings) if one.is_question), None)

    @property
    def progress(self) -> payload.Part | None:
        """The newest progress among the messages; None without one."""
        parts = (part for one in reversed(self.sayings) for part in reversed(one.parts))
        return next((part for part in parts if part.share is not None), None)


class Shown(NamedTuple):
    """An artifact with its first parts. ``details`` is its metadata as JSON, "" without any.

    ``is_cut`` is whether some of its content is not shown.
    """

    artifact: Produced
    name: str
    description: str
    details: str
    parts: Sequence[payload.Part]
    is_cut: bool

    @property
    def title(self) -> str:
        return self.name or self.artifact.artifact_id

    @property
    def is_open(self) -> bool:
        """Whether it is short enough to be open at first."""
        return sum(len(part.text or "") for part in self.parts) <= MESSAGE_SHOWN

    @property
    def whole(self) -> str:
        """The name of the whole artifact among the task's parts."""
        return f"artifact-{self.artifact.seq}"


class ArtifactList(NamedTuple):
    """The newest artifacts in order. ``left`` counts the earlier artifacts."""

    shown: Sequence[Shown]
    left: int

    @property
    def total(self) -> int:
        return self.left + len(self.shown)


def talk(task: Task, questions: Collection[int], *, before: int | None) -> Talk:
    """Return the newest messages of a task, or the newest before the number ``before``.

    ``questions`` are the numbers of its questions. Two queries, and one more with ``before``.
    """
    newest, is_all = tasks.newest_messages(task, most=MESSAGES, characters=READ, before=before)
    turn = task.turn - tasks.count_sender_messages(task, before) if before is not None else task.turn
    sayings: list[Saying] = []
    for message in reversed(newest):
        is_sender = message.role == Message.Role.USER
        sayings.append(_saying(task, message, turn if is_sender else None, is_question=message.seq in questions))
        turn -= is_sender
    return Talk(sayings=sayings[::-1], earlier=None if is_all or not newest else newest[0].seq)


def made(task: Task) -> ArtifactList:
    """Return the newest artifacts of a task. Three queries at most."""
    every = answers.produced_artifacts(task)
    wanted = every[-ARTIFACTS:]
    if not wanted:
        return ArtifactList(shown=[], left=0)
    details = answers.artifact_details(task, wanted)
    blocks = answers.beginnings(task, wanted, characters=READ, largest=LARGEST_CHUNK)
    room = payload.SHOWN // len(wanted)
    shown = [_shown(one, details[one.seq], blocks[one.seq], room) for one in wanted]
    return ArtifactList(shown=shown, left=len(every) - len(wanted))


def _saying(task: Task, message: Message, turn: int | None, *, is_question: bool) -> Saying:
    blocks = message.blocks
    return Saying(
        seq=message.seq,
        at=message.said_at,
        by=task.recipient if turn is None else task.sender,
        turn=turn,
        parts=payload.of_blocks(blocks, of=f"message-{message.seq}-", characters=MESSAGE_SHOWN),
        left=max(0, len(blocks) - payload.BLOCKS_SHOWN),
        message_id=message.message_id,
        details=_beside(message.details),
        is_question=is_question,
    )


def _shown(artifact: Produced, details: dict[str, Any], read: tuple[Sequence[Any], bool], characters: int) -> Shown:
    blocks, is_all = list(content.joined(read[0])), read[1]
    parts = payload.of_blocks(blocks, of=f"artifact-{artifact.seq}-", characters=characters)
    return Shown(
        artifact=artifact,
        name=str(details.pop("name", "")),
        description=str(details.pop("description", "")),
        details=_beside(details),
        parts=parts,
        is_cut=not is_all or len(blocks) > len(parts) or any(part.is_cut for part in parts),
    )


def _beside(details: dict[str, Any]) -> str:
    return payload.pretty(details)[:MESSAGE_SHOWN] if details else ""


@dataclass(slots=True, kw_only=True)
class Card:
    """A state of the task, with the journal rows that began and followed it.

    ``until`` is None while the task is in this state.
    """

    state: str
    act: journal.JournalLine
    until: datetime | None = None
    notes: list[journal.JournalLine] = field(default_factory=list)

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


def cards(acts: Sequence[journal.JournalLine]) -> list[Card]:
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


# The state after a row of these kinds, with any data.
LEADS_TO: Mapping[str, str] = {
    kinds.Kind.TASK_WOKEN: "queued",
    kinds.Kind.TASK_RELEASED: "queued",
    kinds.Kind.TASK_LEASED: "in_flight",
    kinds.Kind.TASK_ASKED: "interrupted",
    kinds.Kind.TASK_CANCELLED: "cancelled",
    kinds.Kind.TASK_EXPIRED: "expired",
}


def _leads_to(act: journal.JournalLine) -> str:
    """Return the state that this row put the task into; "" if the row changed no state."""
    data = act.event.fields
    match act.event.kind:
        case kinds.Kind.TASK_SENT:
            return "waiting" if data.get("waits_on") else "queued"
        case kinds.Kind.MESSAGE_SENT:
            return "queued" if data.get("answers") else ""
        case kinds.Kind.REPAIR_APPLIED:
            return "error" if data.get("action") == "force_error" else "queued"
        case kinds.Kind.RESULT_POSTED | kinds.Kind.RESULT_REPLAYED:
            return str(data.get("status") or "ok")
    return LEADS_TO.get(act.event.kind, "")

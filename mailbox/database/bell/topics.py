"""The topics of the bell: those that each kind of journal row rings, and those for which other processes wait.

On PostgreSQL each process announces the topics that its threads wait for. While no announcement covers a topic, its
rings stay in this process.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import Protocol
from uuid import UUID

from mailbox.words.kinds import Kind

_AGENT, _SENDER, _TASK = "agent ", "sender ", "task "
_ANY = "*"
CALLBACKS = "callbacks"  # a callback became due
ROUND = "round"  # the next round of the watch is due, in each process with waiters
WITHOUT_LOOK = (CALLBACKS, f"{_AGENT}{_ANY}", f"{_SENDER}{_ANY}")  # each round of the watch rings them
SHARED = (_AGENT, _SENDER)  # one thing that came on such a topic needs one waiter; all other topics need all waiters
RENEWED_EVERY = 1.5  # seconds between two announcements of a process with waiters
LASTS = 5.0  # seconds after which an announcement runs out, since its process may have crashed
COMPLETE_AFTER = 2.5  # seconds of hearing after which each process with waiters has announced its topics
MOST_NAMED = 50  # topics of one announcement; beyond, it names their kinds


class Ring(Enum):
    """The topics of a task that a journal row rings."""

    RECIPIENT = auto()  # its recipient may have a task to lease
    SENDER = auto()  # its sender has a result to drain, and its callback is due if it has one
    TASK = auto()  # a reader of the task sees a change
    CALLBACK = auto()  # a callback is due, also without a task
    ROUND = auto()  # many tasks may have become leasable, so the watch looks for all waiters


def agent(pk: int | None) -> str:
    """Return the topic of tasks to lease for the agent with this primary key. None: for any agent."""
    return f"{_AGENT}{_ANY if pk is None else pk}"


def sender(pk: int | None) -> str:
    """Return the topic of results to drain for the agent with this primary key. None: for any agent."""
    return f"{_SENDER}{_ANY if pk is None else pk}"


def task(uuid: UUID) -> str:
    """Return the topic of changes that readers of one task see."""
    return f"{_TASK}{uuid.hex}"


def any_of(topic: str) -> str | None:
    """Return the topic of the waiters for any agent; None for a topic that is not shared."""
    return next((f"{kind}{_ANY}" for kind in SHARED if topic.startswith(kind)), None)


def kind(topic: str) -> str:
    """Return the topic that stands for all topics of this kind."""
    named, blank, _ = topic.partition(" ")
    return f"{named} {_ANY}" if blank else topic


def is_task(topic: str) -> bool:
    """Whether this is a topic of changes of one task."""
    return topic.startswith(_TASK)


def may_run_out(topic: str) -> bool:
    """Whether this is the topic of a task, or of the results of one agent, which change when a task's time is up."""
    return topic.startswith((_TASK, _SENDER)) and not topic.endswith(_ANY)


def agents_among(topics: Sequence[str]) -> list[int]:
    """Return the primary keys of the agents whose tasks are waited for."""
    return _keys(_AGENT, topics)


def senders_among(topics: Sequence[str]) -> list[int]:
    """Return the primary keys of the agents whose results are waited for."""
    return _keys(_SENDER, topics)


def tasks_among(topics: Sequence[str]) -> list[UUID]:
    """Return the ids of the tasks that are waited for."""
    return [UUID(topic.removeprefix(_TASK)) for topic in topics if topic.startswith(_TASK)]


def _keys(kind: str, topics: Sequence[str]) -> list[int]:
    named = (topic.removeprefix(kind) for topic in topics if topic.startswith(kind))
    return [int(key) for key in named if key != _ANY]


# Other kinds change no task that a thread waits for.
RINGS: Mapping[Kind, Sequence[Ring]] = dict[Kind, Sequence[Ring]].fromkeys(Kind, ()) | {
    Kind.TASK_SENT: (Ring.RECIPIENT,),
    Kind.TASK_LEASED: (Ring.TASK,),
    Kind.TASK_RELEASED: (Ring.RECIPIENT, Ring.TASK),
    Kind.TASK_CANCELLED: (Ring.SENDER, Ring.TASK),
    Kind.TASK_EXPIRED: (Ring.SENDER, Ring.TASK),
    Kind.TASK_UPDATED: (Ring.TASK,),
    Kind.TASK_ASKED: (Ring.TASK,),
    Kind.MESSAGE_SENT: (Ring.RECIPIENT, Ring.TASK),  # an answer queues the task again
    Kind.TASK_WOKEN: (Ring.RECIPIENT, Ring.TASK),
    Kind.RESULT_POSTED: (Ring.SENDER, Ring.TASK),
    Kind.RESULT_REPLAYED: (Ring.SENDER, Ring.TASK),
    Kind.REPAIR_APPLIED: (Ring.RECIPIENT, Ring.SENDER, Ring.TASK),  # requeued, or resolved as an error
    Kind.PUSH_CONFIG_SET: (Ring.CALLBACK,),  # the courier listens to the task from now on
    Kind.PUSH_RESENT: (Ring.CALLBACK,),
    Kind.AGENT_RESUMED: (Ring.ROUND,),
}


class Parties(Protocol):
    """The fields of a task that the bell reads."""

    @property
    def uuid(self) -> UUID: ...
    @property
    def sender_id(self) -> int: ...
    @property
    def recipient_id(self) -> int: ...
    @property
    def calls_back(self) -> bool: ...


def of_task(kind: Kind, changed: Parties) -> list[str]:
    """Return the topics that a journal row of ``kind`` rings for this task."""
    rings = RINGS[kind]
    topics = [task(changed.uuid)] if Ring.TASK in rings else []
    if Ring.RECIPIENT in rings:
        topics.append(agent(changed.recipient_id))
    if Ring.SENDER in rings:
        topics.append(sender(changed.sender_id))
        topics += [CALLBACKS] if changed.calls_back else []
    return topics


def of_kind(kind: Kind) -> list[str]:
    """Return the topics that a journal row of ``kind`` without a number rings."""
    rings = RINGS[kind]
    return [topic for ring, topic in ((Ring.CALLBACK, CALLBACKS), (Ring.ROUND, ROUND)) if ring in rings]


class _Elsewhere:
    def __init__(self) -> None:
        self.topics: frozenset[str] | None = None  # None: unknown, so every ring is sent
        self.complete_at: float | None = None  # None: this process hears no announcements
        self.processes: dict[str, tuple[set[str], float]] = {}  # by name: the topics, and when they run out


_elsewhere = _Elsewhere()
os.register_at_fork(after_in_child=_elsewhere.__init__)  # type: ignore[misc] # a new process hears nothing yet


def begin_elsewhere(now: float) -> None:
    """Note that announcements are heard from this monotonic time on."""
    _elsewhere.complete_at = now + COMPLETE_AFTER


def lose() -> None:
    """Note that announcements may be lost from now on."""
    _elsewhere.__init__()  # type: ignore[misc]


def note(process: str, announced: Iterable[str], now: float, *, is_whole: bool) -> None:
    """Note an announcement. ``is_whole``: the earlier topics of the process no longer hold."""
    before: Iterable[str] = () if is_whole else _elsewhere.processes.get(process, ((), 0.0))[0]
    _elsewhere.processes[process] = {*before, *announced}, now + LASTS
    refresh(now)


def refresh(now: float) -> float | None:
    """Forget the announcements that have run out; return the seconds until the next change, None if there is none."""
    _elsewhere.processes = {name: held for name, held in _elsewhere.processes.items() if held[0] and held[1] > now}
    ends = [ends_at for _, ends_at in _elsewhere.processes.values()]
    if _elsewhere.complete_at is not None and _elsewhere.complete_at <= now:
        _elsewhere.topics = frozenset().union(*(held for held, _ in _elsewhere.processes.values()))
    elif _elsewhere.complete_at is not None:
        ends.append(_elsewhere.complete_at)
    return min(ends) - now if ends else None


def is_unknown() -> bool:
    """Whether this process cannot know all topics that other processes wait for."""
    return _elsewhere.topics is None


def is_nobody() -> bool:
    """Whether it is known that no thread of another process waits."""
    return _elsewhere.topics is not None and not _elsewhere.topics


def wanted(counts: Mapping[str, int]) -> Mapping[str, int]:
    """Return the part of these topics that other processes may wait for."""
    known = _elsewhere.topics
    if known is None:
        return counts
    return {topic: count for topic, count in counts.items() if covers(known, topic)} if known else {}


def covers(announced: Collection[str], topic: str) -> bool:
    """Whether an announcement of these topics asks for the rings of ``topic``."""
    return topic in announced or kind(topic) in announced


def announcement(waited: Iterable[str]) -> frozenset[str]:
    """Return the topics that announce these. A task is announced by its kind, since each wait has another task."""
    named = frozenset(kind(topic) if is_task(topic) else topic for topic in waited)
    named = named if len(named) <= MOST_NAMED else frozenset(map(kind, named))
    return named | {ROUND} if named else named

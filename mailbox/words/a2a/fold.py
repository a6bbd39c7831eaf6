"""The one fold of a task's rows into its events and its present view. Every read, stream and webhook uses it.

The fold begins with the first message of the task, which its row stores. The intent text alone stores a message of one
bare text. `Task.metadata` stores the rest of any other message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum, auto
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from mailbox.words.a2a.states import Change, TaskState, change_of, of_outcome, of_question
from mailbox.words.content import text_of
from mailbox.words.conversation import AGENT, RESULT
from mailbox.words.kinds import Kind

FIRST_OF_TWO, WHOLE_ROW = 1, 2  # the parts of a row: its first event if it makes two, and its last event
Block = Mapping[str, Any]
_EXTRA = ("metadata", "extensions", "reference_task_ids")


class EventPosition(NamedTuple):
    """The place of an event among the events of its task. ``seq`` is the number of its journal row."""

    seq: int
    part: int = WHOLE_ROW

    def __str__(self) -> str:
        return f"{self.seq}.{self.part}" if self.part == FIRST_OF_TWO else str(self.seq)

    @classmethod
    def parse(cls, text: str) -> EventPosition | None:
        """Read the id of an event as the hub writes it. None: the text is no such id."""
        seq, dot, part = text.partition(".")
        if not (seq.isascii() and seq.isdigit() and len(seq) <= 9) or (dot and part != str(FIRST_OF_TWO)):
            return None
        return cls(int(seq), FIRST_OF_TWO if dot else WHOLE_ROW)


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeMessage:
    """A message of a task. ``blocks`` is its content without progress; ``progress`` has value and note.

    ``extra`` may have metadata, extensions and reference_task_ids. ``is_agents``: it is a message of an agent.
    """

    seq: int
    message_id: str
    blocks: Sequence[Block]
    is_agents: bool = True
    progress: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactRow:
    """A row of an artifact: the whole artifact, or a chunk. ``extra`` may have name, description and metadata."""

    artifact_id: str
    blocks: Sequence[Block]
    append: bool = False
    last_chunk: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeEnd:
    """How a task was resolved: the outcome, the content of the result, and its error message."""

    outcome: str
    blocks: Sequence[Block] = ()
    error_message: str | None = None
    is_direct: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeRow:
    """A numbered journal row of a task, with the message, the artifact or the result that has its number."""

    seq: int
    kind: Kind
    at: datetime
    data: Mapping[str, Any]
    message: LifeMessage | None = None
    produced: ArtifactRow | None = None
    ending: LifeEnd | None = None


class EventKind(Enum):
    TASK = auto()
    STATUS = auto()
    ARTIFACT = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSnapshot:
    """The status of a task: its state, since when, and the message that came with it.

    ``attempt`` is the number of its newest lease, 0 without one. ``outcome`` is set once it is resolved.
    ``is_direct``: the message is the whole answer.
    """

    state: TaskState
    at: datetime
    message: LifeMessage | None = None
    attempt: int = 0
    outcome: str | None = None
    is_direct: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvent:
    """A change that the readers of a task see. ``generation`` counts the events of the task from 1.

    ``status`` is that after the event. ``produced`` is set for an event of an artifact alone.
    """

    kind: EventKind
    position: EventPosition
    generation: int
    status: StatusSnapshot
    produced: ArtifactRow | None = None

    @property
    def is_final(self) -> bool:
        """Whether no event follows."""
        return self.kind == EventKind.STATUS and self.status.state.is_terminal

    @property
    def is_interrupting(self) -> bool:
        return self.kind == EventKind.STATUS and self.status.state.is_interrupted


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSnapshot:
    """A task as its reader sees it at ``position``: status, history and whole artifacts."""

    task_id: UUID
    context_id: str | None
    position: EventPosition
    generation: int
    status: StatusSnapshot
    history: Sequence[LifeMessage]
    artifacts: Sequence[ArtifactRow]


class Fold:
    """The state of the fold over the rows of one task, which are added in order of their numbers, without a gap."""

    def __init__(self, task_id: UUID, context_id: str | None, opening: LifeMessage) -> None:
        """Begin with the message that made the task."""
        self._task_id, self._context_id = task_id, context_id
        self._messages: list[LifeMessage] = [opening]
        self._artifacts: dict[str, ArtifactRow] = {}
        self._status: StatusSnapshot | None = None
        self._generation = 0
        self.position = EventPosition(0)

    @property
    def seq(self) -> int:
        """The number of the newest row."""
        return self.position.seq

    def add(self, row: LifeRow) -> list[TaskEvent]:
        """Add the next row; return its events in order, none to two."""
        self.position = EventPosition(row.seq)
        events = list(self._events(row))
        current = self._present.message
        message = current if current is not None and current.seq == row.seq else _shown(row.message)
        if message is not None:
            self._messages.append(message)
        return events

    def view(self) -> TaskSnapshot:
        """Return the task as it is after the newest row. Raises `ValueError` before the first row."""
        if self._status is None:
            raise ValueError("no row was added")
        current = self._status.message
        return TaskSnapshot(
            task_id=self._task_id,
            context_id=self._context_id,
            position=self.position,
            generation=self._generation,
            status=self._status,
            history=[message for message in self._messages if message is not current],
            artifacts=list(self._artifacts.values()),
        )

    def _events(self, row: LifeRow) -> Iterator[TaskEvent]:
        change = change_of(row.kind)
        if change == Change.SENT:
            yield self._event(EventKind.TASK, row, StatusSnapshot(state=TaskState.SUBMITTED, at=row.at))
        elif row.ending is not None:
            yield from self._ended(row, row.ending)
        elif row.produced is not None:
            yield self._placed(row, row.produced, WHOLE_ROW)
        elif (status := self._changed(change, row)) is not None:
            yield self._event(EventKind.STATUS, row, status)

    def _changed(self, change: Change, row: LifeRow) -> StatusSnapshot | None:
        """Return the status after a row that does not end the task; None if the row changes no status."""
        match change:
            case Change.LEASED:
                return self._status_at(row, TaskState.WORKING, attempt=row.data["attempt"])
            case Change.QUEUED | Change.REPAIRED:
                return self._status_at(row, TaskState.SUBMITTED)
            case Change.HEARD if "answers" in row.data:
                return self._status_at(row, TaskState.SUBMITTED)
            case Change.INTERRUPTED:
                return self._status_at(row, of_question(row.data["awaits"]), message=_shown(row.message))
            case Change.UPDATED if (message := _shown(row.message)) is not None:
                return self._status_at(row, self._present.state, message=message)
        return None

    @property
    def _present(self) -> StatusSnapshot:
        assert self._status is not None, "the first row of a task is its send"  # noqa: S101 (the journal has no gap)
        return self._status

    def _ended(self, row: LifeRow, ending: LifeEnd) -> Iterator[TaskEvent]:
        if ending.blocks and not ending.is_direct and RESULT not in self._artifacts:
            result = ArtifactRow(artifact_id=RESULT, blocks=ending.blocks, last_chunk=True)
            yield self._placed(row, result, FIRST_OF_TWO)
        message = _shown(_closing(self._task_id, row, ending))
        state = of_outcome(ending.outcome)
        status = self._status_at(row, state, message=message, outcome=ending.outcome, is_direct=ending.is_direct)
        yield self._event(EventKind.STATUS, row, status)

    def _status_at(
        self, row: LifeRow, state: TaskState, *, message: LifeMessage | None = None, **changed: Any
    ) -> StatusSnapshot:
        return replace(self._present, state=state, at=row.at, message=message, **changed)

    def _placed(self, row: LifeRow, produced: ArtifactRow, part: int) -> TaskEvent:
        before = self._artifacts.get(produced.artifact_id) if produced.append else None
        if before is None:
            self._artifacts.pop(produced.artifact_id, None)
        self._artifacts[produced.artifact_id] = _added(before, produced)
        return self._event(EventKind.ARTIFACT, row, self._present, part=part, produced=produced)

    def _event(self, kind: EventKind, row: LifeRow, status: StatusSnapshot, **more: Any) -> TaskEvent:
        self._status = status
        self._generation += 1
        position = EventPosition(row.seq, more.pop("part", WHOLE_ROW))
        return TaskEvent(kind=kind, position=position, generation=self._generation, status=status, **more)


def text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def _shown(message: LifeMessage | None) -> LifeMessage | None:
    """Return the message if it has something to show: words or progress."""
    if message is None or not (message.blocks or message.progress):
        return None
    return message


def words_of(message: LifeMessage) -> Sequence[Block]:
    """Return the blocks to show of a message: its content, else the note of its progress, else the percentage."""
    if message.blocks or message.progress is None:
        return message.blocks
    return [text_block(message.progress.get("note") or f"{message.progress['value']:.0%}".replace("%", " %"))]


def _closing(task_id: UUID, row: LifeRow, ending: LifeEnd) -> LifeMessage | None:
    """Return the final status message: the direct answer, or the error message and the closing words.

    Closing words that are the text of the error message, and perhaps more, stand alone.
    """
    blocks: list[Block] = []
    if ending.is_direct:
        blocks = list(ending.blocks)
    elif ending.error_message and of_outcome(ending.outcome) != TaskState.COMPLETED:
        is_repeated = row.message is not None and text_of(row.message.blocks) == ending.error_message
        blocks = [] if is_repeated else [text_block(ending.error_message)]
    if not blocks:
        return row.message
    if row.message is not None:
        return replace(row.message, blocks=[*blocks, *row.message.blocks])
    return LifeMessage(seq=row.seq, message_id=derived_id(task_id, row.seq), blocks=blocks)


def derived_id(task_id: UUID, seq: int) -> str:
    """Return the id of a message whose author gave none, the same at each read."""
    return str(uuid5(task_id, f"message {seq}"))


def _added(before: ArtifactRow | None, chunk: ArtifactRow) -> ArtifactRow:
    """Return the artifact after a row of it."""
    if before is None:
        return replace(chunk, append=False)
    return replace(chunk, append=False, blocks=[*before.blocks, *chunk.blocks], extra={**before.extra, **chunk.extra})


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The message that made a task. ``message_id`` is its sender's own, "" without one.

    ``is_agents``: its sender gave itself the role of an agent. ``extra`` has metadata, extensions and
    reference_task_ids, each only if its sender gave it.
    """

    blocks: Sequence[Mapping[str, Any]]
    message_id: str = ""
    is_agents: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)

    def stored(self, intent_text: str) -> dict[str, Any]:
        """Return what the metadata of its task stores as ``message`` beside the intent text."""
        stored: dict[str, Any] = {"message_id": self.message_id} if self.message_id else {}
        if self.is_agents:
            stored["role"] = AGENT
        blocks = [dict(block) for block in self.blocks]
        if blocks != [text_block(intent_text)]:
            stored["content"] = blocks
        return stored | {name: self.extra[name] for name in _EXTRA if self.extra.get(name)}


def opening_of(intent_text: str, metadata: Mapping[str, Any]) -> Opening:
    """Return the first message of a task with this intent text and these metadata.

    Without a stored message it is the intent text, as in a task of another dialect.
    """
    stored = metadata.get("message")
    if not isinstance(stored, Mapping):
        return Opening(blocks=[text_block(intent_text)])
    return Opening(
        blocks=stored.get("content", [text_block(intent_text)]),
        message_id=stored.get("message_id", ""),
        is_agents=stored.get("role") == AGENT,
        extra={name: stored[name] for name in _EXTRA if name in stored},
    )

"""Compares messages and artifacts with the rows of `model_talk`, and checks the invariants C1, C2 and C3."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from mailbox.models import Artifact, AuditEvent, Lease, Message, Task
from mailbox.words.kinds import Kind
from tests.support import model_rows

Row = TypeVar("Row", Message, Artifact)


@dataclass(frozen=True, slots=True)
class Talk:
    """All messages and artifacts at one moment, in the order of their numbers."""

    messages: list[Message] = field(default_factory=lambda: list(Message.objects.order_by("task_id", "seq")))
    artifacts: list[Artifact] = field(default_factory=lambda: list(Artifact.objects.order_by("task_id", "seq")))

    def assert_sound(self, tasks: Mapping[int, Task], leases: Sequence[Lease], journal: Sequence[AuditEvent]) -> None:
        lives: dict[UUID | None, dict[int, AuditEvent]] = defaultdict(dict)
        for event in journal:
            if event.seq is not None:
                lives[event.task_id][event.seq] = event
        for task in tasks.values():
            _one_open_question(task, [lease for lease in leases if lease.task_id == task.pk], lives[task.uuid])
        self._one_order(tasks, lives)
        self._no_chunk_without_its_artifact()

    def _one_order(self, tasks: Mapping[int, Task], lives: Mapping[UUID | None, Mapping[int, AuditEvent]]) -> None:
        """Check C2: each row stands under the number of its own journal row, and no two rows share a number."""
        rows: list[Message | Artifact] = [*self.messages, *self.artifacts]
        numbered = [(row.task_id, row.seq) for row in rows]
        assert len(set(numbered)) == len(numbered)
        for message in self.messages:
            event = lives[tasks[message.task_id].uuid][message.seq]
            kinds = {Kind.MESSAGE_SENT} if message.role == Message.Role.USER else {Kind.TASK_UPDATED, Kind.TASK_ASKED}
            assert event.kind in kinds
        for artifact in self.artifacts:
            event = lives[tasks[artifact.task_id].uuid][artifact.seq]
            produced = event.fields["artifact"]
            assert (produced["artifact_id"], produced["append"]) == (artifact.artifact_id, artifact.append)
        with_rows = {Kind.MESSAGE_SENT, Kind.TASK_UPDATED, Kind.TASK_ASKED}
        kept = {task.uuid for task in tasks.values()}
        assert len(numbered) == sum(
            event.kind in with_rows for uuid, life in lives.items() if uuid in kept for event in life.values()
        )

    def _no_chunk_without_its_artifact(self) -> None:
        """Check C3."""
        placed: set[tuple[int, str]] = set()
        for row in self.artifacts:
            assert not row.append or (row.task_id, row.artifact_id) in placed
            placed.add((row.task_id, row.artifact_id))


def _one_open_question(task: Task, leases: Sequence[Lease], life: Mapping[int, AuditEvent]) -> None:
    """Check C1: an interrupted task has no live lease and one open question; no other task has an open question."""
    open_questions: list[AuditEvent] = []
    for _, event in sorted(life.items()):
        if event.kind == Kind.TASK_ASKED:
            open_questions.append(event)
        elif event.kind in ENDS_QUESTIONS:
            open_questions.clear()
    if task.state == Task.State.INTERRUPTED:
        assert [question.fields["awaits"] for question in open_questions] == [task.awaits]
        assert all(lease.ended_at is not None for lease in leases)
        assert leases[-1].end == Lease.End.ASKED
    else:
        assert (open_questions, task.awaits) == ([], None)
    asked = sum(event.kind == Kind.TASK_ASKED for event in life.values())
    assert asked == sum(lease.end == Lease.End.ASKED for lease in leases)


ENDS_QUESTIONS = {
    *(Kind.MESSAGE_SENT, Kind.TASK_LEASED, Kind.RESULT_POSTED, Kind.TASK_CANCELLED, Kind.TASK_EXPIRED),
    *(Kind.REPAIR_APPLIED, Kind.RESULT_REPLAYED),
}


def assert_same_talk(talk: Talk, tasks: Mapping[int, Task], kept: Sequence[model_rows.Task]) -> None:
    """Compare the messages, and the artifacts that the rows make, with the model's."""
    spoken = _by_task(talk.messages)
    produced = _by_task(talk.artifacts)
    by_id = {task.uuid: task.pk for task in tasks.values()}
    for task in kept:
        pk = by_id[task.id]
        assert [(row.role, _text(row.blocks)) for row in spoken[pk]] == task.spoken
        assert _folded(produced[pk]) == task.produced


def _folded(rows: Sequence[Artifact]) -> Mapping[str, list[str]]:
    """Return the texts of each artifact, as its rows place and extend it."""
    folded: dict[str, list[str]] = {}
    for row in rows:
        earlier = folded.get(row.artifact_id, []) if row.append else []
        folded[row.artifact_id] = [*earlier, *(block["text"] for block in row.blocks)]
    return folded


def _by_task(rows: Iterable[Row]) -> Mapping[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.task_id].append(row)
    return found


def _text(blocks: Sequence[Mapping[str, str]]) -> str:
    return blocks[0]["text"]

"""The parts of a result beside its content: the closing words, and the artifacts of its task.

A result without them, as most results are, costs no query here. `Result.has_more` tells it. Each artifact is folded
from its rows, whose contents are read a few at a time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models.functions import Length

from mailbox.database.paging import BUDGET, in_turn
from mailbox.models import Artifact, Message, Result, Task
from mailbox.models.artifact import ArtifactQuerySet, fold, merged
from mailbox.words import content, json_text

NAMED = 100  # artifacts of one result that are named; its task has the others


@dataclass(slots=True, kw_only=True)
class Produced:
    """An artifact as it was when its task was read. ``rows`` are the numbers and sizes of its rows, in order.

    A size counts the characters of the row's content as JSON. ``is_complete`` is whether its newest row is its last.
    """

    artifact_id: str
    since: datetime
    until: datetime
    rows: list[tuple[int, int]]
    is_complete: bool

    @property
    def seq(self) -> int:
        """The number of the row that placed it, which names it within its task."""
        return self.rows[0][0]

    @property
    def size(self) -> int:
        return sum(size for _, size in self.rows)


def produced_artifacts(task: Task) -> Sequence[Produced]:
    """Return the artifacts of a task in the order in which they were placed. No content is read. One query."""
    columns = ("seq", "artifact_id", "append", "last_chunk", "size", "said_at")
    every = _rows(task).annotate(size=Length("content")).values_list(*columns, named=True)
    return [
        Produced(
            artifact_id=artifact_id,
            since=rows[0].said_at,
            until=rows[-1].said_at,
            rows=[(row.seq, row.size) for row in rows],
            is_complete=rows[-1].last_chunk,
        )
        for artifact_id, rows in fold(every).items()
    ]


def placed_at(task: Task, seq: int) -> Produced | None:
    """Return the artifact that the row ``seq`` placed; None without one, and if another row replaced it."""
    return next((one for one in produced_artifacts(task) if one.seq == seq), None)


def artifact_details(task: Task, wanted: Sequence[Produced]) -> Mapping[int, dict[str, Any]]:
    """Return the name, description, metadata and extensions of each artifact by its ``seq``. One query.

    An artifact has those of these that its holder gave. ``wanted`` are of `produced`, in its order.
    """
    seqs = {one.artifact_id: one.seq for one in wanted}
    rows = _rows(task).filter(artifact_id__in=seqs, seq__gte=min(seqs.values(), default=0)).exclude(extra="{}")
    extras: dict[int, list[str]] = {one.seq: [] for one in wanted}
    for seq, artifact_id, extra in rows.values_list("seq", "artifact_id", "extra"):
        if seq >= seqs[artifact_id]:
            extras[seqs[artifact_id]].append(extra)
    return {seq: merged(of_rows) for seq, of_rows in extras.items()}


def beginnings(
    task: Task, wanted: Sequence[Produced], *, characters: int, largest: int
) -> Mapping[int, tuple[list[dict[str, Any]], bool]]:
    """Return the first content blocks of each artifact by its ``seq``, and whether these are all of them. One query.

    The rows of an artifact are read until ``characters`` of all artifacts are read, or a row exceeds ``largest``.
    """
    blocks: dict[int, list[dict[str, Any]]] = {one.seq: [] for one in wanted}
    numbers: dict[int, int] = {}
    left = characters
    for one in wanted:
        for seq, size in one.rows:
            if left <= 0 or size > largest:
                break
            left -= size
            numbers[seq] = one.seq
    is_all = {one.seq: one.rows[-1][0] in numbers for one in wanted}
    rows = Artifact.objects.filter(task=task, seq__in=numbers).in_order().values_list("seq", "content")
    for seq, piece in rows:
        blocks[numbers[seq]] += json_text.loads(piece)
    return {seq: (read, is_all[seq]) for seq, read in blocks.items()}


def blocks_of(task: Task, artifact: Produced) -> Iterator[dict[str, Any]]:
    """Yield all content blocks of an artifact, in order. Few rows are in memory at once."""
    rows = _rows(task).filter(artifact_id=artifact.artifact_id, seq__gte=artifact.seq, seq__lte=artifact.rows[-1][0])
    for row, _ in in_turn(rows, ("seq",)):
        yield from row.blocks


def _rows(task: Task) -> ArtifactQuerySet:
    """Return the rows of a task that were there when it was read, in order."""
    return Artifact.objects.filter(task=task, seq__lte=task.journal_seq).in_order()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer, for dialects whose senders read nothing but the answer.

    ``content`` is the content of the result, or that of the artifacts if the result has none. ``is_produced`` tells
    the artifacts from the result. ``closing`` are the closing words, and ``closing_seq`` is the number of their row,
    None without closing words.
    """

    content: Sequence[Mapping[str, Any]]
    is_produced: bool = False
    closing: Sequence[Mapping[str, Any]] = ()
    closing_seq: int | None = None

    @property
    def blocks(self) -> list[Mapping[str, Any]]:
        return [*self.content, *self.closing]


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """An artifact by its id and its name, "" without one. ``characters`` is the length of its content as JSON."""

    artifact_id: str
    name: str
    characters: int
    is_complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The closing words of a result, and the first `NAMED` artifacts of its task; ``left`` counts the others."""

    closing: Sequence[Mapping[str, Any]]
    artifacts: Sequence[Named]
    left: int


def whole(results: Iterable[Result], *, budget: int = BUDGET) -> Mapping[int, Answer]:
    """Return the whole answers of results by their primary keys.

    All artifacts and closing words together have at most ``budget`` characters. A text stands for an artifact, or for
    closing words, beyond. Each result needs its task. A result without a row has its content alone.
    """
    answers: dict[int, Answer] = {}
    for result in results:
        if not result.has_more:
            answers[result.pk] = Answer(content=result.blocks)
            continue
        closing_seq, closing, budget = _closing(result, budget)
        read: list[Mapping[str, Any]] = list(result.blocks)
        produced = [] if read else produced_artifacts(result.task)
        for one in produced:
            blocks, budget = _blocks(result, one, budget)
            read += blocks
        answers[result.pk] = Answer(content=read, is_produced=bool(produced), closing=closing, closing_seq=closing_seq)
    return answers


def whole_of(result: Result) -> Answer:
    """Return the whole answer of one result as `whole` does."""
    return whole([result])[result.pk]


def beside(results: Iterable[Result], *, budget: int = BUDGET) -> Mapping[int, Beside]:
    """Return what stands beside the contents of results, by their primary keys; nothing for a plain result.

    The closing words together have at most ``budget`` characters. A text stands for closing words beyond. Each result
    needs its task.
    """
    by_result: dict[int, Beside] = {}
    for result in results:
        if result.has_more:
            _, closing, budget = _closing(result, budget)
            produced = produced_artifacts(result.task)
            by_result[result.pk] = Beside(
                closing=closing,
                artifacts=list(_named(result, produced[:NAMED])),
                left=max(0, len(produced) - NAMED),
            )
    return by_result


def _closing(result: Result, budget: int) -> tuple[int | None, Sequence[Mapping[str, Any]], int]:
    """Return the number and the blocks of the closing words, and the budget that is left."""
    words = Message.objects.closing_of(result.task_id, result.task.journal_seq)
    size = words.values_list("seq", Length("content")).first()
    if size is None:
        return None, [], budget
    seq, characters = size
    if characters > budget:
        return seq, [_left_out(result, "the closing words", "messages", characters)], budget
    return seq, words.get().blocks, budget - characters


def _blocks(result: Result, artifact: Produced, budget: int) -> tuple[list[Mapping[str, Any]], int]:
    """Return the blocks of an artifact and the budget that is left. Chunks of text are one text."""
    if artifact.size > budget:
        return [_left_out(result, f"artifact {artifact.artifact_id}", "artifacts", artifact.size)], budget
    return list(content.joined(blocks_of(result.task, artifact))), budget - artifact.size


def _left_out(result: Result, what: str, where: str, characters: int) -> Mapping[str, Any]:
    """Return the text that stands for a part that is too large."""
    text = f"[left out: {what}, {characters} characters; read /a2a/tasks/{result.task.uuid}/{where}]"
    return {"type": "text", "text": text}


def _named(result: Result, produced: Sequence[Produced]) -> Iterator[Named]:
    details = artifact_details(result.task, produced) if produced else {}
    for one in produced:
        yield Named(
            artifact_id=one.artifact_id,
            name=str(details[one.seq].get("name", "")),
            characters=one.size,
            is_complete=one.is_complete,
        )

"""The parts of a result beside its content: the closing words, and the artifacts of its task.

A result without them, as most results are, costs no query here. `Result.has_more` tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Length

from mailbox.database.paging import BUDGET
from mailbox.inspection import artifacts
from mailbox.inspection.artifacts import Produced
from mailbox.models import Message, Result
from mailbox.words import content

NAMED = 100  # artifacts of one result that are named; its task has the others


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


def whole(results: Iterable[Result], *, room: int = BUDGET) -> Mapping[int, Answer]:
    """Return the whole answers of results by their primary keys.

    All artifacts and closing words together have at most ``room`` characters. A text stands for an artifact, or for
    closing words, beyond. Each result needs its task. A result without a row has its content alone.
    """
    found: dict[int, Answer] = {}
    for result in results:
        if not result.has_more:
            found[result.pk] = Answer(content=result.blocks)
            continue
        closing_seq, closing, room = _closing(result, room)
        read: list[Mapping[str, Any]] = list(result.blocks)
        produced = [] if read else artifacts.produced(result.task)
        for one in produced:
            blocks, room = _blocks(result, one, room)
            read += blocks
        found[result.pk] = Answer(content=read, is_produced=bool(produced), closing=closing, closing_seq=closing_seq)
    return found


def whole_of(result: Result) -> Answer:
    """Return the whole answer of one result as `whole` does."""
    return whole([result])[result.pk]


def beside(results: Iterable[Result], *, room: int = BUDGET) -> Mapping[int, Beside]:
    """Return what stands beside the contents of results, by their primary keys; nothing for a plain result.

    The closing words together have at most ``room`` characters. A text stands for closing words beyond. Each result
    needs its task.
    """
    found: dict[int, Beside] = {}
    for result in results:
        if result.has_more:
            _, closing, room = _closing(result, room)
            produced = artifacts.produced(result.task)
            found[result.pk] = Beside(
                closing=closing,
                artifacts=list(_named(result, produced[:NAMED])),
                left=max(0, len(produced) - NAMED),
            )
    return found


def _closing(result: Result, room: int) -> tuple[int | None, Sequence[Mapping[str, Any]], int]:
    """Return the number and the blocks of the closing words, and the room that is left."""
    words = Message.objects.closing_of(result.task)
    size = words.values_list("seq", Length("content")).first()
    if size is None:
        return None, [], room
    seq, characters = size
    if characters > room:
        return seq, [_left_out(result, "the closing words", "messages", characters)], room
    return seq, words.get().blocks, room - characters


def _blocks(result: Result, one: Produced, room: int) -> tuple[list[Mapping[str, Any]], int]:
    """Return the blocks of an artifact and the room that is left. Chunks of text are one text."""
    if one.size > room:
        return [_left_out(result, f"artifact {one.artifact_id}", "artifacts", one.size)], room
    return list(content.joined(artifacts.blocks_of(result.task, one))), room - one.size


def _left_out(result: Result, what: str, where: str, characters: int) -> Mapping[str, Any]:
    """Return the text that stands for a part that is too large."""
    text = f"[left out: {what}, {characters} characters; read /a2a/tasks/{result.task.uuid}/{where}]"
    return {"type": "text", "text": text}


def _named(result: Result, produced: Sequence[Produced]) -> Iterator[Named]:
    details = artifacts.details(result.task, produced) if produced else {}
    for one in produced:
        yield Named(
            artifact_id=one.artifact_id,
            name=str(details[one.seq].get("name", "")),
            characters=one.size,
            is_complete=one.is_complete,
        )

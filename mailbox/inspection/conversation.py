"""The conversation of a task: the messages of both parties, and the artifacts. Source: A2A, history and artifacts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Length

from mailbox.access.callers import Caller
from mailbox.access.capabilities import visible_tasks
from mailbox.database import paging
from mailbox.models import Artifact, Message, Task
from mailbox.models.artifact import fold
from mailbox.words import json_text
from mailbox.words.a2a.fold import opening_of
from mailbox.words.envelopes import A2A

FIRST = 1  # the seq of the message that made the task


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A page of messages, and the task as it was read before them.

    ``question``: the number of the open question that has no words, if it comes after all that was read.
    """

    task: Task
    page: paging.Page[Message]
    question: int | None = None

    def __bool__(self) -> bool:
        """Whether a wait for messages ends: there are messages, a question without words, or none will come."""
        return bool(self.page.items) or self.question is not None or self.task.state == Task.State.RESOLVED

    @property
    def next_after(self) -> int | None:
        """The ``after`` of the next read, if messages are left or a question without words was read; else None."""
        return self.question if self.page.next_cursor is None else self.page.items[-1].seq


def read(caller: Caller, task_id: UUID, *, after: int = 0, limit: int = 100) -> Reading:
    """Return the messages of a task whose ``seq`` is more than ``after``, oldest first, and the task.

    The first message is the task's own text. A question without words is none. A page ends at its budget of bytes. Its
    ``next_cursor`` is None if no message is left; else the next page is after the last ``seq``. Raises
    `UnknownTaskError`, also for a task that the caller may not see.
    """
    task = visible_tasks(caller).with_parties().by_id(task_id)
    rows = Message.objects.filter(task=task, seq__gt=after).exclude(content="[]")
    first = [] if after >= FIRST else [(first_message(task), (FIRST,))]
    page = paging.page(chain(first, paging.in_turn(rows, ("seq",), most=limit + 1)), limit, "messages")
    for message in page.items:
        message.task = task
    read_to = page.items[-1].seq if page.items else after
    question = None if page.next_cursor else _question_without_words(task, after=read_to)
    return Reading(task=task, page=page, question=question)


def _question_without_words(task: Task, *, after: int) -> int | None:
    """Return the number of the open question if it has no words and is more than ``after``.

    A question that was put since ``task`` was read is left out, since messages before it may not have been read.
    """
    if task.state != Task.State.INTERRUPTED:
        return None
    questions = Message.objects.of_role(Message.Role.AGENT).filter(task=task, content="[]")
    newest = questions.filter(seq__gt=after, seq__lte=task.journal_seq).order_by("-seq")
    return newest.values_list("seq", flat=True).first()


def first_message(task: Task) -> Message:
    """Return the message that made ``task``, as an object without a row, at `FIRST`.

    It is the sender's text, and in a task of the official protocol the whole message as its sender sent it.
    """
    opened = opening_of(task.intent_text, task.official_metadata)
    return Message(
        task=task,
        seq=FIRST,
        role=Message.Role.USER,
        content=json_text.dumps(list(opened.blocks)),
        message_id=opened.message_id,
        extra=json_text.dumps(dict(opened.extra)),
        said_at=task.sent_at,
    )


def newest_of_senders(tasks: Iterable[Task]) -> dict[int, Message]:
    """Return the newest message of each task's sender, by the task's primary key. Two queries at most.

    A task whose sender has sent nothing since the task itself has none; a task of the official protocol then has the
    message that made it. Messages beyond the budget of a page are left out. The caller may see the tasks.
    """
    spoken: dict[int, Task] = {}
    first: dict[int, Message] = {}
    for task in tasks:
        if task.turn > 1:
            spoken[task.pk] = task
        elif task.dialect == A2A:
            first[task.pk] = first_message(task)
    return first | _newest(spoken) if spoken else first


def _newest(spoken: Mapping[int, Task]) -> dict[int, Message]:
    """Return the newest rows of the senders of tasks with later messages, within the budget of a page."""
    of_sender = Message.objects.of_role(Message.Role.USER)
    newest = of_sender.filter(task=OuterRef("task")).order_by("-seq").values("seq")[:1]
    sizes = of_sender.filter(task__in=spoken, seq=Subquery(newest)).values_list("pk", Length("content"))
    within = accumulate(sizes, lambda sum_, row: (row[0], sum_[1] + row[1]))
    wanted = [pk for number, (pk, size) in enumerate(within) if number == 0 or size <= paging.BUDGET]
    messages = {message.task_id: message for message in Message.objects.filter(pk__in=wanted)}
    for key, message in messages.items():
        message.task = spoken[key]
    return messages


def artifacts(caller: Caller, task_id: UUID, *, limit: int = 100, cursor: str | None = None) -> paging.Page[Artifact]:
    """Return the rows that make up the artifacts of a task, oldest first: whole artifacts and chunks.

    The rows of an artifact that was replaced are left out. A page ends at its budget of bytes. Raises
    `UnknownTaskError` as `read` does, and `InvalidRequestError` for a cursor of another list.
    """
    task = visible_tasks(caller).with_parties().by_id(task_id)
    position = paging.after(cursor, "artifacts", (int,))
    return paging.page(_current_rows(task, after=position[0] if position else 0), limit, "artifacts")


def _current_rows(task: Task, *, after: int) -> Iterator[tuple[Artifact, paging.Position]]:
    """Yield the rows after ``after`` that were not replaced, a few at a time."""
    artifacts = Artifact.objects.filter(task=task)
    later = artifacts.filter(seq__gt=after).in_order().values_list("seq", "artifact_id", "append", named=True)
    current = iter(sorted(row.seq for rows in fold(later).values() for row in rows))
    while seqs := list(islice(current, paging.AT_ONCE)):
        for row in artifacts.filter(seq__in=seqs).in_order():
            yield row, (row.seq,)

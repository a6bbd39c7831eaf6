"""Two texts of a task line by line. The size of a difference is bounded, and so is its time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from dashboard.base.page import DashboardView, number_in, present
from dashboard.tasks import conversation, files
from dashboard.templatetags.ops import clipped, short
from dashboard.wording import payload
from mailbox.inspection import journal, tasks
from mailbox.models import Task

MOST = 600  # lines of each text that are compared
AROUND = 3  # equal lines around a change

EQUAL, REMOVED, ADDED, LEFT_OUT = " ", "-", "+", "…"
ALIKE, LABEL = 10, 60
_OTHER = re.compile(r"result-of-([0-9a-f-]{36})", re.ASCII)
BLOCKS = {"message": files.blocks_of_message, "artifact": files.blocks_of_artifact}


class DiffLine(NamedTuple):
    """A line of the difference. ``sign`` is one of the four signs of this module."""

    sign: str
    text: str


class Difference(NamedTuple):
    """The changed lines with some equal lines around each. ``is_cut`` is whether lines past `MOST` were not compared.

    ``lines`` is empty if the compared lines are equal.
    """

    lines: Sequence[DiffLine]
    is_cut: bool

    @property
    def added(self) -> int:
        return sum(line.sign == ADDED for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.sign == REMOVED for line in self.lines)


def compare(first: str, second: str) -> Difference:
    """Return the difference that leads from the first text to the second."""
    before, after = first.splitlines(), second.splitlines()
    is_cut = max(len(before), len(after)) > MOST
    lines = list(_lines(before[:MOST], after[:MOST]))
    return Difference(lines=lines, is_cut=is_cut)


def _lines(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffLine]:
    until = 0  # the lines of `before` that were shown or left out so far
    for group in SequenceMatcher(None, before, after).get_grouped_opcodes(AROUND):
        if skipped := group[0][1] - until:
            yield _skipped(skipped)
        for tag, start, end, start_after, end_after in group:
            if tag == "equal":
                yield from (DiffLine(sign=EQUAL, text=text) for text in before[start:end])
            else:
                yield from (DiffLine(sign=REMOVED, text=text) for text in before[start:end])
                yield from (DiffLine(sign=ADDED, text=text) for text in after[start_after:end_after])
        until = group[-1][2]
    if until and (skipped := len(before) - until):
        yield _skipped(skipped)


def _skipped(count: int) -> DiffLine:
    return DiffLine(sign=LEFT_OUT, text=f"{count} equal line{'' if count == 1 else 's'}")


class TaskDiff(DashboardView):
    """Two texts of a task line by line: results of the same work, messages, artifacts and the request."""

    def get(self, request: HttpRequest, task_id: UUID) -> HttpResponse:
        task = tasks.whole_task(task_id)
        choices = dict(self._choices(task))
        first, second = self._chosen(list(choices))
        texts = [_text(task, name) if name else "" for name in (first, second)]
        context = {
            "task": task,
            "choices": choices.items(),
            "first": first,
            "second": second,
            "labels": [choices.get(name, name) for name in (first, second)],
            "most": MOST,
            "difference": compare(*texts) if first and second else None,
        }
        return self.page("ops/diff.html", context)

    def _chosen(self, offered: Sequence[str]) -> tuple[str, str]:
        """Return the two names of the address, by default the first and the second on offer."""
        first, second, *_ = [*offered, "", ""]
        return self.request.GET.get("a", first), self.request.GET.get("b", second)

    def _choices(self, task: tasks.WholeTask) -> Iterator[tuple[str, str]]:
        """Yield the name and the label of each text of a task that can be compared."""
        if task.result_or_none:
            yield "result", f"Result of this task, {task.outcome}"
        for one in tasks.results_of_alike(task, most=ALIKE, original=journal.copied_from(task.uuid)):
            posted = f"{timezone.localtime(one.posted_at):%Y-%m-%d %H:%M:%S}"
            yield f"result-of-{one.task.uuid}", f"Result of {short(one.task.uuid)}, {one.status}, {posted}"
        if task.has_messages:
            for said in reversed(conversation.talk(task, (), before=None).sayings):
                yield said.whole, f"Message of {said.by}: {clipped(said.opening, LABEL)}"
        if task.has_artifacts:
            for made in reversed(conversation.made(task).shown):
                yield made.whole, f"Artifact {clipped(made.title, LABEL)}"
        yield "request", "Request"


def _text(task: Task, name: str) -> str:
    """Return a text by its name; raise `Http404` for a name of nothing."""
    if name == "request":
        return _written(payload.of_task(task.intent_text, task.metadata))
    if other := _OTHER.fullmatch(name):
        return _of_result(tasks.whole_task(UUID(other[1])))
    if name == "result":
        return _of_result(task)
    kind, _, number = name.partition("-")
    blocks_of, seq = present(BLOCKS.get(kind)), present(number_in(number, 9))
    return _written(payload.of_blocks(list(blocks_of(task, seq))))


def _of_result(task: Task) -> str:
    result = present(task.result_or_none)
    error = [] if result.error_message is None else [f"Error: {result.error_message}"]
    return "\n\n".join([f"Status: {task.outcome}", *error, _written(payload.of_blocks(result.blocks))])


def _written(parts: Sequence[payload.Part]) -> str:
    """Return parts as one text, each of them below its title. A file is only named."""
    texts = []
    for part in parts:
        if part.text is None:
            texts.append(f"{part.title}, {part.size} bytes")
        else:
            cut = f"\n({part.size} characters, of which {len(part.text)} are compared)" if part.is_cut else ""
            texts.append(part.text + cut if part.is_words else f"{part.title}\n{part.text}{cut}")
    return "\n\n".join(texts)

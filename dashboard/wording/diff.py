"""The difference of two texts, line by line. Its size is bounded, and so is its time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST = 600  # lines of each text that are compared
AROUND = 3  # equal lines around a change

EQUAL, REMOVED, ADDED, LEFT_OUT = " ", "-", "+", "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """A line of the difference. ``sign`` is one of the four signs of this module."""

    sign: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
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

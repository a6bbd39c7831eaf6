"""The ``@delegate`` lines in an agent's output: pure, no queries, no clock. Source: Marianne, technique router."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MOST_LINES = 100  # in one request; each line is a decision of its own
MOST_CONTAINERS = 32  # quotes and list items around a line; a deeper quote or item is text

_LINE_END = re.compile(r"\r\n|\n|\r")
_DELEGATE = re.compile(r"@delegate[ \t]+([A-Za-z0-9_.@-]+)[ \t]*:(.*)")
_QUOTE = re.compile(r" {0,3}> ?")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?: {1,4}(?! )| (?= )|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


@dataclass(frozen=True, slots=True)
class Fence:
    """An open code fence: ``marker`` closes it, ``line`` is where it opened, from 1."""

    marker: str
    line: int

    def is_closed_by(self, text: str) -> bool:
        fence = _FENCE.fullmatch(text)
        return fence is not None and fence[1].startswith(self.marker) and not fence[2].strip()


@dataclass(slots=True)
class ParsedDelegations:
    """``lines`` are the agent and the description of each ``@delegate`` line outside code fences, in order.

    ``unclosed_fence`` is the line, from 1, of a fence that never closes; all text after it is code. None without one.
    """

    lines: list[tuple[str, str]] = field(default_factory=list)
    unclosed_fence: int | None = None


def delegations(text: str) -> ParsedDelegations:
    """Read each ``@delegate NAME: TEXT`` line outside code fences. The fences are CommonMark's."""
    read = ParsedDelegations()
    containers: list[int | None] = []
    fence: Fence | None = None
    for number, line in enumerate(_LINE_END.split(text), start=1):
        rest, still = _within(line.expandtabs(4), containers)
        if still < len(containers):
            del containers[still:]
            fence = None
        if fence is not None:
            fence = None if fence.is_closed_by(rest) else fence
            continue
        rest = _enter(rest, containers)
        opened = _FENCE.fullmatch(rest)
        if opened is not None and not (opened[1].startswith("`") and "`" in opened[2]):
            fence = Fence(opened[1], number)
        elif (delegate := _DELEGATE.search(line)) and (description := delegate[2].strip()):
            read.lines.append((delegate[1], description))
    read.unclosed_fence = fence.line if fence else None
    return read


def _within(line: str, containers: list[int | None]) -> tuple[str, int]:
    """Return the line without the marks of the containers that it continues, and the number of these containers."""
    for depth, width in enumerate(containers):
        if not line.strip():  # a blank line continues list items, but no quotes
            left = containers[depth:]
            return "", depth + (left.index(None) if None in left else len(left))
        if width is None:
            quote = _QUOTE.match(line)
            if quote is None:
                return line, depth
            line = line[quote.end() :]
        elif line.startswith(" " * width):
            line = line[width:]
        else:
            return line, depth
    return line, len(containers)


def _enter(line: str, containers: list[int | None]) -> str:
    """Return the line without the marks of the containers that it opens, and add these to ``containers``.

    A quote is added as None, a list item as its width.
    """
    while len(containers) < MOST_CONTAINERS:
        if quote := _QUOTE.match(line):
            containers.append(None)
            line = line[quote.end() :]
        elif item := _ITEM.match(line):
            containers.append(item.end())
            line = line[item.end() :]
        else:
            break
    return line

"""Cuts a text file into sections. Each section becomes one task."""

import math
from pathlib import Path

from skills import FENCE, HEADING

LARGEST_FILE = 5_000_000
LARGEST_SECTION = 50_000  # characters; a longer section is cut, so that no task is too large for the hub
MOST_SECTIONS = 300  # beyond this number neighbours are joined, so that the tree of tasks stays readable


class UnreadableError(Exception):
    """The file is not a text to work on; the message says why."""


def read(path: Path) -> str:
    """Return the file's text; raise `UnreadableError`."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UnreadableError(f"{path} is larger than {LARGEST_FILE:,} bytes")
        text = path.read_text("utf-8")
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path} is not a UTF-8 text file") from error
    if not text.strip():
        raise UnreadableError(f"{path} holds no text")
    return text


def sections(text: str) -> list[str]:
    """Return the text, cut before each heading of level 1 or 2, without blank sections."""
    cut: list[list[str]] = [[]]
    inside_code = False
    for line in text.splitlines(keepends=True):
        inside_code ^= bool(FENCE.match(line))
        heading = None if inside_code else HEADING.fullmatch(line.rstrip())
        if heading is not None and len(heading[1]) <= 2:
            cut.append([])
        cut[-1].append(line)
    whole = ["".join(lines) for lines in cut]
    short = [piece for section in whole for piece in _pieces(section) if piece.strip()]
    together = math.ceil(len(short) / MOST_SECTIONS)
    return ["".join(short[start : start + together]) for start in range(0, len(short), together)]


def title(section: str) -> str:
    """Return the section's first heading, or the beginning of its text."""
    first = next(line.strip() for line in section.splitlines() if line.strip())
    heading = HEADING.fullmatch(first)
    name = heading[2] if heading else first
    return name if len(name) <= 50 else f"{name[:49]}…"


def _pieces(section: str) -> list[str]:
    """Return the section in pieces of at most `LARGEST_SECTION` characters, cut at line ends if possible."""
    pieces = []
    while len(section) > LARGEST_SECTION:
        end = section.rfind("\n", 0, LARGEST_SECTION) + 1 or LARGEST_SECTION
        pieces.append(section[:end])
        section = section[end:]
    return [*pieces, section]

"""Writes the client for threads, ``_sync``, from the client for asyncio, ``_async``. Run it after each change there."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent / "src" / "a2a_hub_client"
SOURCE, TARGET = PACKAGE / "_async", PACKAGE / "_sync"
NOTE = "# Written by clients/python/write_sync.py from _async. Change that folder.\n"
NAMES = {
    "StopAsyncIteration": "StopIteration",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "_async": "_sync",
    "aclose": "close",
    "asyncio": "time",
}
OURS = re.compile(r"Async(?=[A-Z])")
WORDS = {"for asyncio": "for threads", "async with": "with", "async for": "for", "await ": ""}


def texts() -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each module of ``_sync``."""
    for path in sorted(SOURCE.glob("*.py")):
        target = TARGET / path.name
        sorted_imports = _ruff(
            "check", "--select=I", "--fix-only", "--quiet", path=target, text=of(path.read_text("utf-8"))
        )
        yield target, _ruff("format", path=target, text=sorted_imports)


def of(source: str) -> str:
    """Return the module for threads of a module for asyncio."""
    lines = source.splitlines(keepends=True)
    edits: list[tuple[tuple[int, int], tuple[int, int], str]] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and token.string in ("async", "await"):
            edits.append((token.start, (token.end[0], token.end[1] + 1), ""))  # with the space behind it
        elif token.type == tokenize.NAME:
            edits.append((token.start, token.end, _name(token.string)))
        elif token.type in (tokenize.STRING, tokenize.COMMENT):
            edits.append((token.start, token.end, _prose(token.string)))
    for (row, column), (end_row, end), text in reversed(edits):
        rest = lines[end_row - 1][end:]
        lines[row - 1 : end_row] = [lines[row - 1][:column] + text + rest]
    return NOTE + "".join(lines)


def _ruff(command: str, *options: str, path: Path, text: str) -> str:
    words = [sys.executable, "-m", "ruff", command, *options, f"--stdin-filename={path}", "-"]
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout  # noqa: S603


def _name(name: str) -> str:
    return NAMES.get(name) or OURS.sub("", name)


def _prose(text: str) -> str:
    for word, plain in WORDS.items():
        text = text.replace(word, plain)
    return OURS.sub("", text)


if __name__ == "__main__":
    for path, text in texts():
        path.write_text(text, "utf-8")

"""Writes the client for threads, ``_sync``, from that for asyncio, ``_async``. A build of the package runs it."""

import io
import re
import tokenize
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


def write() -> None:
    """Write each module of ``_sync`` whose text has changed, and delete those without a module in ``_async``."""
    texts = {path.name: of(path.read_text("utf-8")) for path in SOURCE.glob("*.py")}
    TARGET.mkdir(exist_ok=True)
    for path in TARGET.glob("*.py"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        path = TARGET / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


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


def _name(name: str) -> str:
    return NAMES.get(name) or OURS.sub("", name)


def _prose(text: str) -> str:
    for word, plain in WORDS.items():
        text = text.replace(word, plain)
    return OURS.sub("", text)


if __name__ == "__main__":
    write()

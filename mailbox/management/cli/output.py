"""How answers are printed."""

import codecs
import io
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from mailbox.inspection.answers import Answer
from mailbox.models import Lease, Message, Result
from mailbox.words import content


def print_anything() -> None:
    """Let this process print any text on any terminal.

    A character that the terminal's encoding lacks is printed as a JSON escape. So a leased task is never lost in print.
    """
    codecs.register_error("json_escape", _json_escape)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="json_escape")


def _json_escape(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)), error.end


def printable(text: str) -> str:
    """Return the text without control characters: a stranger may have written it, and a terminal obeys them."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)


def as_json(value: object) -> str:
    """Return one line of JSON, spelled as the API does."""
    return orjson.dumps(value).decode()


def answer(options: Namespace, shown: object, text: str) -> str:
    """Return what a command prints: ``text`` for people, or with ``--json`` the JSON of the API."""
    return as_json(shown) if options.json else text


def lines(parts: Iterable[str], *, none: str) -> str:
    """Return one part per line, or ``none`` if there is no part."""
    return "\n".join(parts) or none


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows, their cells aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def moment(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def lease(row: Lease, newest: Message | None) -> str:
    """Return a leased task: its ids and parties, a blank line, its text, then the sender's newest message."""
    task = row.task
    head = [
        ("task", str(task.uuid)),
        ("from", task.sender.display),
        ("to", task.recipient.display),
        ("kind", task.task_kind),
        ("parent", task.parent and str(task.parent)),
        ("lease", f"{row.lease_id} (attempt {row.attempt})"),
        ("turn", str(task.turn) if task.turn > 1 else None),
    ]
    later = [] if newest is None else ["", *blocks(newest.blocks)]
    return "\n".join([*columns([(name, value) for name, value in head if value]), "", task.intent_text, *later])


def result(row: Result, answer: Answer) -> str:
    """Return a result: its task and status, then the text of its whole answer; other blocks as JSON."""
    reason = f": {row.error_message}" if row.error_message else ""
    texts = blocks(answer.blocks)
    return "\n".join([f"task  {row.task.uuid}  {row.status}{reason}", *(["", *texts] if texts else [])])


def blocks(content_: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the texts of content blocks; other blocks as JSON."""
    return [content.text_of([block]) if block["type"] == "text" else as_json(block) for block in content_]

"""A progress line for people who wait at a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from time import monotonic

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
ASCII_FRAMES = "|/-\\"
EVERY = 0.1  # seconds
ERASE_LINE = "\r\x1b[K"


@contextmanager
def spinning(doing: str) -> Iterator[None]:
    """While the block runs, show ``doing`` and the elapsed time on stderr. Shows nothing if that is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    over = threading.Event()
    painter = threading.Thread(target=_paint, args=(doing, over), daemon=True)
    painter.start()
    try:
        yield
    finally:
        over.set()
        painter.join()
        sys.stderr.write(ERASE_LINE)
        sys.stderr.flush()


def _paint(doing: str, over: threading.Event) -> None:
    began = monotonic()
    unicode = "utf" in (sys.stderr.encoding or "").lower()
    for frame in cycle(FRAMES if unicode else ASCII_FRAMES):
        sys.stderr.write(f"{ERASE_LINE}{frame} {doing} {monotonic() - began:.1f} s")
        sys.stderr.flush()
        if over.wait(EVERY):
            return

"""Progress for people who wait at a terminal: the elapsed time of one step, and a line that counts many."""

import shutil
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
WIDTH = 24  # of the bar itself


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


class Progress:
    """The progress of work of a known or unknown size, on one line of stderr. Shows nothing if that is not a terminal.

    ``size`` is the size of the whole work, None if it is unknown.
    """

    def __init__(self, size: int | None) -> None:
        self._size = size
        self._is_shown = sys.stderr.isatty()
        self._began_at = monotonic()
        self._drawn_at = 0.0

    def show(self, done: int, things: int, note: str = "") -> None:
        """Draw the line, at most once in `EVERY` seconds without a ``note``.

        ``done`` is the part of the size that is done, and ``things`` is what it came to.
        """
        now = monotonic()
        if not self._is_shown or (not note and now - self._drawn_at < EVERY):
            return
        self._drawn_at = now
        line = self._line(done, things, now - self._began_at)
        columns = shutil.get_terminal_size().columns
        sys.stderr.write(f"{ERASE_LINE}{f'{line}  {note}'.rstrip()[: columns - 1]}")
        sys.stderr.flush()

    def end(self) -> None:
        """Remove the line."""
        if self._is_shown and self._drawn_at:
            sys.stderr.write(ERASE_LINE)
            sys.stderr.flush()

    def _line(self, done: int, things: int, seconds: float) -> str:
        pace = f"{things:,} tasks  {things / max(seconds, 1e-3):,.0f}/s"
        if not self._size:
            return pace
        share = min(1.0, done / self._size)
        bar = ("#" * int(share * WIDTH)).ljust(WIDTH, ".")
        left = f"  {_clock(seconds / share - seconds)} left" if 0 < share < 1 else ""
        return f"[{bar}] {share:4.0%}  {pace}{left}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

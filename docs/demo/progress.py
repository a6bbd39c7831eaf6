"""A progress bar on stderr: redrawn in place on a terminal, a line per quarter elsewhere."""

import sys

WIDTH = 30


class Progress:
    def __init__(self, label: str, total: int) -> None:
        self._label, self._total, self._done = label, total, 0
        self._in_place = sys.stderr.isatty()
        self._draw()

    def advance(self) -> None:
        self._done += 1
        if self._in_place or self._done * 4 // self._total > (self._done - 1) * 4 // self._total:
            self._draw()

    def _draw(self) -> None:
        filled = WIDTH * self._done // self._total
        bar = f"{self._label:<8} [{'#' * filled}{'.' * (WIDTH - filled)}] {self._done}/{self._total}"
        end = "" if self._in_place and self._done < self._total else "\n"
        sys.stderr.write(f"\r{bar}{end}" if self._in_place else f"{bar}\n")
        sys.stderr.flush()

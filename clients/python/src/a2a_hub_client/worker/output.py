"""Collects a program's output within bounds: its messages, its last line, and the end of its stderr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from a2a_hub_client.worker.updates import Updates, json_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of the output kept of a program. ``lines`` counts lines, ``answer`` bytes of JSON, the others bytes."""

    line: int = 8_192
    lines: int = 1_000
    total: int = 262_144
    stderr: int = 4_096
    answer: int = 600_000  # well below the default body limit of a hub


class Output(Updates):
    """The output of a program. One thread feeds it, another takes updates. Call `close` before reading the rest.

    Each line of stdout that is not blank is a message, unless the output is silent. Invalid UTF-8 is replaced, NUL is
    removed, and long lines are cut. Beyond `Limits` only the last line is kept, and a message reports that.
    """

    conclusion: Mapping[str, Any] | None = None  # the last control line: a question to the sender, or the result
    fault: str | None = None  # the problem of the first faulty control line

    def __init__(self, limits: Limits = Limits(), *, is_silent: bool = False) -> None:
        super().__init__()
        self._limits = limits
        self._is_silent = is_silent
        self._line = bytearray()  # the unfinished line, at most Limits.line bytes of it
        self._is_cut = False
        self._kept: list[str] = []
        self._bytes = 0
        self._beyond: bytes | None = None  # the end of the output beyond the limits; None: within them
        self._stderr = b""

    @property
    def is_overflowing(self) -> bool:
        """Whether further output is dropped for now."""
        return self._is_cut or self._beyond is not None

    def feed(self, data: bytes) -> None:
        """Add bytes of stdout."""
        with self._lock:
            start = 0
            while self._beyond is None and (end := data.find(b"\n", start)) >= 0:
                self._extend(data[start:end])
                self._end_line()
                start = end + 1
            if self._beyond is None:
                self._extend(data[start:])
            else:
                self._beyond = (self._beyond + data[start:])[-2 * self._limits.line :]

    def feed_stderr(self, data: bytes) -> None:
        """Add bytes of stderr, of which the end is kept."""
        with self._lock:
            self._stderr = (self._stderr + data)[-self._limits.stderr :]

    def close(self) -> None:
        """End the output: an unfinished last line counts as a line. Feed nothing after this."""
        with self._lock:
            if self._line and self._beyond is None:
                self._end_line()
        super().close()

    @property
    def last(self) -> str | None:
        """The last line that is not blank, None without one."""
        beyond = [text for line in (self._beyond or b"").split(b"\n") if (text := self._text(line)).strip()]
        kept = (line for line in reversed(self._kept) if line.strip())
        return beyond[-1] if beyond else next(kept, None)

    @property
    def whole(self) -> str | None:
        """All kept lines, also blank lines; None without any. If too long as JSON: a notice and the last line."""
        text = "\n".join([*self._kept, *([] if self._beyond is None else [self._notice()])])
        if json_bytes(text) > self._limits.answer:
            notice = f"[the output exceeds {self._limits.answer} bytes of JSON; this is its last line]"
            return f"{notice}\n{self.last or ''}"
        return text or None

    @property
    def complaint(self) -> str:
        """The end of stderr."""
        text = self._stderr.decode(errors="replace").replace("\0", "").strip()
        return f"...{text}" if len(self._stderr) == self._limits.stderr else text

    def _extend(self, part: bytes) -> None:
        room = self._limits.line - len(self._line)
        self._line += part[:room]
        self._is_cut |= len(part) > room

    def _end_line(self) -> None:
        line, is_cut = bytes(self._line), self._is_cut
        self._line.clear()
        self._is_cut = False
        if len(self._kept) == self._limits.lines or self._bytes + len(line) > self._limits.total:
            self._beyond = line + b"\n"
            self._say(self._notice())
            return
        self._bytes += len(line) + 1
        text = self._text(line, is_cut=is_cut)
        self._kept.append(text)
        if text.strip():
            self._say(text)

    def _say(self, text: str) -> None:
        if self._is_silent:
            return
        self._queue.append(({"message": text}, 0))

    def _text(self, line: bytes, *, is_cut: bool = False) -> str:
        is_cut |= len(line) > self._limits.line
        line = line[: self._limits.line]
        # The cut may have split a character; its first bytes are dropped.
        text = line.decode(errors="replace").rstrip("\ufffd") if is_cut else line.decode(errors="replace")
        return text.replace("\0", "").rstrip("\r") + (" [line cut]" if is_cut else "")

    def _notice(self) -> str:
        limits = self._limits
        return (
            f"[output capped at {limits.lines} lines or {limits.total} bytes; only the last line of the rest is kept]"
        )

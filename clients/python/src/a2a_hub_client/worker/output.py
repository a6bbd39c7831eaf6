"""Collects a program's output within bounds: its messages, its last line, and the end of its stderr.

A control line begins with the token of the run, and carries JSON for the hub. The token is random and new for each run,
so that no program prints a control line by chance.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from a2a_hub_client.worker import job
from a2a_hub_client.worker.job import ASKING, Updates, json_bytes

LINE_BYTES = 600_000  # of one control line, well below the default body limit of a hub
SHOWN = 200  # characters of a faulty line
RESOLVING = ("ok", "partial", "error", "rejected")
UPDATES = ("message", "progress", "artifact")


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


class ControlledOutput(Output):
    """The output of a program that writes control lines. All other lines are output as usual."""

    def __init__(self, token: str, *, is_silent: bool = False) -> None:
        super().__init__(is_silent=is_silent)
        self._token = token.encode()
        self._held = b""  # the start of a line that may become a control line
        self._control: bytearray | None = None  # the unfinished control line without its token; None: no such line
        self._is_at_start = True  # of a line

    def feed(self, data: bytes) -> None:
        data, self._held = self._held + data, b""
        while data:
            if self._control is not None:
                data = self._extend_control(data)
            elif (start := self._start_of_control(data)) is not None:
                super().feed(data[:start])
                self._control, self._is_at_start = bytearray(), True
                data = data[start + len(self._token) :]
            else:
                passed = data[: self._length_without_start(data)]
                super().feed(passed)
                self._is_at_start = passed.endswith(b"\n") if passed else self._is_at_start
                self._held = data[len(passed) :]
                return

    def close(self) -> None:
        super().feed(self._held)
        if self._control is not None:
            self._end_control()
        super().close()

    def _start_of_control(self, data: bytes) -> int | None:
        """Return the position of the first control line that begins in ``data``."""
        if self._is_at_start and data.startswith(self._token):
            return 0
        before = data.find(b"\n" + self._token)
        return None if before < 0 else before + 1

    def _length_without_start(self, data: bytes) -> int:
        """Return the length of ``data`` without an unfinished last line that may become a control line."""
        last = data.rfind(b"\n") + 1
        is_line = last > 0 or self._is_at_start
        return last if is_line and self._token.startswith(data[last:]) else len(data)

    def _extend_control(self, data: bytes) -> bytes:
        """Add bytes to the unfinished control line, and return the bytes after it."""
        assert self._control is not None  # noqa: S101 (feed has checked it)
        end = data.find(b"\n")
        part = data if end < 0 else data[:end]
        self._control += part[: LINE_BYTES + 1 - len(self._control)]
        if end < 0:
            return b""
        self._end_control()
        return data[end + 1 :]

    def _end_control(self) -> None:
        assert self._control is not None  # noqa: S101 (the callers have checked it)
        line = bytes(self._control)
        self._control = None
        if self.fault is not None:
            return
        try:
            self._obey(line)
        except ValueError as error:
            shown = line.decode(errors="replace")
            shown = f"{shown[:SHOWN]}..." if len(shown) > SHOWN else shown
            self.fault = f"faulty control line: {error}: {shown}"

    def _obey(self, line: bytes) -> None:
        """Queue the line's update, or keep it as the conclusion. Raises `ValueError` for a faulty line."""
        if len(line) > LINE_BYTES:
            raise ValueError(f"a line has at most {LINE_BYTES} bytes")
        if self.conclusion is not None:
            raise ValueError("the line before was the last, as its status ended the attempt")
        update = job.loads(line)
        if not isinstance(update, dict):
            raise ValueError("the JSON must be an object")
        status = update.get("status")
        if status in ASKING or status in RESOLVING:
            self.conclusion = update
        elif "status" in update or sum(key in update for key in UPDATES) == 1:
            self.add(update, size=len(line))
        else:
            raise ValueError(f"the object must have exactly one of {', '.join(UPDATES)}, status")

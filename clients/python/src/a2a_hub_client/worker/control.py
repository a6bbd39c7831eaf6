"""Control lines: lines of a program's stdout that begin with its token, and carry JSON for the hub.

The token is random and new for each run, so that no program prints a control line by chance.
"""

from __future__ import annotations

from a2a_hub_client.worker import strict_json
from a2a_hub_client.worker.leased_task import ASKING
from a2a_hub_client.worker.output import Output

LINE_BYTES = 600_000  # of one control line, well below the default body limit of a hub
SHOWN = 200  # characters of a faulty line
RESOLVING = ("ok", "partial", "error", "rejected")
UPDATES = ("message", "progress", "artifact")


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
        said = strict_json.loads(line)
        if not isinstance(said, dict):
            raise ValueError("the JSON must be an object")
        status = said.get("status")
        if status in ASKING or status in RESOLVING:
            self.conclusion = said
        elif "status" in said or sum(key in said for key in UPDATES) == 1:
            self.add(said, size=len(line))
        else:
            raise ValueError(f"the object must have exactly one of {', '.join(UPDATES)}, status")

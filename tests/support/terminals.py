"""The command line `a2a` for tests: in this process, and in a process of its own at a terminal."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from a2a_hub_client.cli.app import app
from mailbox.access.callers import Caller
from tests.support.factories import key_of
from tests.support.hub import PATIENCE

MAIN = "from a2a_hub_client.cli import main; main()"
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[list[str]]:
        """The cells of a table, its titles first."""
        return [re.split(r" {2,}", line) for line in self.out.splitlines()]

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def jsonl(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """The command line of one hub. ``config`` is its file of contexts, and ``keys`` are the keys by their owners."""

    url: str
    config: Path
    keys: dict[str, str] = field(default_factory=dict)

    def key(self, owner: Caller) -> str:
        """Return the key with which commands of ``owner`` run."""
        if owner.name not in self.keys:
            self.keys[owner.name] = key_of(owner)
        return self.keys[owner.name]

    def __call__(self, *words: object, by: Caller | None = None, typed: str | None = None) -> Ran:
        """Run a command in this process, with a key of ``by``; None: with the stored contexts."""
        result = CliRunner().invoke(app, [str(word) for word in words], input=typed, env=self._environment(by))
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(code=result.exit_code, out=result.stdout, err=result.stderr)

    @contextlib.contextmanager
    def at_a_terminal(
        self, *words: object, by: Caller | None = None, columns: int = 80, **environment: str
    ) -> Iterator[Terminal]:
        """Run a command in a process of its own at a terminal; kill it when the block ends."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        own = {name: value for name, value in self._environment(by).items() if value is not None}
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, *map(str, words)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_become_foreground,
            env=os.environ | {"TERM": "xterm-256color"} | own | environment,
        )
        os.close(theirs)
        try:
            yield Terminal(process, ours)
        finally:
            process.kill()
            process.wait()
            os.close(ours)

    def _environment(self, by: Caller | None) -> Mapping[str, str | None]:
        stored = {"A2A_CONFIG": str(self.config)}
        return stored if by is None else {**stored, "A2A_URL": self.url, "A2A_API_KEY": self.key(by)}


def _become_foreground() -> None:
    """Take the terminal, and hear its Ctrl-C also if the tests run in the background, where it is ignored."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """A terminal with a command at it."""

    def __init__(self, process: subprocess.Popen[bytes], end: int) -> None:
        self._process = process
        self._end = end
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self.raw = ""

    @property
    def shown(self) -> str:
        """The shown text so far, without colours and movements."""
        return ESCAPES.sub("", self.raw)

    def await_text(self, text: str) -> str:
        """Wait until the text was shown; return what was shown so far."""
        give_up_at = time.monotonic() + PATIENCE
        while text not in self.shown:
            assert time.monotonic() < give_up_at, f"{text!r} was not shown, but:\n{self.shown}"
            assert self._read(), f"the command ended without {text!r}:\n{self.shown}"
        return self.shown

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._end, f"{line}\n".encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        os.write(self._end, b"\x03")

    def code(self) -> int:
        """Read to the end of the command; return its exit code."""
        while self._read():
            pass
        return self._process.wait(PATIENCE)

    def _read(self) -> bool:
        """Read what is there within the patience; return whether the command may show more."""
        ready, _, _ = select.select([self._end], [], [], PATIENCE)
        if not ready:
            return False
        try:
            read = os.read(self._end, 65536)
        except OSError:  # the command has ended
            return False
        self.raw += self._decode(read)
        return bool(read)

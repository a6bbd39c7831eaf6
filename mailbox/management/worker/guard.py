"""Ends the programs of a worker that was killed: nothing else could, and work nobody awaits must not go on.

Run as a program of its own, which imports nothing of ours. It reads which process groups live, one a line,
``+`` begun and ``-`` gone, and acts when the worker's end of the pipe closes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from typing import Self


class Guard:
    """Watches process groups for as long as this process lives, and ends them after it."""

    def __init__(self, *, grace: float) -> None:
        """Give the groups ``grace`` seconds between SIGTERM and SIGKILL."""
        self._process = subprocess.Popen(  # noqa: S603 (this very file)
            [sys.executable, "-I", "-S", __file__, str(grace)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={},
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None  # noqa: S101 (a pipe was asked for)
        self._process.stdin.close()
        self._process.wait()

    def watch(self, group: int) -> None:
        self._write(f"+{group}\n")

    def forget(self, group: int) -> None:
        self._write(f"-{group}\n")

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None  # noqa: S101 (a pipe was asked for)
        with contextlib.suppress(BrokenPipeError):
            os.write(self._process.stdin.fileno(), line.encode())


def kill_group(group: int, number: int) -> bool:
    """Send the signal, 0 for none, to the group; return whether there is one that we may signal."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _end(groups: Iterable[int], *, grace: float) -> None:
    left = {group for group in groups if kill_group(group, signal.SIGTERM)}
    give_up_at = time.monotonic() + grace
    while left and time.monotonic() < give_up_at:
        time.sleep(0.05)
        left = {group for group in left if kill_group(group, 0)}
    for group in left:
        kill_group(group, signal.SIGKILL)


def _main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        group = int(line[1:])
        groups.add(group) if line.startswith("+") else groups.discard(group)
    _end(groups, grace=float(sys.argv[1]))


if __name__ == "__main__":
    _main()

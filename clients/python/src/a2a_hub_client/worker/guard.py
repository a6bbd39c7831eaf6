"""Stops the programs of a worker that was killed, so that they do not continue work without a worker.

This file runs as a program of its own and imports nothing of the project. It reads process groups from stdin, one per
line: ``+`` for a new group, ``-`` for a group that has ended. When the pipe closes, it ends the remaining groups.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable


class Guard:
    """Ends the watched process groups when this process ends or is killed."""

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

    def close(self) -> None:
        """End the groups that are still watched, and wait for that."""
        assert self._process.stdin is not None  # noqa: S101 (Popen made a pipe)
        self._process.stdin.close()
        self._process.wait()

    def watch(self, group: int) -> None:
        self._write(f"+{group}\n")

    def forget(self, group: int) -> None:
        self._write(f"-{group}\n")

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None  # noqa: S101 (Popen made a pipe)
        with contextlib.suppress(BrokenPipeError):
            os.write(self._process.stdin.fileno(), line.encode())


def kill_group(group: int, number: int) -> bool:
    """Send the signal to the group, nothing if it is 0. Return whether the group exists and may be signalled."""
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

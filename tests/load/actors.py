"""Runs actors on a database, one or many at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.support.hub import NO_LIMITS, PATIENCE, ROOT


class Database:
    """A database for actors, at ``url``, and a folder of their own.

    A process forks all actors until the block ends. It starts at the first, and reads the environment as it is then.
    """

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        self._actors: Connection | None = None
        self._block = ExitStack()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self._block.close()

    @property
    def environment(self) -> dict[str, str]:
        return NO_LIMITS | os.environ | {"A2A_VAR": str(self.folder), "DATABASE_URL": self.url}

    def act(self, command: str, *arguments: int) -> Any:
        """Run one actor; return its result."""
        (result,) = self.act_together(1, command, *arguments)
        return result

    def act_together(self, count: int, command: str, *arguments: int) -> list[Any]:
        """Run ``count`` actors that begin at the same time; return their results. A failed actor fails the test."""
        self._actors = self._actors or self._start()
        self._actors.send_bytes(json.dumps([count, command, arguments]).encode())
        assert self._actors.poll(PATIENCE), f"{command} does not end"
        results: list[Any] = json.loads(self._actors.recv_bytes())
        return results

    def _start(self) -> Connection:
        """Start the process of the actors.

        On SQLite they wait for the write lock as long as the test does, since the disk of a machine may stall.
        """
        patient = f"{self.url}?timeout={PATIENCE:.0f}" if self.url.startswith("sqlite:") else self.url
        ours, theirs = Pipe()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.load.actor", str(theirs.fileno())],
                cwd=ROOT,
                env=self.environment | {"DATABASE_URL": patient},
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._block.callback(process.wait)
        self._block.callback(process.kill)
        self._block.enter_context(ours)
        return ours


def problems_of(leases: Sequence[Sequence[Any]], sent: Sequence[str]) -> list[str]:
    """Return the problems of leases, each (task id, lease id, attempt). Each sent task should have exactly one."""
    tasks, ids = Counter(task for task, _, _ in leases), Counter(lease for _, lease, _ in leases)
    return [
        *(f"task {task} was leased {count} times" for task, count in tasks.items() if count > 1),
        *(f"lease {lease} was given {count} times" for lease, count in ids.items() if count > 1),
        *(f"task {task} was at attempt {attempt}" for task, _, attempt in leases if attempt != 1),
        *(f"task {task} was never leased" for task in sent if task not in tasks),
        *(f"task {task} was never sent" for task in set(tasks) - set(sent)),
    ]

"""Runs actors on a database, one or many at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.hub import NO_LIMITS, PATIENCE, ROOT


@dataclass(frozen=True, slots=True)
class Database:
    """A database for actors, at ``url``, and a folder of their own."""

    folder: Path
    url: str

    @property
    def environment(self) -> dict[str, str]:
        return NO_LIMITS | os.environ | {"A2A_VAR": str(self.folder), "DATABASE_URL": self.url}

    def act(self, command: str, *arguments: object) -> Any:
        """Run one actor; return its result."""
        (found,) = self.act_together(1, command, *arguments)
        return found

    def act_together(self, count: int, command: str, *arguments: object) -> list[Any]:
        """Run ``count`` actors that begin at the same time; return their results. A failed actor fails the test.

        On SQLite they wait for the write lock as long as the test does, since the disk of a machine may stall.
        """
        call = [sys.executable, "-m", "tests.load.actor", str(count), command, *map(str, arguments)]
        patient = f"{self.url}?timeout={PATIENCE:.0f}" if self.url.startswith("sqlite:") else self.url
        environment = self.environment | {"DATABASE_URL": patient}
        ended = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        assert ended.returncode == 0, ended.stderr
        found: list[Any] = json.loads(ended.stdout.splitlines()[-1])
        return found


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

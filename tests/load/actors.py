"""Running actors against one database, alone or many at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.hub import PATIENCE, ROOT


@dataclass(frozen=True, slots=True)
class Database:
    """Where actors work: an own folder, and a PostgreSQL database unless ``url`` is empty."""

    folder: Path
    url: str

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"A2A_VAR": str(self.folder), "DATABASE_URL": self.url}

    def act(self, command: str, *arguments: object) -> Any:
        """Run one actor; return what it found."""
        (found,) = self.act_together(1, command, *arguments)
        return found

    def act_together(self, count: int, command: str, *arguments: object) -> list[Any]:
        """Run ``count`` actors that begin at the same time; return what each found. An actor that fails, fails the test."""
        start_at = time.time() + (0.5 + 0.4 * count if count > 1 else 0)
        call = [sys.executable, "-m", "tests.load.actor", command, str(start_at), *map(str, arguments)]
        pipe = subprocess.PIPE
        running = [
            subprocess.Popen(call, cwd=ROOT, env=self.environment, stdout=pipe, stderr=pipe, text=True)
            for _ in range(count)
        ]
        try:
            ended = [process.communicate(timeout=PATIENCE) for process in running]
        finally:
            for process in running:
                process.kill()
        errors = [error for process, (_, error) in zip(running, ended, strict=True) if process.returncode]
        assert not errors, "\n".join(errors)
        return [json.loads(printed.splitlines()[-1]) for printed, _ in ended]


def problems_of(leases: Sequence[Sequence[Any]], sent: Sequence[str]) -> list[str]:
    """Return what is wrong with leases, as (task id, lease id, attempt), that should be one for each task sent."""
    tasks, ids = Counter(task for task, _, _ in leases), Counter(lease for _, lease, _ in leases)
    return [
        *(f"task {task} was leased {count} times" for task, count in tasks.items() if count > 1),
        *(f"lease {lease} was given {count} times" for lease, count in ids.items() if count > 1),
        *(f"task {task} was at attempt {attempt}" for task, _, attempt in leases if attempt != 1),
        *(f"task {task} was never leased" for task in sent if task not in tasks),
        *(f"task {task} was never sent" for task in set(tasks) - set(sent)),
    ]

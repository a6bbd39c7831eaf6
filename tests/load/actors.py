"""Running actors against one database, alone or many at once."""

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

from tests.support.hub import PATIENCE, ROOT


@dataclass(frozen=True, slots=True)
class Database:
    """Where actors work: an own folder, and the database at ``url``."""

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
        call = [sys.executable, "-m", "tests.load.actor", str(count), command, *map(str, arguments)]
        ended = subprocess.run(call, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        assert ended.returncode == 0, ended.stderr
        found: list[Any] = json.loads(ended.stdout.splitlines()[-1])
        return found


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

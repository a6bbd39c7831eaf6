"""How many web processes the hub starts: as many as there are processors for it."""

from __future__ import annotations

import math
import os
from pathlib import Path

from a2aproject.settings.environment import Environment

# SQLite takes one write at a time, so that further processes would only wait for each other.
MOST_ON_SQLITE = 4
MOST_BY_DEFAULT = 16  # so that the connections of all processes fit, and each pool has two
MOST_CONNECTIONS = 64  # of all web processes by default: a PostgreSQL server takes 100 by default
OF_THE_BELL = 2  # connections of a process beside its pool: one listens, and one rings
LEAST_IN_A_POOL, MOST_IN_A_POOL = 2, 16
CONTROL_GROUPS, MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def web_workers(env: Environment) -> int:
    """Return ``WEB_WORKERS``. Its default is the number of processors.

    The default is at most `MOST_BY_DEFAULT`, and at most `MOST_ON_SQLITE` on SQLite.
    """
    is_postgresql = env.str("DATABASE_URL", "").startswith("postgres")
    default = min(processors(), MOST_BY_DEFAULT if is_postgresql else MOST_ON_SQLITE)
    return env.integer("WEB_WORKERS", default, least=1, most=1024)


def pool_size(env: Environment) -> int:
    """Return ``DATABASE_POOL_SIZE``.

    Its default is the share of one web process in `MOST_CONNECTIONS`, without the connections of its bell.
    """
    share = MOST_CONNECTIONS // web_workers(env) - OF_THE_BELL
    default = max(LEAST_IN_A_POOL, min(MOST_IN_A_POOL, share))
    return env.integer("DATABASE_POOL_SIZE", default, least=1)


def processors(root: Path = CONTROL_GROUPS, membership: Path = MEMBERSHIP) -> int:
    """Return how many processors this process may use at once, at least 1.

    The system may bind it to some of the machine's. A container's limit, such as 1.5 processors, is rounded up.
    """
    try:
        own = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        own = os.cpu_count() or 1
    return max(1, math.ceil(min(own, _limit(root, membership))))


def _limit(root: Path, membership: Path) -> float:
    """Return the processors that the control groups of this process grant; infinity without a limit."""
    lines = _text(membership).splitlines()
    paths = [line.partition("::")[2].strip("/") for line in lines if line.startswith("0::")]
    folders = [folder for path in paths or [""] for folder in ((root / path), *(root / path).parents)]
    grants = [_text(folder / "cpu.max").split() for folder in folders if folder.is_relative_to(root)]
    # The first version of control groups has two files, and -1 for no limit.
    old = root / "cpu"
    grants.append([_text(old / "cpu.cfs_quota_us").strip(), _text(old / "cpu.cfs_period_us").strip()])
    return min((int(quota) / int(period) for quota, period in map(_pair, grants) if quota.isdigit()), default=math.inf)


def _pair(grant: list[str]) -> tuple[str, str]:
    """Return the quota and its period, or a quota that is no number."""
    return (grant[0], grant[1]) if len(grant) == 2 and grant[1].isdigit() and grant[1] != "0" else ("", "")


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""

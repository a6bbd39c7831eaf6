"""Faults of the storage: syncs that fail, a full disk, a locked file, a database file that cannot be written."""

import contextlib
import random
import resource
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from tools.proof.faults import limits, shim
from tools.proof.faults.fault import Fault
from tools.proof.faults.readiness import require_not_ready, require_reason
from tools.proof.servers import Pair
from tools.proof.stage import Stage

SQLITE, POSTGRESQL = ("sqlite",), ("postgresql",)
EACH_SYNC = 17  # of so many syncs, one fails
LASTS = 5.0  # seconds


def failing_syncs(stage: Stage, _: random.Random) -> None:
    """Fail each so many-th sync of the hub with EIO for some seconds. Raises `AssertionError` if none failed."""
    orders = shim.Orders(stage.environment)
    before = orders.failed
    orders.fail_syncs(EACH_SYNC)
    try:
        time.sleep(LASTS)
    finally:
        orders.fail_syncs(0)
    assert orders.failed > before, "the load synced too rarely"


def failing_syncs_of_postgresql(stage: Stage, _: random.Random) -> None:
    """Fail the next sync of the server with EIO. It must end every process and recover from its log."""
    server = stage.postgresql.primary if isinstance(stage.postgresql, Pair) else stage.postgresql
    assert server is not None, "the stage has no server of its own"
    orders = shim.Orders(server.environment)
    before = orders.failed
    orders.fail_syncs(1)
    try:
        give_up_at = time.monotonic() + 4 * LASTS
        while orders.failed == before:
            assert time.monotonic() < give_up_at, "the load synced too rarely"
            time.sleep(0.01)
    finally:
        orders.fail_syncs(0)
    if not server.is_running():
        server.start()
    server.wait_until_ready()


def locked_for(seconds: float) -> Callable[[Stage, random.Random], None]:
    """Return a strike that holds SQLite's write lock for so long, as a backup tool or a shell may."""

    def strike(stage: Stage, _: random.Random) -> None:
        end = time.monotonic() + seconds
        with contextlib.closing(sqlite3.connect(sqlite_file(stage), timeout=60, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            try:
                if seconds >= 15:
                    require_reason(stage, "lock")
                time.sleep(max(0.0, end - time.monotonic()))
            finally:
                other.execute("ROLLBACK")

    return strike


def unwritable(stage: Stage, _: random.Random) -> None:
    """Let no web worker write beyond the first byte of a file, so that each write to the database fails."""
    with limits.limited(stage, resource.RLIMIT_FSIZE, lambda _worker: 1):
        require_not_ready(stage)
        time.sleep(LASTS)


def sqlite_file(stage: Stage) -> Path:
    return stage.folder / "hub.sqlite3"


FAULTS = (
    Fault(name="SQLite: locked for 4 s", strike=locked_for(4), databases=SQLITE, is_short=True),
    Fault(name="SQLite: locked for 20 s", strike=locked_for(20), databases=SQLITE, times=2),
    Fault(name="SQLite: syncs fail", strike=failing_syncs, databases=SQLITE, missing=shim.missing, times=2),
    Fault(name="SQLite: every write fails", strike=unwritable, databases=SQLITE, missing=limits.missing, times=2),
    Fault(
        name="PostgreSQL: a sync fails",
        strike=failing_syncs_of_postgresql,
        databases=POSTGRESQL,
        missing=shim.missing,
        times=2,
    ),
)

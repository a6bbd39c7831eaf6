"""A disk that is full: the database's files are on a small disk of their own, which is filled under load."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tools.proof import servers
from tools.proof.faults.readiness import require_reason
from tools.proof.forms import FEW, Part, measured, part_of
from tools.proof.history import History
from tools.proof.load import loading
from tools.proof.mix import Mix
from tools.proof.scenarios.scenario import Scenario
from tools.proof.stage import Stage, opened

SIZES = {"sqlite": "32m", "postgresql": "512m"}
FULL_FOR = 8.0  # seconds
BETWEEN = 3.0
TIMES = 2


def missing() -> str | None:
    if sys.platform != "linux" or shutil.which("mount") is None or os.geteuid() != 0:
        return "only root on Linux mounts a small disk"
    return None


def run(database: str, folder: Path, seed: int) -> Sequence[Part]:
    """Fill the disk under load, and free it again."""
    began, strikes = time.monotonic(), []
    with contextlib.ExitStack() as stack:
        stage, disk = _stage(database, folder, stack)
        stack.enter_context(opened(stage))
        with loading(stage, seed, rates=FEW, mix=Mix(compacts=False)) as load:
            for number in range(1, TIMES + 1):
                time.sleep(BETWEEN)
                strikes.append(measured(load, f"disk full {number}", partial(_fill, stage, disk)))
        part = part_of(stage, "a full disk", began)
    part.strikes = strikes
    return [part]


def _fill(stage: Stage, disk: Path) -> None:
    """Fill the disk for some seconds. PostgreSQL may end of it, and is then started again."""
    filler = disk / "filler"
    end = time.monotonic() + FULL_FOR
    try:
        while time.monotonic() < end:
            _write_until_full(filler)
            time.sleep(0.2)
        require_reason(stage, "full", "reached", "written")
    finally:
        filler.unlink()
    server = stage.postgresql
    if isinstance(server, servers.Server) and not server.is_running():
        server.start()


def _write_until_full(filler: Path) -> None:
    with contextlib.suppress(OSError), filler.open("ab", buffering=0) as file:
        for size in (2**16, 2**12, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass


def _stage(database: str, folder: Path, stack: contextlib.ExitStack) -> tuple[Stage, Path]:
    """Make a stage with its database alone on the small disk; return that disk too."""
    server = None
    if database == "postgresql":
        room = stack.enter_context(servers.room())
        disk = stack.enter_context(_small_disk(room.folder / "disk", SIZES[database]))
        server = room.server(disk=disk)
        stack.callback(server.kill)
    else:
        disk = stack.enter_context(_small_disk(folder / "disk", SIZES[database]))
    stage = Stage(
        database=database,
        folder=folder / "hub",
        history=History(0),
        database_url=server.url if server else f"sqlite:///{disk / 'hub.sqlite3'}",
        postgresql=server,
        services="web",
    )
    return stage, disk


@contextlib.contextmanager
def _small_disk(folder: Path, size: str) -> Iterator[Path]:
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0777", "none", folder], check=True)  # noqa: S607
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)  # noqa: S607


FULL_DISK = Scenario(
    name="a full disk",
    covers="The disk of the database is filled under load, and freed. The hub says so, refuses writes, and loses none.",
    run=run,
    missing=missing,
)

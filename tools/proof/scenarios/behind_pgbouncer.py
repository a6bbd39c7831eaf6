"""The short form through PgBouncer, which is killed and frozen too. It runs as its page describes it."""

import contextlib
import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

from tests.support import pgbouncer
from tests.support.pgbouncer import Pooler
from tools.proof import edits, forms, handlers, servers
from tools.proof.faults.fault import Fault
from tools.proof.faults.readiness import require_not_ready
from tools.proof.forms import Part
from tools.proof.history import History
from tools.proof.scenarios.scenario import Scenario
from tools.proof.stage import Stage, opened

NAME = "behind PgBouncer"
POOLED = {"DATABASE_POOLER": "transaction"}  # for the hub, and for the commands that the proof runs beside it
SENDS = 160
KILLS = 4
FROZEN_FOR = 4.0  # seconds


def run(_: str, folder: Path, seed: int) -> Sequence[Part]:
    """Run the parts of the short form, each through PgBouncer."""
    with _staged(folder) as (stage, pooler):
        parts = [
            forms.loaded(stage, seed, "cuts and hang-ups", sends=SENDS),
            handlers.handled(stage, seed + 2, sends=SENDS // 2, kills=KILLS),
            forms.struck(stage, seed + 1, "faults", [*_faults(pooler), *forms.faults_for("postgresql", short=True)]),
        ]
    return [replace(part, name=f"{NAME}: {part.name}") for part in parts]


@contextlib.contextmanager
def _staged(folder: Path) -> Iterator[tuple[Stage, Pooler]]:
    with servers.room() as room, mock.patch.dict(os.environ, POOLED):
        server = room.server()
        with server.connect() as admin:
            pgbouncer.set_up(admin)
        with pgbouncer.pooled(servers.HOST, server.port) as pooler:
            stage = Stage(
                database="postgresql",
                folder=folder,
                history=History(0),
                database_url=pooler.url,
                postgresql=server,
                environment=edits.environment(edits.COMPACT_SOON),
            )
            with opened(stage):
                yield stage, pooler


def _faults(pooler: Pooler) -> Iterator[Fault]:
    """Yield faults of PgBouncer itself."""

    def kill(_: Stage, rng: random.Random) -> None:
        pooler.kill()
        time.sleep(rng.random())
        pooler.start()

    def freeze(stage: Stage, _: random.Random) -> None:
        pooler.freeze()
        try:
            require_not_ready(stage)
            time.sleep(FROZEN_FOR)
        finally:
            pooler.thaw()

    strikes: dict[str, Callable[[Stage, random.Random], None]] = {"killed": kill, "frozen for 4 s": freeze}
    for name, strike in strikes.items():
        yield from [Fault(name=f"PgBouncer: {name}", strike=strike, databases=("postgresql",))] * KILLS


def missing() -> str | None:
    return None if pgbouncer.PROGRAM else "PgBouncer is not installed"


BEHIND_PGBOUNCER = Scenario(
    name=NAME,
    run=run,
    databases=("postgresql",),
    missing=missing,
    covers="The short form with a hub that reaches PostgreSQL by PgBouncer in transaction mode. "
    "PgBouncer is killed and frozen too.",
)

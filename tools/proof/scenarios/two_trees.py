"""Two hubs on one PostgreSQL database: both start on the empty database at once, and both serve under kills."""

import contextlib
import itertools
import random
import threading
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tools.proof import servers
from tools.proof.evidence import Violation
from tools.proof.faults import processes
from tools.proof.forms import FEW, Part, Strike, measured, part_of
from tools.proof.history import History
from tools.proof.load import loading
from tools.proof.scenarios.mixes import BESIDE_ANOTHER
from tools.proof.scenarios.scenario import Scenario
from tools.proof.stage import Stage

SECRET = "one secret for both hubs of the proof, as several hubs need it"
KILLS = (processes.SUPERVISOR, processes.WORKER, "web server", "task cluster", "carrier")


def run(_: str, folder: Path, seed: int) -> Sequence[Part]:
    """Start both hubs at once, load both, and kill processes of either."""
    with servers.room() as room, contextlib.ExitStack() as stack:
        server = room.server()
        both = [_stage(folder / name, server) for name in ("first", "second")]
        _start_at_once(both)
        for stage in both:
            stack.callback(stage.stop_hub)
        first_start = [*printed_once(both), *scheduled_once(server)]
        parts = _load_both(both, seed)
    parts[0].violations += first_start
    return parts


def _stage(folder: Path, server: servers.Server) -> Stage:
    folder.mkdir(parents=True, mode=0o700)
    return Stage(
        database="postgresql",
        folder=folder,
        history=History(0),
        database_url=server.url,
        postgresql=server,
        environment={"SECRET_KEY": SECRET},
    )


def _start_at_once(stages: Sequence[Stage]) -> None:
    threads = [threading.Thread(target=stage.start_hub) for stage in stages]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def printed_once(stages: Sequence[Stage]) -> Iterator[Violation]:
    """Yield a violation unless exactly one hub printed the keys. Then let both stages know them."""
    printed = [stage.first_output for stage in stages if "API key" in stage.first_output]
    if len(printed) != 1:
        yield Violation("keys_not_printed_once", "", f"{len(printed)} times")
    for stage in stages:
        stage.first_output = printed[0]


def scheduled_once(server: servers.Server) -> Iterator[Violation]:
    with server.connect() as admin:
        rows = admin.execute("SELECT func, count(*) FROM django_q_schedule GROUP BY func").fetchall()
    for job, count in rows:
        if count != 1:
            yield Violation("job_not_scheduled_once", job, f"{count} times")


def _load_both(stages: Sequence[Stage], seed: int) -> list[Part]:
    """Load each hub with a seed of its own, and kill processes of either beside the loads."""
    first, second = stages
    began, rng = time.monotonic(), random.Random(seed)
    strikes: tuple[list[Strike], list[Strike]] = ([], [])
    mix = BESIDE_ANOTHER
    with loading(first, seed, rates=FEW, mix=mix) as one, loading(second, seed + 1, rates=FEW, mix=mix) as other:
        turns = itertools.cycle(zip(stages, (one, other), strikes, strict=True))
        for victim, (stage, load, struck) in zip(KILLS, turns, strict=False):
            struck.append(measured(load, f"killed: {victim}", partial(processes.killed(victim), stage, rng)))
        for load in (one, other):  # the loads are drained one after the other, so neither sends any more
            load.world.sending.clear()
    parts = [part_of(stage, f"two hubs on one database, hub {n}", began) for n, stage in enumerate(stages, 1)]
    for part, struck in zip(parts, strikes, strict=True):
        part.strikes = struck
    return parts


TWO_TREES = Scenario(
    name="two hubs on one database",
    covers="Two hubs start at once on an empty database, and processes of either are killed under a load of each.",
    run=run,
    databases=("postgresql",),
)

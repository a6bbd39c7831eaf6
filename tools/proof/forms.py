"""The parts of the proof: loads beside faults, and the check of each."""

import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

from tools.proof import checker, edits, servers
from tools.proof.evidence import Violation
from tools.proof.faults import FAULTS, shim
from tools.proof.faults.fault import Fault
from tools.proof.history import History
from tools.proof.load import Load, loading
from tools.proof.mix import Mix
from tools.proof.official import CUT as CUT_STREAM
from tools.proof.planner import planning
from tools.proof.proxy import CUTS
from tools.proof.stage import Stage, opened

FAILED = "part_failed"
RECOVERED_WITHIN = 180.0
# Many hang-ups: most faults of clients that a hub can meet while it works.
HANG_UPS: Mapping[str, float] = {
    "before": 0.02,
    "half": 0.02,
    "early": 0.12,
    "after": 0.06,
    "truncated": 0.03,
    "delayed": 0.03,
    "slow": 0.01,
    "duplicated": 0.06,
}
FEW: Mapping[str, float] = {"early": 0.04, "after": 0.03, "truncated": 0.01, "duplicated": 0.02}


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """A fault that struck. Times are in seconds.

    ``recovery`` runs from the end of the cause to the next acknowledged write. ``silence`` is the longest time between
    two acknowledged writes from the strike to the recovery; None without a load.
    """

    name: str
    recovery: float
    silence: float | None = None
    counted: int = 1  # the number of single faults


@dataclass(slots=True, kw_only=True)
class Part:
    """One load of a proof, with the faults beside it and the broken promises."""

    name: str
    database: str
    seed: int
    seconds: float = 0.0
    operations: Counter[str] = field(default_factory=Counter)  # by verb
    tries: int = 0
    faults: Counter[str] = field(default_factory=Counter)  # of the proxy, by kind
    strikes: list[Strike] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    scenario: str = ""  # of which it is a part

    @property
    def has_failed(self) -> bool:
        """Whether the part could not go on to its end."""
        return {violation.name for violation in self.violations} == {FAILED}

    @property
    def cuts(self) -> int:
        return sum(count for kind, count in self.faults.items() if kind in (*CUTS, CUT_STREAM))


@contextlib.contextmanager
def staged(
    database: str, folder: Path, *changes: edits.Edit, only_web: bool = False, preloads: bool = False
) -> Iterator[Stage]:
    """Serve a hub on an empty database for the block, with a PostgreSQL server of its own if it needs one.

    With ``preloads``, hub and server run with `faults.shim`, where the machine can build it.
    """
    environment = edits.environment(*changes) if changes else {}
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # before the shim is built in it
    with contextlib.ExitStack() as stack:
        server = None
        if database == "postgresql":
            room = stack.enter_context(servers.room())
            server = room.server(shim.environment(room.folder / "shim") if preloads else None)
        stage = Stage(
            database=database,
            folder=folder,
            history=History(0),
            database_url=server.url if server else "",
            postgresql=server,
            services="web" if only_web else "all",
            environment=environment | (shim.environment(folder / "shim") if preloads else {}),
        )
        yield stack.enter_context(opened(stage))


def loaded(
    stage: Stage, seed: int, name: str, *, sends: int, rates: Mapping[str, float] = HANG_UPS, mix: Mix | None = None
) -> Part:
    """Load the stage with that many sends, with plans and compaction in the races; check it."""
    began = time.monotonic()
    with loading(stage, seed, sends=sends, rates=rates, mix=mix) as load, planning(stage):
        load.wait_until_sent()
    return part_of(stage, name, began)


def struck(stage: Stage, seed: int, name: str, faults: Sequence[Fault]) -> Part:
    """Strike the stage with one fault after the other beside a load; check it."""
    began, strikes, rng = time.monotonic(), [], random.Random(seed)
    broken: list[Violation] = []
    with loading(stage, seed, rates=FEW, mix=Mix(compacts=False)) as load:
        for fault in faults:
            try:
                strike = measured(load, fault.name, partial(fault.strike, stage, rng))
            except Exception as problem:  # noqa: BLE001 the other faults should not be lost with it
                broken.append(
                    Violation("fault_promise_broken", fault.name, f"{type(problem).__name__}: {problem}"[:500])
                )
                stage.restart_hub()
            else:
                strikes.append(replace(strike, counted=fault.counted))
    part = part_of(stage, name, began)
    part.strikes = strikes
    part.violations += broken
    return part


def measured(load: Load, name: str, strike: Callable[[], object]) -> Strike:
    """Strike beside the load, wait until the next write is acknowledged, and return the strike with its times."""
    history = load.history
    began = history.now()
    strike()
    over = history.now()
    while (back := history.first_write_after(over)) is None:
        if load.world.failures:
            raise load.world.failures[0]
        assert history.now() - over < RECOVERED_WITHIN, f"the hub did not recover from {name}"
        time.sleep(0.02)
    found = Strike(name=name, recovery=back - over, silence=history.longest_silence(began, back))
    history.note("strike", began=began, over=over, **asdict(found))
    return found


def memory(stage: Stage) -> dict[str, int]:
    """Return the resident memory of each process of the hub by its role, in MB."""
    return {role: process.memory_info().rss // 2**20 for role, process in stage.hub.roles().items()}


def part_of(stage: Stage, name: str, began: float) -> Part:
    history = stage.history
    part = Part(name=name, database=stage.database, seed=history.seed, seconds=time.monotonic() - began)
    for operation in history.operations:
        part.operations[operation.verb] += 1
        part.tries += len(operation.tries)
    for note in history.noted("proxy"):
        for kind, _, count in note["counts"]:
            part.faults[kind] += count
    part.violations = checker.check(stage, history)
    return part


def failed(name: str, database: str, seed: int, problem: Exception) -> Part:
    """Return a part that could not go on to its end, which is a broken promise. The problem is put on one line."""
    line = " ".join(f"{type(problem).__name__}: {problem}".split()).replace("`", "'")  # for a list of the page
    broken = Violation(FAILED, name, line[:500])
    return Part(name=name, database=database, seed=seed, violations=[broken])


def faults_for(database: str, *, short: bool) -> list[Fault]:
    """Return the faults that this machine can strike, as often as a form strikes them."""
    able = [fault for fault in FAULTS if database in fault.databases and fault.missing() is None]
    if short:
        return [fault for fault in able if fault.is_short]
    return [fault for fault in able for _ in range(fault.times)]


def in_random_order(faults: Sequence[Fault], seed: int) -> list[Fault]:
    """Return the faults in the order of ``seed``."""
    return random.Random(seed).sample(list(faults), len(faults))


def missing() -> dict[str, str]:
    """Return the faults that this machine cannot strike, each with the reason."""
    reasons = {fault.name: fault.missing() for fault in FAULTS}
    return {name: reason for name, reason in reasons.items() if reason is not None}

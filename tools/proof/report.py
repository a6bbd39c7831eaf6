"""The page of a proof: its commit, seeds, counts and recovery times, as Markdown."""

from __future__ import annotations

import platform
import sqlite3
import statistics
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import psutil

from tests.support.hub import ROOT
from tools.proof.controls import Control
from tools.proof.forms import Part, Strike
from tools.proof.official import CUT as CUT_STREAM
from tools.proof.proxy import KINDS

# The promises that the first table counts, with the violations that break each.
PROMISES: Mapping[str, frozenset[str]] = {
    "tasks or results lost": frozenset(
        {
            *("acknowledged_task_lost", "task_not_journalled", "acknowledged_result_lost", "result_missing"),
            *("result_not_delivered", "acknowledged_but_not_done", "compacted_too_early", "callback_lost"),
            *("item_without_outcome", "stream_event_lost", "webhook_event_lost", "handler_result_lost", "package_lost"),
        }
    ),
    "leased or delivered without the agent's knowledge": frozenset(
        {"leased_to_nobody", "delivered_to_nobody", "left_out_of_an_answer", "attempt_took_twice"}
    ),
    "done or delivered twice": frozenset(
        {
            *("request_decided_twice", "lease_answered_twice", "result_received_twice", "two_live_leases"),
            *("two_leaders", "unexpected_task", "stream_event_twice", "submitted_twice", "ended_twice"),
            *("handler_result_doubled", "package_doubled", "unsafe_task_redone"),
        }
    ),
    "answers 500": frozenset({"server_error"}),
}
# The figures that the long form must reach, over all databases.
GOALS: Mapping[str, int] = {
    "operations": 500_000,
    "requests cut": 40_000,
    "kills of processes": 1_000,
    "faults of PostgreSQL": 100,
}
INTRODUCTION = """\
# Reliability

`make prove` wrote this page. It runs a hub under load on both databases, and a proxy cuts the requests of its clients.
Faults strike the hub, its processes and its database meanwhile. A checker then compares the answers that the clients
got with the tables and with the journal. Each number below comes from that run.

[Mutations](../contribute/mutations.md) lists bugs made by hand, each with the test that catches it.
[Fuzzing](../contribute/fuzzing.md) reports runs with random requests and inputs.
[PostgreSQL for a team](postgresql.md) and [Back up and restore](backup-restore.md) say how to run a hub so that these
promises hold.
"""
OF_RECOVERY = """\
## Recovery

A recovery runs from the end of the cause to the next acknowledged write. A killed process is whole again by the end.
The silence is the longest time between two acknowledged writes, from the strike to the recovery. It includes the time
that the fault itself lasts. Times are in seconds, and the load goes on meanwhile.
"""
OF_PARTS = """\
## What each part covers
"""
OF_MEMORY = """\
## Memory

Resident memory of the hub that serves all loads of cuts, in MB. The first load fills the caches of each process.
"""
OF_CONTROLS = """\
## Control runs

A proof that cannot fail proves nothing. In each control run a client breaks its contract, or the hub has a bug that was
put in on purpose. The checker must name the broken promise.
"""
KILLS = "killed: "


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a hub that served for so many seconds: in MB by role, at its start and after each of its loads."""

    seconds: float
    measured: Sequence[Mapping[str, int]]


@dataclass(slots=True)
class Proof:
    """All parts of a run.

    ``goals`` are the counts that it must reach. ``covers`` says what each kind of part does. ``missing`` are the faults
    that this machine cannot strike. ``left_out`` are the faults for which no time was left. ``repeated`` counts the
    problems of parts that could not go on to their end, and were repeated.
    """

    commit: str = ""
    seed: int = 0
    day: str = ""
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)  # by database
    goals: Mapping[str, int] = field(default_factory=dict)
    covers: Mapping[str, str] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)
    controls: list[tuple[Control, Part]] = field(default_factory=list)
    missing: Mapping[str, str] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    repeated: Counter[str] = field(default_factory=Counter)

    def forget_failed(self) -> None:
        """Forget the parts and the controls that failed by themselves, so that they are repeated. Count them."""
        failed = [part for part in [*self.parts, *(part for _, part in self.controls)] if part.has_failed]
        self.repeated.update(str(violation) for part in failed for violation in part.violations)
        self.parts = [part for part in self.parts if not part.has_failed]
        self.controls = [(control, part) for control, part in self.controls if not part.has_failed]
        self.left_out.clear()

    def add(self, other: Proof) -> None:
        """Take over the parts of a run on another database."""
        self.parts += other.parts
        self.controls += other.controls
        self.left_out += other.left_out
        self.repeated += other.repeated
        self.seconds = max(self.seconds, other.seconds)
        self.versions |= other.versions
        self.memories |= other.memories

    @property
    def violations(self) -> list[str]:
        return [violation.name for part in self.parts for violation in part.violations]

    @property
    def strikes(self) -> list[Strike]:
        return [strike for part in self.parts for strike in part.strikes]

    @property
    def missed(self) -> list[str]:
        """The goals that are not reached."""
        return [name for name, goal in self.goals.items() if counted(name, self.parts) < goal]

    @property
    def silent(self) -> list[str]:
        """The controls that did not report their violations."""
        return [one.name for one, part in self.controls if not one.names <= {found.name for found in part.violations}]

    @property
    def holds(self) -> bool:
        """Whether no promise is broken, each control reports its violations, and each goal is reached."""
        return not (self.violations or self.silent or self.missed)


def begun(commit: str, seed: int) -> Proof:
    """Return the proof of the commit on this machine, without parts."""
    versions = {
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "system": f"{_system()}, {platform.machine()}",
        "machine": f"{psutil.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GB of memory",
    }
    return Proof(commit=commit, seed=seed, day=f"{datetime.now(UTC):%Y-%m-%d}", versions=versions)


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return platform.system()


def commit() -> str:
    """Return the short name of the commit, with a plus if the tree differs from it."""
    name = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)  # noqa: S607
    dirty = subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=ROOT, capture_output=True, text=True)  # noqa: S607
    return f"{name.stdout.strip() or 'unknown'}{'+' if dirty.stdout.strip() else ''}"


def line(part: Part) -> str:
    """Return one line about a part."""
    strikes = f", {sum(strike.counted for strike in part.strikes)} faults" if part.strikes else ""
    counts = f"{part.operations.total()} operations, {part.tries} tries, {part.cuts} cuts{strikes}"
    return f"{part.database} seed {part.seed}: {part.name}: {counts}, {len(part.violations)} violations"


def verdict(proof: Proof) -> str:
    broken = Counter(proof.violations)
    words = [f"Broken promises: {dict(broken)}."] if broken else []
    words += [f"A control run did not report its violation: {name}." for name in proof.silent]
    words += [f"A goal is missed: {name} {counted(name, proof.parts)} of {proof.goals[name]}." for name in proof.missed]
    return " ".join(words) or "No promise is broken."


def page(proof: Proof) -> str:
    """Return the whole page."""
    parts = (_head, _counts, _covered, _cuts, _recoveries, _memory, _controls, _rest)
    return "\n".join(line for part in parts for line in part(proof))


def _head(proof: Proof) -> Iterator[str]:
    yield INTRODUCTION
    yield f"Commit `{proof.commit}`, {proof.day}, {proof.seconds / 60:.0f} minutes, seed {proof.seed}."
    yield f"`make prove SEED={proof.seed}` makes the same choices again."
    yield "The order in which threads act differs from run to run."
    yield ""
    for problem, times in sorted(proof.repeated.items()):
        yield f"- A part could not go on to its end, and was repeated ({times}): `{problem}`"
    yield ""
    yield _row("with", "")
    yield _row("---", "---")
    for name, version in sorted(proof.versions.items()):
        yield _row(name, version)
    yield ""
    missed = ", ".join(proof.missed)
    yield f"**Goals that this run missed: {missed}.**" if missed else "This run reached each goal of the table below."
    yield ""


def _counts(proof: Proof) -> Iterator[str]:
    databases = list(dict.fromkeys(part.database for part in proof.parts))
    yield "## Counts"
    yield ""
    yield _row("", *databases, "both", "goal")
    yield _row("---", *["---:"] * (len(databases) + 2))
    groups = [[part for part in proof.parts if part.database == name] for name in databases] + [proof.parts]
    for name in COUNTS:
        yield _row(name, *(counted(name, group) for group in groups), proof.goals.get(name, ""))
    named = frozenset().union(*PROMISES.values())
    for promise, names in PROMISES.items():
        yield _row(f"**{promise}**", *(_broken(group, names.__contains__) for group in groups), 0)
    yield _row("**other broken promises**", *(_broken(group, lambda name: name not in named) for group in groups), 0)
    yield ""


def counted(name: str, parts: Sequence[Part]) -> int:
    """Return one count of `COUNTS` over these parts."""
    return sum(map(COUNTS[name], parts))


def _is_kill(name: str) -> bool:
    return name.startswith(KILLS)


def _is_kill_of_worker(name: str) -> bool:
    return _is_kill(name) and "web worker" in name


def _is_of_postgresql(name: str) -> bool:
    return "PostgreSQL" in name


def _is_other(name: str) -> bool:
    return not _is_kill(name) and not _is_of_postgresql(name)


def _broken(parts: Sequence[Part], chosen: Callable[[str], bool]) -> int:
    return sum(chosen(violation.name) for part in parts for violation in part.violations)


def _struck(chosen: Callable[[str], bool]) -> Callable[[Part], int]:
    return lambda part: sum(strike.counted for strike in part.strikes if chosen(strike.name))


COUNTS: Mapping[str, Callable[[Part], int]] = {
    "loads": lambda _: 1,
    "operations": lambda part: part.operations.total(),
    "tries": lambda part: part.tries,
    "tasks sent": lambda part: part.operations["send"],
    "requests cut": lambda part: part.cuts,
    "requests delivered twice": lambda part: part.faults["duplicated"],
    "kills of processes": _struck(_is_kill),
    "kills of web workers among them": _struck(_is_kill_of_worker),
    "faults of PostgreSQL": _struck(_is_of_postgresql),
    "other faults": _struck(_is_other),
}


def _covered(proof: Proof) -> Iterator[str]:
    yield OF_PARTS
    yield _row("part", "what it does, and what must hold", "databases", "operations", "faults", "broken promises")
    yield _row("---", "---", "---", "---:", "---:", "---:")
    for name, text in proof.covers.items():
        parts = [part for part in proof.parts if name in (part.name, part.scenario)]
        databases = ", ".join(dict.fromkeys(part.database for part in parts)) or "not run"
        operations, faults = counted("operations", parts), sum(map(_struck(lambda _: True), parts))
        yield _row(name, text, databases, operations, faults, _broken(parts, lambda _: True))
    yield ""


def _memory(proof: Proof) -> Iterator[str]:
    yield OF_MEMORY
    yield _row("database", "process", "at its start", "after the first load", "at the end", "minutes between")
    yield _row("---", "---", "---:", "---:", "---:", "---:")
    for database, memory in proof.memories.items():
        for role in memory.measured[0]:
            sizes = [measured.get(role, "") for measured in (*memory.measured[:2], memory.measured[-1])]
            yield _row(database, role, *sizes, f"{memory.seconds / 60:.0f}")
    yield ""


def _cuts(proof: Proof) -> Iterator[str]:
    yield "## Faults of requests"
    yield ""
    yield "The proxy stands in front of every route. It chooses the fault of a request by the seed."
    yield ""
    yield _row("kind", "effect", "requests")
    yield _row("---", "---", "---:")
    for kind, effect in {**KINDS, CUT_STREAM: "a stream of events, cut by its client after some events"}.items():
        yield _row(kind, effect, sum(part.faults[kind] for part in proof.parts))
    yield ""


def _recoveries(proof: Proof) -> Iterator[str]:
    found: dict[str, list[Strike]] = defaultdict(list)
    for strike in proof.strikes:
        found[strike.name].append(strike)
    yield OF_RECOVERY
    yield _row("fault", "strikes", "recovery, median", "recovery, longest", "silence, longest")
    yield _row("---", "---:", "---:", "---:", "---:")
    for name, strikes in sorted(found.items()):
        times = [strike.recovery for strike in strikes]
        silence = max((strike.silence for strike in strikes if strike.silence is not None), default=None)
        longest = "" if silence is None else f"{silence:.2f}"
        yield _row(name, len(strikes), f"{statistics.median(times):.2f}", f"{max(times):.2f}", longest)
    yield ""


def _controls(proof: Proof) -> Iterator[str]:
    yield OF_CONTROLS
    yield _row("control", "database", "violations")
    yield _row("---", "---", "---")
    for control, part in proof.controls:
        counts = Counter(violation.name for violation in part.violations)
        yield _row(control.name, part.database, "; ".join(f"{name} {count}" for name, count in counts.most_common()))
    yield ""


def _rest(proof: Proof) -> Iterator[str]:
    yield "## Not run here"
    yield ""
    reasons = [*(f"- {name}: {reason}" for name, reason in sorted(proof.missing.items()))]
    reasons += [f"- {name}: no time was left for {count} strikes" for name, count in sorted(proof.left_out.items())]
    yield from reasons or ["Every fault was struck."]
    yield ""
    yield "The loss of power, of packets and of a whole host are not part of the proof."
    yield ""


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"

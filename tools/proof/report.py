"""The page of a proof: its commit, seeds, counts and recovery times, as Markdown."""

from __future__ import annotations

import statistics
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.support.hub import ROOT
from tools.proof.controls import Control
from tools.proof.forms import Part, Strike
from tools.proof.proxy import KINDS

# The promises that the first table counts, with the violations that break each.
PROMISES: Mapping[str, frozenset[str]] = {
    "tasks or results lost": frozenset(
        {
            *("acknowledged_task_lost", "task_not_journalled", "acknowledged_result_lost", "result_missing"),
            *("result_not_delivered", "acknowledged_but_not_done", "compacted_too_early", "callback_lost"),
            "item_without_outcome",
        }
    ),
    "leased or delivered without the agent's knowledge": frozenset(
        {"leased_to_nobody", "delivered_to_nobody", "left_out_of_an_answer", "attempt_took_twice"}
    ),
    "done or delivered twice": frozenset(
        {
            *("request_decided_twice", "lease_answered_twice", "result_received_twice", "two_live_leases"),
            *("two_leaders", "unexpected_task"),
        }
    ),
    "answers 500": frozenset({"server_error"}),
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
OF_CONTROLS = """\
## Control runs

A proof that cannot fail proves nothing. In each control run a client breaks its contract, or the hub has a bug that was
put in on purpose. The checker must name the broken promise.
"""
KILLS = "killed: "


@dataclass(slots=True)
class Proof:
    """All parts of a run.

    ``missing`` are the faults that this machine cannot strike. ``left_out`` are the faults for which no time was left.
    """

    commit: str = ""
    seed: int = 0
    parts: list[Part] = field(default_factory=list)
    controls: list[tuple[Control, Part]] = field(default_factory=list)
    missing: Mapping[str, str] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, other: Proof) -> None:
        """Take over the parts of a run on another database."""
        self.parts += other.parts
        self.controls += other.controls
        self.left_out += other.left_out

    @property
    def violations(self) -> list[str]:
        return [violation.name for part in self.parts for violation in part.violations]

    @property
    def strikes(self) -> list[Strike]:
        return [strike for part in self.parts for strike in part.strikes]

    @property
    def holds(self) -> bool:
        """Whether no promise is broken, and each control reports its violations."""
        reported = all(control.names <= {one.name for one in part.violations} for control, part in self.controls)
        return not self.violations and reported


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
    if proof.holds:
        return "No promise is broken."
    return f"Broken promises: {dict(broken)}" if broken else "A control run did not report its violation."


def page(proof: Proof) -> str:
    """Return the whole page."""
    parts = (_head, _counts, _cuts, _recoveries, _controls, _rest)
    return "\n".join(line for part in parts for line in part(proof))


def _head(proof: Proof) -> Iterator[str]:
    yield INTRODUCTION
    yield f"Commit `{proof.commit}`, seed {proof.seed}. `make prove SEED={proof.seed}` makes the same choices again."
    yield "The order in which threads act differs from run to run."
    yield ""


def _counts(proof: Proof) -> Iterator[str]:
    databases = list(dict.fromkeys(part.database for part in proof.parts))
    yield "## Counts"
    yield ""
    yield _row("", *databases, "both")
    yield _row("---", *["---:"] * (len(databases) + 1))
    groups = [[part for part in proof.parts if part.database == name] for name in databases] + [proof.parts]
    yield _row("loads", *(len(group) for group in groups))
    yield _row("operations", *(sum(part.operations.total() for part in group) for group in groups))
    yield _row("tries", *(sum(part.tries for part in group) for group in groups))
    yield _row("tasks sent", *(sum(part.operations["send"] for part in group) for group in groups))
    yield _row("requests cut", *(sum(part.cuts for part in group) for group in groups))
    yield _row("requests delivered twice", *(sum(part.faults["duplicated"] for part in group) for group in groups))
    yield _row("kills of processes", *(_struck(group, _is_kill) for group in groups))
    yield _row("kills of web workers among them", *(_struck(group, _is_kill_of_worker) for group in groups))
    yield _row("faults of PostgreSQL", *(_struck(group, _is_of_postgresql) for group in groups))
    yield _row("other faults", *(_struck(group, _is_other) for group in groups))
    counted = frozenset().union(*PROMISES.values())
    for promise, names in PROMISES.items():
        yield _row(f"**{promise}**", *(_broken(group, names.__contains__) for group in groups))
    yield _row("**other broken promises**", *(_broken(group, lambda name: name not in counted) for group in groups))
    yield ""


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


def _struck(parts: Sequence[Part], chosen: Callable[[str], bool]) -> int:
    return sum(strike.counted for part in parts for strike in part.strikes if chosen(strike.name))


def _cuts(proof: Proof) -> Iterator[str]:
    yield "## Faults of requests"
    yield ""
    yield "The proxy stands in front of every route. It chooses the fault of a request by the seed."
    yield ""
    yield _row("kind", "effect", "requests")
    yield _row("---", "---", "---:")
    for kind, effect in KINDS.items():
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
        yield _row(control.name, part.database, ", ".join(f"{name} {count}" for name, count in counts.most_common()))
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

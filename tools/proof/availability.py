"""Prove that takeovers of PostgreSQL lose nothing: python -m tools.proof.availability [--seed N] [--takeovers N]

It runs the hosts of `cluster`, two hubs on them, and a load through both. The leader of PostgreSQL is killed, paused,
cut off and switched over in turn. The run writes docs/operate/takeovers.md. The exit code is 1 if a promise is broken.
"""

import argparse
import contextlib
import platform
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.support.hub import ROOT
from tools.proof import cluster, report
from tools.proof.cluster import Cluster, Host
from tools.proof.evidence import Violation
from tools.proof.forms import FEW, Part, Strike, measured, part_of
from tools.proof.history import History
from tools.proof.load import loading
from tools.proof.mix import Mix
from tools.proof.stage import Stage, opened

PAGE = ROOT / "docs" / "operate" / "takeovers.md"
TAKEOVERS = 20
IN_A_LOAD = 5
BETWEEN = 5.0  # seconds of load before each fault
PRINTING = (
    ("/usr/lib/postgresql/15/bin/postgres", "--version"),
    ("patroni", "--version"),
    ("etcd", "--version"),
    ("haproxy", "-v"),
)
UNDER_WAY = 0.5  # seconds in which answers of the old leader may still arrive
INTRODUCTION = """\
# Takeovers of PostgreSQL

`make prove-ha` wrote this page. It runs the configuration of
[PostgreSQL for a team](postgresql.md#a-cluster-that-takes-over-by-itself) on hosts in network namespaces. Two run
PostgreSQL with Patroni, three run etcd, and one runs HAProxy and two hubs. One hub reaches the leader by HAProxy, and
the other by a URL with both hosts. Clients send and work through both hubs, and some of their requests are cut. After
each fault the run waits until the cluster is whole again. A checker compares the answers that clients got with the
tables and the journal.
"""
OF_FAULTS = """\
## Faults

The recovery runs from the fault to the next acknowledged write. The silence is the longest time between two
acknowledged writes. Times are in seconds. Meanwhile the hubs answer 503 with `Retry-After`, and reads may go on.

- Killed: every process of the host ends, as at a loss of power.
- Paused: every process stops, and the network with it, as a virtual machine does. It goes on after the takeover.
- Cut off: the host loses its network, and gets it back after the takeover.
- Switched over: an operator makes the standby the leader.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of the hosts. ``strike`` gets the leader and the standby; ``repair`` undoes it."""

    name: str
    strike: Callable[[Cluster, Host, Host], object]
    repair: Callable[[Host, Host], object] = lambda leader, standby: None
    takes_over: bool = True

    def __call__(self, hosts: Cluster, leader: Host, standby: Host) -> None:
        self.strike(hosts, leader, standby)
        time.sleep(UNDER_WAY)


def _pause(_: Cluster, leader: Host, __: Host) -> None:
    leader.freeze()
    leader.cut_off()


def _resume(leader: Host, _: Host) -> None:
    leader.join()
    leader.thaw()


OF_LEADERS = (
    Fault(
        name="leader killed",
        strike=lambda hosts, leader, standby: leader.kill(),
        repair=lambda leader, standby: leader.start(),
    ),
    Fault(name="leader paused", strike=_pause, repair=_resume),
    Fault(
        name="leader cut off",
        strike=lambda hosts, leader, standby: leader.cut_off(),
        repair=lambda leader, standby: leader.join(),
    ),
    Fault(name="switched over", strike=Cluster.switch_over),
)
OF_STANDBYS = (
    Fault(
        name="standby killed",
        strike=lambda hosts, leader, standby: standby.kill(),
        repair=lambda leader, standby: standby.start(),
        takes_over=False,
    ),
    Fault(
        name="standby cut off",
        strike=lambda hosts, leader, standby: standby.cut_off(),
        repair=lambda leader, standby: standby.join(),
        takes_over=False,
    ),
)


@dataclass(slots=True, kw_only=True)
class Run:
    """The parts of a run, and how many of its faults led to a takeover. ``versions`` names the programs."""

    commit: str
    versions: Sequence[str]
    parts: list[Part] = field(default_factory=list)
    takeovers: int = 0

    @property
    def violations(self) -> list[Violation]:
        return [violation for part in self.parts for violation in part.violations]

    def holds(self, takeovers: int) -> bool:
        """Whether so many faults led to a takeover, and no promise is broken."""
        return self.takeovers >= takeovers and not self.violations

    @property
    def strikes(self) -> list[Strike]:
        return [strike for part in self.parts for strike in part.strikes]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.proof.availability", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="seed of all choices (default: %(default)s)")
    parser.add_argument("--takeovers", type=int, default=TAKEOVERS, help="number of takeovers (default: %(default)s)")
    parser.add_argument("--page", type=Path, default=PAGE, help="page of the run")
    options = parser.parse_args(arguments)
    if reason := cluster.missing():
        sys.stderr.write(f"The cluster cannot run here: {reason}.\n")
        return 2
    cluster.alone("tools.proof.availability", arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    run = Run(commit=report.commit(), versions=[*_versions()])
    faults = faults_of_leaders(options.takeovers)
    loads = [faults[begin : begin + IN_A_LOAD] for begin in range(0, len(faults), IN_A_LOAD)]
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="a2a-proof-"))
        hosts = stack.enter_context(cluster.opened())
        stage = stack.enter_context(_served(Path(folder)))
        for number, struck in enumerate([*loads, list(OF_STANDBYS)]):
            part = _struck(run, hosts, stage, options.seed + number, struck)
            run.parts.append(part)
            for line in (report.line(part), *(f"    {violation}" for violation in part.violations)):
                sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
    options.page.write_text(page(run))
    return 0 if run.holds(options.takeovers) else 1


def faults_of_leaders(number: int) -> list[Fault]:
    """Return so many faults of leaders, each kind in turn."""
    return [OF_LEADERS[each % len(OF_LEADERS)] for each in range(number)]


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[Stage]:
    """Serve the two hubs. Yield a stage whose port leads to both."""
    secret = {"SECRET_KEY": secrets.token_urlsafe(50)}
    first = _stage(folder / "hub1", cluster.BY_HAPROXY, cluster.HUB_PORTS[0], secret)
    with opened(first):
        secret["A2A_SEAL_KEY"] = (first.folder / "seal_key").read_text().strip()
        with opened(_stage(folder / "hub2", cluster.BY_HOSTS, cluster.HUB_PORTS[1], secret)):
            cluster.wait_for_balance()
            balanced = _stage(folder / "load", cluster.BY_HAPROXY, cluster.BALANCED, secret)
            balanced.folder.mkdir(mode=0o700)
            balanced.first_output = first.first_output
            yield balanced


def _stage(folder: Path, database_url: str, port: int, environment: Mapping[str, str]) -> Stage:
    return Stage(
        database="postgresql",
        folder=folder,
        history=History(0),
        database_url=database_url,
        port=port,
        workers=1,
        environment=dict(environment),
    )


def _struck(run: Run, hosts: Cluster, stage: Stage, seed: int, faults: Sequence[Fault]) -> Part:
    """Strike the hosts with one fault after the other beside a load; check it."""
    began, strikes, broken = time.monotonic(), [], list[Violation]()
    with loading(stage, seed, rates=FEW, mix=Mix(compacts=False)) as load:
        for fault in faults:
            leader, standby = hosts.wait_until_whole()
            time.sleep(BETWEEN)
            try:
                strikes.append(measured(load, fault.name, lambda: fault(hosts, leader, standby)))  # noqa: B023
                if fault.takes_over:
                    hosts.wait_for_leader_other_than(leader)
                    run.takeovers += 1
            except AssertionError as problem:
                broken.append(Violation("fault_promise_broken", fault.name, str(problem)[:500]))
            fault.repair(leader, standby)
        hosts.wait_until_whole()
    part = part_of(stage, "faults of hosts", began)
    part.strikes, part.violations = strikes, part.violations + broken
    return part


def page(run: Run) -> str:
    """Return the whole page."""
    return "\n".join([*_head(run), *_counts(run), *_faults(run)])


def _head(run: Run) -> Iterator[str]:
    yield INTRODUCTION
    yield f"Commit `{run.commit}`, {datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.release()}."
    yield from (f"{version}." for version in run.versions)
    yield ""


def _versions() -> Iterator[str]:
    for program, option in PRINTING:
        printed = subprocess.run([program, option], capture_output=True, text=True, check=True).stdout
        yield printed.splitlines()[0].strip()


def _counts(run: Run) -> Iterator[str]:
    yield "## Counts"
    yield ""
    yield "| | |"
    yield "| --- | ---: |"
    yield f"| takeovers | {run.takeovers} |"
    yield f"| operations | {sum(part.operations.total() for part in run.parts)} |"
    yield f"| tries | {sum(part.tries for part in run.parts)} |"
    yield f"| tasks sent | {sum(part.operations['send'] for part in run.parts)} |"
    yield f"| requests cut | {sum(part.cuts for part in run.parts)} |"
    names = [violation.name for violation in run.violations]
    for promise, broken in report.PROMISES.items():
        yield f"| **{promise}** | {sum(name in broken for name in names)} |"
    counted = frozenset().union(*report.PROMISES.values())
    yield f"| **other broken promises** | {sum(name not in counted for name in names)} |"
    yield ""


def _faults(run: Run) -> Iterator[str]:
    yield OF_FAULTS
    by_name: dict[str, list[Strike]] = defaultdict(list)
    for strike in run.strikes:
        by_name[strike.name].append(strike)
    yield "| fault | times | recovery, median | recovery, longest | silence, median | silence, longest |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for name, strikes in by_name.items():
        recoveries = [strike.recovery for strike in strikes]
        silences = [strike.silence or 0.0 for strike in strikes]
        times = (statistics.median(recoveries), max(recoveries), statistics.median(silences), max(silences))
        yield f"| {name} | {len(strikes)} | {' | '.join(f'{seconds:.1f}' for seconds in times)} |"
    yield ""


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

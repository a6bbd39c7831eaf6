"""Prove that the hub loses nothing: python -m tools.proof [--short] [--seed N] [--seconds N] [--databases sqlite,...]

The long form takes about an hour on two cores, and writes docs/operate/reliability.md. The exit code is 1 if a promise
is broken, or if a control run does not report what it should.
"""

import argparse
import multiprocessing
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.support.hub import ROOT
from tools.proof import controls, edits, forms, report
from tools.proof.evidence import Violation
from tools.proof.faults.fault import DATABASES
from tools.proof.forms import Part
from tools.proof.report import Proof
from tools.proof.scenarios import SCENARIOS
from tools.proof.scenarios.scenario import Scenario
from tools.proof.short import short

CUTS = 3_500  # for each database
SENDS = 450  # in each load
STRIKES = 10  # beside each load
SECONDS = 2_700  # scenarios and controls come after it


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.proof", description=__doc__)
    parser.add_argument("--short", action="store_true", help="run the short form, which writes no page")
    parser.add_argument("--seed", type=int, default=1, help="seed of all choices (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=int, default=SECONDS, help="begin no load after this time (default: %(default)s)"
    )
    parser.add_argument("--databases", default=",".join(DATABASES), help="databases to prove (%(default)s)")
    parser.add_argument("--folder", type=Path, help="folder for histories, which is kept (default: a temporary one)")
    parser.add_argument(
        "--page", type=Path, default=ROOT / "docs" / "operate" / "reliability.md", help="page of the long form"
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # SIGTERM stops hubs and servers too
    databases = options.databases.split(",")
    proof = Proof(commit=report.commit(), seed=options.seed)
    with tempfile.TemporaryDirectory(prefix="a2a-proof-") as temporary:
        folder = options.folder or Path(temporary)
        # A process for each database, so that one works while the other waits for a fault.
        processes = ProcessPoolExecutor(len(databases), mp_context=multiprocessing.get_context("fork"))
        signal.signal(signal.SIGTERM, _end)
        with processes as pool:
            proving = [
                pool.submit(_prove, database, folder, options.seed * 1_000_000 + number * 100_000, options)
                for number, database in enumerate(databases)
            ]
            for one in proving:
                proof.add(one.result())
    if not options.short:
        of_scenarios = {scenario.name: reason for scenario in SCENARIOS if (reason := scenario.missing())}
        proof.missing = forms.missing() | of_scenarios
        options.page.write_text(report.page(proof))
    say(report.verdict(proof))
    return 0 if proof.holds else 1


def _end(*_: object) -> None:
    """Let SIGTERM stop the hubs and servers too: each process leaves its blocks."""
    for child in multiprocessing.active_children():
        child.terminate()
    sys.exit(128 + signal.SIGTERM)


def _prove(database: str, folder: Path, seed: int, options: argparse.Namespace) -> Proof:
    """Run the form that the options name on one database."""
    proof, ends_at = Proof(), time.monotonic() + options.seconds
    form = short(database, folder / database, seed) if options.short else None
    for part in form or _long(proof, database, folder / database, seed, ends_at):
        proof.parts.append(part)
        say(report.line(part))
        for violation in part.violations:
            say(f"    {violation}")
    if not options.short:
        _control(proof, database, folder, seed + 90_000)
    return proof


def _long(proof: Proof, database: str, folder: Path, seed: int, ends_at: float) -> Iterator[Part]:
    """Load one hub again and again: first through many cuts, and then beside each fault."""
    cuts, cut_until = 0, (time.monotonic() + ends_at) / 2
    with forms.staged(database, folder, edits.COMPACT_SOON) as stage:
        while cuts < CUTS and time.monotonic() < cut_until:
            seed += 1
            part = forms.loaded(stage, seed, "cuts and hang-ups, with compaction and plans", sends=SENDS)
            cuts += part.cuts
            yield part
    faults = forms.in_random_order(forms.faults_for(database, short=False), seed)
    with forms.staged(database, folder / "faults", preloads=True) as stage:
        while faults and time.monotonic() < ends_at:
            seed += 1
            yield forms.struck(stage, seed, "faults", faults[:STRIKES])
            del faults[:STRIKES]
    for fault in faults:
        proof.left_out[fault.name] += 1
    for number, scenario in enumerate(SCENARIOS):
        if database in scenario.databases and not scenario.missing():
            yield from _played(scenario, database, folder / f"scenario-{number}", seed + 10 * (number + 1))


def _played(scenario: Scenario, database: str, folder: Path, seed: int) -> Sequence[Part]:
    """Run the scenario. A scenario that cannot go on to its end is a broken promise."""
    try:
        return scenario.run(database, folder, seed)
    except Exception as problem:  # noqa: BLE001 the other scenarios and the page should not be lost with it
        broken = Violation("scenario_failed", scenario.name, f"{type(problem).__name__}: {problem}"[:500])
        return [Part(name=scenario.name, database=database, seed=seed, violations=[broken])]


def _control(proof: Proof, database: str, folder: Path, seed: int) -> None:
    """Run each control; record which of its violations were reported."""
    for number, control in enumerate(controls.CONTROLS):
        if database in control.databases:
            part = controls.run(control, database, folder / f"control-{database}-{number}", seed + number)
            proof.controls.append((control, part))
            found = {violation.name for violation in part.violations}
            say(f"control on {database}: {control.name}: {', '.join(sorted(found))}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""Prove that the hub loses nothing: python -m tools.proof [--short] [--seed N] [--seconds N] [--databases sqlite,...]

The long form takes about two hours on two cores, and writes docs/operate/reliability.md. The exit code is 1 if a
promise is broken, or if a control run does not report what it should. A missed goal of the long form is a broken
promise, too.

The long form keeps each part that has come to its end in --folder. If it was stopped, or missed a goal, it goes on with
these parts the next time, with the same commit and seed. It repeats a part that failed by itself.
"""

import argparse
import multiprocessing
import pickle
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.support.hub import ROOT
from tools.proof import forms, long, report
from tools.proof.faults.fault import DATABASES
from tools.proof.forms import Part
from tools.proof.report import Proof
from tools.proof.scenarios import SCENARIOS
from tools.proof.short import short

SECONDS = 7_500  # no load begins after it
KEPT = ROOT / "var" / "proof"
SCENES_FROM = 50_000  # seeds of scenarios and controls

Form = Callable[[Proof], Iterator[Part] | Sequence[Part]]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.proof", description=__doc__)
    parser.add_argument("--short", action="store_true", help="run the short form, which writes no page")
    parser.add_argument("--seed", type=int, default=1, help="seed of all choices (default: %(default)s)")
    parser.add_argument(
        "--seconds", type=int, default=SECONDS, help="begin no load after this time (default: %(default)s)"
    )
    parser.add_argument("--databases", default=",".join(DATABASES), help="databases to prove (%(default)s)")
    parser.add_argument("--folder", type=Path, default=KEPT, help="where the parts of the long form are kept")
    parser.add_argument(
        "--page", type=Path, default=ROOT / "docs" / "operate" / "reliability.md", help="page of the long form"
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # SIGTERM stops hubs and servers too
    proof = report.begun(report.commit(), options.seed)
    with tempfile.TemporaryDirectory(prefix="a2a-proof-") as temporary:
        works = _works(options, Path(temporary))
        kept = None if options.short else _kept(options.folder, f"{proof.commit} {options.databases} {options.seed}")
        # Each has a process of its own, so that one works while the others wait for a fault.
        processes = ProcessPoolExecutor(len(works), mp_context=multiprocessing.get_context("fork"))
        signal.signal(signal.SIGTERM, _end)
        with processes as pool:
            begun = [pool.submit(_prove, work, kept and kept / name) for name, work in works.items()]
            for one in begun:
                proof.add(one.result())
    if not options.short:
        proof.goals = report.GOALS
        proof.covers = long.COVERS | {scenario.name: scenario.covers for scenario in SCENARIOS}
        of_scenarios = {scenario.name: reason for scenario in SCENARIOS if (reason := scenario.missing())}
        proof.missing = forms.missing() | of_scenarios
        options.page.write_text(report.page(proof))
        if proof.holds:
            shutil.rmtree(options.folder)
    say(report.verdict(proof))
    return 0 if proof.holds else 1


def _end(*_: object) -> None:
    """Let SIGTERM stop the hubs and servers too: each process leaves its blocks."""
    for child in multiprocessing.active_children():
        child.terminate()
    sys.exit(128 + signal.SIGTERM)


def _kept(folder: Path, name: str) -> Path:
    """Return the folder with the parts of the run of this name. Parts of another run are deleted."""
    mark = folder / "run"
    if not mark.exists() or mark.read_text() != name:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        mark.write_text(name)
    return folder


def _works(options: argparse.Namespace, folder: Path) -> Mapping[str, Form]:
    """Return the forms of all databases by name, the longest first. ``folder`` is for their hubs."""
    databases: list[str] = options.databases.split(",")
    seeds = {one: options.seed * 1_000_000 + number * 100_000 for number, one in enumerate(databases)}
    if options.short:
        return {f"short {one}": partial(_short, one, folder / one, seeds[one]) for one in databases}
    ends_at = time.monotonic() + options.seconds
    loads = {
        f"loads {one}": partial(long.loads, database=one, folder=folder / one, seed=seeds[one], ends_at=ends_at)
        for one in databases
    }
    scenes = {
        f"scenes {one}": partial(long.scenes, database=one, folder=folder / one, seed=seeds[one] + SCENES_FROM)
        for one in databases
    }
    return {**loads, **scenes}


def _short(database: str, folder: Path, seed: int, _: Proof) -> Sequence[Part]:
    return short(database, folder, seed)


def _prove(work: Form, kept: Path | None = None) -> Proof:
    """Do one work, and say what each part of it found, and each control before it. Keep the proof in the file ``kept``.

    Go on with the proof that the file has. Of a control that did not report its violations, say all that it reported.
    """
    proof: Proof = pickle.loads(kept.read_bytes()) if kept and kept.exists() else Proof()  # noqa: S301 its own file
    proof.forget_failed()
    before, began, shown = proof.seconds, time.monotonic(), len(proof.controls)
    for part in work(proof):
        for control, controlled in proof.controls[shown:]:
            names = {violation.name for violation in controlled.violations}
            say(f"control on {controlled.database}: {control.name}: {', '.join(sorted(names))}")
            if not control.names <= names:
                _say_violations(controlled)
        shown = len(proof.controls)
        proof.parts.append(part)
        say(report.line(part))
        _say_violations(part)
        proof.seconds = before + time.monotonic() - began
        _keep(proof, kept)
    _keep(proof, kept)  # with what the work found after its last part, such as the memory of its hub
    return proof


def _keep(proof: Proof, kept: Path | None) -> None:
    if kept is not None:
        kept.with_suffix(".new").write_bytes(pickle.dumps(proof))
        kept.with_suffix(".new").replace(kept)


def _say_violations(part: Part) -> None:
    for violation in part.violations:
        say(f"    {violation}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

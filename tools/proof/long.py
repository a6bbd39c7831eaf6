"""The long form of the proof: loads, faults and scenarios until the goals are met, and control runs."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.proof import controls, edits, forms
from tools.proof.forms import Part
from tools.proof.report import GOALS, Memory, Proof, counted
from tools.proof.scenarios import SCENARIOS
from tools.proof.scenarios.scenario import Scenario
from tools.proof.servers import Server

SENDS = 1_500  # in each load
STRIKES = 12  # beside each load
SHARED = ("operations", "requests cut")  # goals to which the loads of every database add
CUTS, FAULTS = "cuts and hang-ups", "faults"
COVERS = {
    CUTS: "Tasks in every dialect, alone and in batches, through cuts and hang-ups. The official protocol sends under "
    "keys, waits, cancels, follows streams with `Last-Event-ID` and gets webhooks. Compaction, erasure, plans and the "
    "retry gate run meanwhile. One hub serves all these loads.",
    FAULTS: "The same with fewer cuts and without compaction, plans and erasure, beside each fault of the table below.",
}


def loads(proof: Proof, database: str, folder: Path, seed: int, ends_at: float) -> Iterator[Part]:
    """Load one hub through cuts and strike another one with each fault, in turn, until all databases reach the goals.

    The faults and the seeds of the parts that ``proof`` has are not taken again. ``folder`` lies beside those of the
    other databases. Nothing begins after ``ends_at``, in seconds of the monotonic clock.
    """
    try:
        yield from _loads(proof, database, folder, seed, ends_at)
    except Exception as problem:  # noqa: BLE001 any failure; the scenarios and the page should not be lost with it
        yield forms.failed("loads", database, seed, problem)


def _loads(proof: Proof, database: str, folder: Path, seed: int, ends_at: float) -> Iterator[Part]:
    faults, counts = forms.in_random_order(forms.faults_for(database, short=False), seed), folder.parent / "counts"
    folder.mkdir(parents=True, exist_ok=True)
    struck_already = Counter(strike.name for strike in proof.strikes)
    for fault in [*faults]:
        if struck_already[fault.name]:
            struck_already[fault.name] -= 1
            faults.remove(fault)
    seed += 2 * sum(part.name == CUTS for part in proof.parts)
    for part in proof.parts:
        _kept(counts, part)
    with (
        forms.staged(database, folder / "cuts", edits.COMPACT_SOON) as whole,
        forms.staged(database, folder / "faults", preloads=True) as struck,
    ):
        if isinstance(whole.postgresql, Server):
            proof.versions["PostgreSQL"] = whole.postgresql.version()
        began, memories = time.monotonic(), [forms.memory(whole)]
        while time.monotonic() < ends_at and (faults or not _are_reached(counts)):
            seed += 2
            yield _kept(counts, forms.loaded(whole, seed, CUTS, sends=SENDS))
            memories.append(forms.memory(whole))
            if faults and time.monotonic() < ends_at:
                yield _kept(counts, forms.struck(struck, seed + 1, FAULTS, faults[:STRIKES]))
                del faults[:STRIKES]
        memory = Memory(time.monotonic() - began, memories)
        proof.memories[database] = max(memory, proof.memories.get(database, memory), key=lambda one: one.seconds)
    for fault in faults:
        proof.left_out[fault.name] += 1


def _kept(counts: Path, part: Part) -> Part:
    """Return the part, and keep its counts for the processes of the other databases."""
    with counts.open("a") as file:
        file.write(" ".join(str(counted(name, [part])) for name in SHARED) + "\n")
    return part


def _are_reached(counts: Path) -> bool:
    """Whether the loads of all databases together reach the goals that they share."""
    kept = [[int(count) for count in line.split()] for line in counts.read_text().splitlines()]
    return all(sum(each) >= GOALS[name] for name, each in zip(SHARED, zip(*kept, strict=True), strict=True))


def scenes(proof: Proof, database: str, folder: Path, seed: int) -> Iterator[Part]:
    """Run each control, and then each scenario, unless ``proof`` has it.

    A control that cannot go on to its end reports nothing.
    """
    has = {control.name for control, _ in proof.controls} | {part.scenario for part in proof.parts}
    for number, control in enumerate(controls.CONTROLS):
        if database in control.databases and control.name not in has:
            own_seed = seed + 5_000 + number
            try:
                part = controls.run(control, database, folder / f"control-{number}", own_seed)
            except Exception as problem:  # noqa: BLE001 any failure; the other parts should not be lost with it
                part = forms.failed(control.name, database, own_seed, problem)
            proof.controls.append((control, part))
    for number, scenario in enumerate(SCENARIOS):
        if database in scenario.databases and not scenario.missing() and scenario.name not in has:
            yield from played(scenario, database, folder / f"scenario-{number}", seed + 10 * (number + 1))


def played(scenario: Scenario, database: str, folder: Path, seed: int) -> Sequence[Part]:
    """Run the scenario. The other scenarios and the page should not be lost with it."""
    try:
        parts = scenario.run(database, folder, seed)
    except Exception as problem:  # noqa: BLE001 any failure
        parts = [forms.failed(scenario.name, database, seed, problem)]
    for part in parts:
        part.scenario = scenario.name
    return parts

"""Runs parts of the suite: python -m tools.suite PART [DATABASE or BASE].

- `gate`: the tests that each change must pass, on both databases or on DATABASE.
- `check`: the tests that the change since BASE touches, cheapest first, within `CHECK_SECONDS` of CPU.
- `deep`: the deep tests of the parts that the change since BASE touches, each with a second try.
- `all`: every test on both databases, each with a second try. It writes the report and the record of costs.
"""

import sys
import time
from collections.abc import Callable, Sequence

from tests.support import record
from tests.support.record import ROOT
from tools.suite import report, touched
from tools.suite.runs import DATABASES, IN_ORDER, Run, cores, databases, run, say, workers

CHECK_SECONDS = 45.0  # CPU
DEEP_SECONDS = 2000.0  # CPU: half an hour of two cores that wait a third of the time
GATE = ("--gate", "--timeout=120", *IN_ORDER)
OF_GATE = ROOT / "var" / "test"
OF_ALL = ROOT / "var" / "test-all"


def main(arguments: Sequence[str]) -> int:
    part, *rest = arguments or [""]
    parts: dict[str, Callable[..., int]] = {"gate": gate, "check": check, "deep": deep, "all": everything}
    if part not in parts:
        say(__doc__ or "")
        return 2
    return parts[part](*rest)


def gate(*of: str) -> int:
    began = time.monotonic()
    chosen = of or databases()
    for number, database in enumerate(chosen, 1):
        seconds = sum(cost.of_gate for cost in record.costs(database).values())
        minutes = seconds * record.calibrate() / cores() / 60
        say(f"\nThe gate on {database}, run {number} of {len(chosen)}: about {minutes:.0f} minutes")
        done = run(database, [*GATE, *workers()], [], OF_GATE)
        if done.exit_code:
            return done.exit_code
    say(f"\nThe gate took {_minutes_since(began)}.")
    return 0


def check(base: str = "") -> int:
    changed = touched.changed_since(base or touched.upstream())
    own = touched.mirrors(changed)
    chosen, left_out = touched.cheapest(changed, own, CHECK_SECONDS)
    say(f"{len(own)} modules of tests mirror the change. {len(chosen)} more functions run it; {left_out} are left out.")
    if not own and not chosen:
        return 0
    return 0 if run("sqlite", [*GATE, *workers()], [*sorted(own), *chosen], OF_GATE).is_good else 1


def deep(base: str = "") -> int:
    changed = touched.changed_since(base or touched.last_record())
    chosen, left_out = touched.deep(changed, DEEP_SECONDS)
    say(f"The change touches {len(chosen)} functions or modules with deep tests; {left_out} more are left out.")
    if not chosen:
        return 0
    runs = [_with_second_try(database, ["-m", record.DEEP], chosen) for database in databases()]
    return 0 if all(one.is_good for one in runs) else 1


def everything(*of: str) -> int:
    began = time.monotonic()
    commit = touched.head()
    runs = []
    for database in of or databases():
        runs.append(_with_second_try(database, ["--modules"], []))
        (OF_ALL / "report.md").write_text(report.page(runs))
    say(report.page(runs))
    if {one.database for one in runs} == {*DATABASES} and all(one.is_good for one in runs):
        record.write({one.database: report.costs_of(one) for one in runs}, report.modules_of(runs), commit)
    say(f"All tests took {_minutes_since(began)}. The report is in {OF_ALL / 'report.md'}.")
    return 0 if all(one.is_good for one in runs) else 1


def _minutes_since(began: float) -> str:
    return f"{(time.monotonic() - began) / 60:.1f} minutes"


def _with_second_try(database: str, options: Sequence[str], chosen: Sequence[str]) -> Run:
    say(f"\n{'The chosen' if chosen else 'All'} tests on {database}")
    return run(database, [*options, *workers(more=1)], chosen, OF_ALL, tries=2)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

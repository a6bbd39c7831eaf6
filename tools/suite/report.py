"""The report of `make test-all`, and the record of costs that it renews."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.support import record
from tests.support.record import Cost
from tools.suite.runs import Run

DEAREST = 20


def costs_of(run: Run) -> dict[str, Cost]:
    """Return the cost of each function, in seconds of the record's machine.

    A function that this run skipped, because a program is missing, keeps the cost of the last record.
    """
    costs: dict[str, Cost] = {}
    former = record.costs(run.database)
    for name, test in run.tests.items():
        function = record.function_of(name)
        if "cost" in test and test["outcome"] != "skipped":
            _add(costs.setdefault(function, Cost()), test, run.slowness)
    skipped = {record.function_of(name) for name in run.tests} - costs.keys()
    return costs | {function: former[function] for function in skipped & former.keys()}


def _add(cost: Cost, test: Mapping[str, Any], slowness: float) -> None:
    setup, call, children = (test["cost"][part] / slowness for part in ("setup", "call", "children"))
    setup += sum(test["fixtures"].values()) / slowness
    cost.cases += 1
    cost.setup += setup
    cost.call += call
    cost.children += children
    if share := test[record.IN_GATE]:
        cost.in_gate += 1
        cost.of_gate += share * (setup + call + children)
    if {"deep", "processes"} & {*test["marks"]} and "smoke" not in test["marks"]:
        cost.deep += 1
        cost.of_deep += setup + call + children


def modules_of(runs: Iterable[Run]) -> dict[str, set[str]]:
    """Return the modules of the product that each function ran."""
    ran: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        for name, test in run.tests.items():
            ran[record.function_of(name)] |= {*test.get("ran", ())}
    former = record.ran()
    known = {name: modules or former.get(name, set()) for name, modules in ran.items()}
    return {name: modules for name, modules in known.items() if modules}


def kind_of(name: str, test: dict[str, object]) -> str:
    """Return the part of the suite that a test belongs to."""
    marks = test.get("marks") or []
    assert isinstance(marks, list)
    tier = "deep" if "deep" in marks else "processes" if "processes" in marks else "ordinary"
    parts = record.file_of(name).split("/")[1:-1]
    return f"{'/'.join(parts[:2]) or 'root'}: {tier}"


def page(runs: Sequence[Run]) -> str:
    """Return the report as Markdown."""
    lines = ["# make test-all", ""]
    for run in runs:
        outcomes = [test["outcome"] for test in run.tests.values()]
        counts = ", ".join(f"{outcomes.count(name)} {name}" for name in ("passed", "skipped", "failed"))
        lines += [f"## {run.database}: {counts}, {run.seconds / 60:.1f} minutes", ""]
        lines += [f"This machine was {run.slowness:.1f} times slower than the machine of the record.", ""]
        lines += [] if run.is_good else [f"This run is not good. pytest ended with {run.exit_code}.", ""]
        lines += _second_tries(run) + _kinds(run) + _dearest(run)
    return "\n".join(lines)


def _second_tries(run: Run) -> list[str]:
    if not run.failed:
        return ["No test failed.", ""] if run.is_good else []
    rows = [f"- `{name}`: {run.again.get(name, 'not tried again')}" for name in run.failed]
    return ["Tests that failed, and their second try alone:", "", *rows, ""]


def _kinds(run: Run) -> list[str]:
    kinds: dict[str, list[float]] = defaultdict(list)
    for name, test in run.tests.items():
        kinds[kind_of(name, test)].append(sum(test.get("cost", {}).values()))
    rows = sorted(kinds.items(), key=lambda kind: -sum(kind[1]))
    table = [f"| {kind} | {len(costs)} | {sum(costs):.0f} |" for kind, costs in rows]
    return ["| Kind | Tests | CPU seconds |", "|---|---:|---:|", *table, ""]


def _dearest(run: Run) -> list[str]:
    spent = {name: sum(test.get("cost", {}).values()) for name, test in run.tests.items()}
    names = sorted(spent, key=lambda name: -spent[name])[:DEAREST]
    return ["The dearest tests:", "", *(f"- {spent[name]:.1f} s `{name}`" for name in names), ""]

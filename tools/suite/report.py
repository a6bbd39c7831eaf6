"""The report of `make test-all`, and the record of costs that it renews."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from tests.support import record
from tests.support.record import Cost
from tools.suite.runs import Run

DEAREST = 20


def costs_of(run: Run) -> dict[str, Cost]:
    """Return the cost of each function that ran, in seconds of the record's machine."""
    costs: dict[str, Cost] = defaultdict(Cost)
    for name, test in run.tests.items():
        if "cost" in test and test["outcome"] != "skipped":
            cost = costs[record.function_of(name)]
            cost.cases += 1
            cost.in_gate += test[record.IN_GATE]
            cost.setup += test["cost"]["setup"] / run.slowness
            cost.call += test["cost"]["call"] / run.slowness
            cost.children += test["cost"]["children"] / run.slowness
    return costs


def modules_of(runs: Iterable[Run]) -> dict[str, set[str]]:
    """Return the modules of the product that each file of tests ran."""
    ran: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        for name, test in run.tests.items():
            ran[name.partition("::")[0]] |= {*test.get("ran", ())}
    return {name: modules for name, modules in ran.items() if modules}


def kind_of(name: str, test: dict[str, object]) -> str:
    """Return the part of the suite that a test belongs to."""
    marks = test.get("marks") or []
    assert isinstance(marks, list)
    tier = "deep" if "deep" in marks else "processes" if "processes" in marks else "ordinary"
    parts = name.partition("::")[0].split("/")[1:-1]
    return f"{'/'.join(parts[:2]) or 'root'}: {tier}"


def page(runs: Sequence[Run]) -> str:
    """Return the report as Markdown."""
    lines = ["# make test-all", ""]
    for run in runs:
        outcomes = [test["outcome"] for test in run.tests.values()]
        counts = ", ".join(f"{outcomes.count(name)} {name}" for name in ("passed", "skipped", "failed"))
        lines += [f"## {run.database}: {counts}, {run.seconds / 60:.1f} minutes", ""]
        lines += [f"This machine was {run.slowness:.1f} times slower than the machine of the record.", ""]
        lines += _second_tries(run) + _kinds(run) + _dearest(run)
    return "\n".join(lines)


def _second_tries(run: Run) -> list[str]:
    if not run.failed:
        return ["No test failed.", ""]
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

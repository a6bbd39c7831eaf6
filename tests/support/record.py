"""The record of costs: CPU seconds of each test function on each database, as `make test-all` measured them last.

The seconds are those of a machine on which `calibrate` returns 1. A function has also the modules of the product that
its first case ran, as `make check` needs them.
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "tests" / "costs.json"
BUDGET = 900.0  # CPU seconds of the gate on both databases: two cores for seven and a half minutes
IN_GATE = "in_gate"  # a property of each test: the part of it that the gate runs, 0 to 1
DEEP = "(deep or processes) and not smoke"  # what `make test-touched` runs
RAN = "ran"
LINES_BELOW = 3  # the content of a function is one line
ROUNDS = 200_000
REFERENCE = 0.0097  # CPU seconds of the rounds on the machine of the record


@dataclass(slots=True)
class Cost:
    """CPU seconds of all cases of a function; apart those of its cases in the gate, and of its `DEEP` cases.

    ``setup`` has the fixtures that the function made for others, too. ``children`` are the processes that it started.
    """

    cases: int = 0
    setup: float = 0.0
    call: float = 0.0
    children: float = 0.0
    in_gate: int = 0
    of_gate: float = 0.0
    deep: int = 0
    of_deep: float = 0.0

    @property
    def seconds(self) -> float:
        return self.setup + self.call + self.children


def calibrate() -> float:
    """Return how many times slower this machine is than the machine of the record, at least 1."""

    def spent() -> float:
        before = time.process_time()
        for number in range(ROUNDS):
            hash(number)
        return time.process_time() - before

    return max(1.0, min(spent() for _ in range(5)) / REFERENCE)


def function_of(nodeid: str) -> str:
    return nodeid.partition("[")[0]


def file_of(nodeid: str) -> str:
    return nodeid.partition("::")[0]


@cache
def _content() -> dict[str, Any]:
    return json.loads(FILE.read_text()) if FILE.is_file() else {"commit": "HEAD", "modules": [], "tests": {}}


def _functions() -> Iterator[tuple[str, dict[str, Any]]]:
    for file, functions in _content()["tests"].items():
        for name, known in functions.items():
            yield f"{file}::{name}", known


@cache
def costs(vendor: str) -> Mapping[str, Cost]:
    """Return the cost of each function on a database. Functions that are newer than the record are missing."""
    return {name: Cost(*known[vendor]) for name, known in _functions() if vendor in known}


def costs_of_scopes(vendor: str, scope_of: Callable[[str], str]) -> Mapping[str, float]:
    scopes: dict[str, float] = defaultdict(float)
    for name, cost in costs(vendor).items():
        scopes[scope_of(name)] += cost.seconds
    return scopes


def ran() -> Mapping[str, set[str]]:
    """Return the modules that each function ran, as paths from the project's root."""
    modules = _content()["modules"]
    return {
        name: {module for number, module in enumerate(modules) if int(known[RAN], 16) >> number & 1}
        for name, known in _functions()
        if RAN in known
    }


def commit() -> str:
    """Return the commit whose tests the record has."""
    return str(_content()["commit"])


def write(costs_of: Mapping[str, Mapping[str, Cost]], ran_by: Mapping[str, set[str]], commit: str) -> None:
    """Replace the record by that of a commit. A function is a line, so that a change of the file can be read."""
    runs = Counter(sorted(module for modules in ran_by.values() for module in modules))
    modules = [module for module, _ in runs.most_common()]  # what many ran has a low number, which keeps the bits few
    place = {module: number for number, module in enumerate(modules)}
    tests: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for vendor, functions in costs_of.items():
        for name, cost in functions.items():
            file, _, function = name.partition("::")
            tests[file][function][vendor] = [round(value, 2) for value in asdict(cost).values()]
    for name, modules_of in ran_by.items():
        file, _, function = name.partition("::")
        tests[file][function][RAN] = f"{sum(1 << place[module] for module in modules_of):x}"
    FILE.write_text(_in_lines({"commit": commit, "modules": modules, "tests": tests}))


def _in_lines(content: Any, depth: int = 0) -> str:
    if not isinstance(content, dict) or depth == LINES_BELOW:
        return json.dumps(content)
    inner = " " * (depth + 1)
    lines = [f"{inner}{json.dumps(name)}: {_in_lines(content[name], depth + 1)}" for name in sorted(content)]
    return "{\n" + ",\n".join(lines) + "\n" + " " * depth + "}" + ("" if depth else "\n")

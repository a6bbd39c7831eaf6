"""Measures the CPU seconds of each test: of its process and of the processes that it starts, setup and call apart.

A fixture of a module or a run counts for no test's limit. A test of the gate may need `MOST_SECONDS`, unless it is
`deep` or `processes`. ``--costs FILE`` writes the outcome and costs of each test, and ``--modules`` its modules.
"""

from __future__ import annotations

import cProfile
import json
import os
import resource
from collections import defaultdict
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support import record

MOST_SECONDS = 1.0
MARGIN = 2.5  # the first test of a process also loads modules, and a busy neighbour of the core doubles CPU seconds
DEAREST = 10
PRODUCT = ("a2aproject/", "agentcards/", "clients/", "dashboard/", "mailbox/")
TICKS = os.sysconf("SC_CLK_TCK")
COST, FIXTURES, RAN = "cost", "fixtures", "ran"  # names of a report's properties


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", metavar="FILE", help="write the outcome and the costs of each test")
    parser.addoption("--modules", action="store_true", help="write the modules of each function, too; this is slow")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Meter(traces=config.getoption("modules")), "meter")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Ledger(config), "ledger")


@dataclass(slots=True)
class Spent:
    """CPU seconds of this process and of its children so far."""

    own: float
    children: float

    @classmethod
    def now(cls) -> Spent:
        own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        return cls(own.ru_utime + own.ru_stime, ended.ru_utime + ended.ru_stime + _of_running(os.getpid()))

    def since(self, before: Spent) -> Spent:
        return Spent(self.own - before.own, self.children - before.children)


def _of_running(process: int) -> float:
    """Return the CPU seconds of the process's children that run, and of all below them."""
    seconds = 0.0
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in listed.read_text().split():
                fields = Path(f"/proc/{child}/stat").read_bytes().rsplit(b")", 1)[1].split()
                seconds += sum(map(int, fields[11:15])) / TICKS + _of_running(int(child))
    return seconds


@dataclass(slots=True, eq=False)
class Meter:
    """Measures in the process that runs the tests. ``shared`` is what fixtures of more than one test have needed."""

    traces: bool
    shared: Spent = field(default_factory=lambda: Spent(0.0, 0.0))
    depth: int = 0
    cost: dict[str, float] = field(default_factory=dict)
    fixtures: dict[str, float] = field(default_factory=dict)
    traced: set[str] = field(default_factory=set)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        self.depth += 1
        before = Spent.now()
        try:
            return (yield)
        finally:
            self.depth -= 1
            if not self.depth:
                spent = Spent.now().since(before)
                self.shared = Spent(self.shared.own + spent.own, self.shared.children + spent.children)
                self.fixtures[fixturedef.argname] = round(spent.own + spent.children, 3)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        self.cost, self.fixtures = {"setup": 0.0, "call": 0.0, "children": 0.0}, {}
        with self._counted("setup"):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        with self._counted("call"), self._traced(item):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        try:
            with self._counted("setup"):
                return (yield)
        finally:
            cost = {name: round(seconds, 4) for name, seconds in self.cost.items()}
            item.user_properties += [(COST, cost), (FIXTURES, self.fixtures)]

    @contextmanager
    def _counted(self, phase: str) -> Iterator[None]:
        before, shared = Spent.now(), self.shared
        try:
            yield
        finally:
            spent, of_fixtures = Spent.now().since(before), self.shared.since(shared)
            self.cost[phase] += max(0.0, spent.own - of_fixtures.own)
            self.cost["children"] += max(0.0, spent.children - of_fixtures.children)

    @contextmanager
    def _traced(self, item: pytest.Item) -> Iterator[None]:
        """Note the modules that the first case of a function runs in its own thread."""
        function = record.function_of(item.nodeid)
        if not self.traces or function in self.traced or item.get_closest_marker("processes"):
            yield
            return
        self.traced.add(function)
        profile = cProfile.Profile(subcalls=False, builtins=False)
        profile.enable()
        try:
            yield
        finally:
            profile.disable()
            files = {entry.code.co_filename for entry in profile.getstats() if not isinstance(entry.code, str)}
            inside = {file.removeprefix(f"{record.ROOT}/") for file in files}
            item.user_properties.append((RAN, sorted(file for file in inside if file.startswith(PRODUCT))))


class Ledger:
    """Collects what the meters of all processes report, and judges it at the end of the run."""

    def __init__(self, config: pytest.Config) -> None:
        self.is_gate = bool(config.getoption("gate"))
        self.file = config.getoption("costs")
        self.slowness = record.calibrate()
        self.tests: dict[str, dict[str, Any]] = defaultdict(lambda: {"outcome": "passed"})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.tests[report.nodeid] |= {"outcome": "failed", "text": str(report.longrepr)[-2000:]}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = self.tests[report.nodeid]
        if report.outcome != "passed":
            test["outcome"] = report.outcome
            test["text"] = str(report.longrepr)[-2000:]
        if report.when == "teardown":
            test |= dict(report.user_properties)
            test["marks"] = sorted({"deep", "processes", "smoke"} & {*report.keywords})

    def seconds_of(self, nodeid: str) -> float:
        return float(sum(self.tests[nodeid].get(COST, {}).values())) / self.slowness

    def too_dear(self) -> list[str]:
        tests = [name for name, test in self.tests.items() if not test.get("marks", ["unfinished"])]
        return [name for name in tests if self.seconds_of(name) > MOST_SECONDS * MARGIN]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.slowness = max(self.slowness, record.calibrate())  # the machine may be busy since
        if self.is_gate and self.too_dear() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self.file:
            content = {"slowness": self.slowness, "tests": self.tests}
            Path(self.file).write_text(json.dumps(content, indent=0))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if len(self.tests) <= DEAREST:
            return
        total = sum(map(self.seconds_of, self.tests))
        terminalreporter.section(f"{total:.0f} CPU seconds, {self.slowness:.1f} times slower than the record's machine")
        for name in sorted(self.tests, key=self.seconds_of, reverse=True)[:DEAREST]:
            terminalreporter.write_line(f"{self.seconds_of(name):6.2f} {name}")
        for name in self.too_dear() if self.is_gate else ():
            terminalreporter.write_line(
                f"FAILED: {name} needs more than {MOST_SECONDS:.0f} CPU second. Make it cheaper, or mark it `deep`.",
                red=True,
            )

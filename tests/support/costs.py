"""Costs of tests."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.chance import guard

TICK = os.sysconf("SC_CLK_TCK")
OUT = os.environ.get("A2A_TESTS_COSTS")


def _spent() -> tuple[float, float]:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime + _living(os.getpid())


def _living(process: int) -> float:
    total = 0.0
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
    except OSError:
        return 0.0
    for task in tasks:
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            try:
                fields = Path(f"/proc/{child}/stat").read_bytes().rsplit(b")", 1)[1].split()
            except OSError:
                continue
            total += sum(map(int, fields[11:15])) / TICK + _living(int(child))
    return total


class Costs:
    def __init__(self) -> None:
        self.row: dict[str, Any] = {}
        self.session = [0.0, 0.0]
        self.depth = 0
        name = os.environ.get("PYTEST_XDIST_WORKER", "main")
        self.file = open(f"{OUT}.{name}", "a", buffering=1)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        before, taken = _spent(), list(self.session)
        try:
            yield
        finally:
            after = _spent()
            self.row[name] = [round(after[i] - before[i] - self.session[i] + taken[i], 4) for i in (0, 1)]

    def write(self, row):
        self.file.write(json.dumps(row) + "\n")

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        if fixturedef.scope == "function":
            return (yield)
        self.depth += 1
        before = _spent() if self.depth == 1 else None
        try:
            return (yield)
        finally:
            self.depth -= 1
            if before:
                after = _spent()
                spent = [after[i] - before[i] for i in (0, 1)]
                self.session = [self.session[i] + spent[i] for i in (0, 1)]
                if sum(spent) > 0.05:
                    self.write({"fixture": fixturedef.argname, "scope": fixturedef.scope, "by": request.node.nodeid, "spent": spent})

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item):
        self.row = {"id": item.nodeid}
        with self.phase("setup"):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item):
        with self.phase("call"):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item):
        try:
            with self.phase("teardown"):
                return (yield)
        finally:
            names = getattr(item, "fixturenames", ())
            db = item.get_closest_marker("django_db")
            self.write(self.row | {
                "faults": guard.faults, "slow": bool(item.get_closest_marker("slow")),
                "one": bool(item.get_closest_marker("one_database")),
                "db": bool(db) or any(n in names for n in ("db", "transactional_db", "live_server")),
                "commits": bool(db and db.kwargs.get("transaction")) or "transactional_db" in names or "live_server" in names,
                "fix": [n for n in names if n in ("served_hub", "browse", "chromium", "migrated_database", "live_server")],
                "hyp": bool(getattr(getattr(item, "function", None), "is_hypothesis_test", False)),
            })

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.write({"failed": report.nodeid, "when": report.when, "text": str(report.longrepr)[-3000:]})


def pytest_configure(config):
    if OUT:
        config.pluginmanager.register(Costs(), "costs")

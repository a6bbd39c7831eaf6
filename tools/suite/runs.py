"""Runs of pytest on both databases, with a second try of each test that failed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support import postgres
from tests.support.record import ROOT, file_of

DATABASES = ("sqlite", "postgresql")
IN_ORDER = ("-p", "no:randomly")
MOST_TRIES = 40  # if more tests fail, the code is broken, and second tries would find nothing out


@dataclass(slots=True)
class Run:
    """The tests that ran on one database. ``again`` has the outcome of each second try."""

    database: str
    exit_code: int
    seconds: float
    slowness: float = 1.0
    tests: dict[str, dict[str, Any]] = field(default_factory=dict)
    again: dict[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> list[str]:
        return [name for name, test in self.tests.items() if test["outcome"] == "failed"]

    @property
    def is_good(self) -> bool:
        """Whether each test passed at its first or second try."""
        if self.exit_code != pytest.ExitCode.TESTS_FAILED:
            return self.exit_code == pytest.ExitCode.OK
        return bool(self.failed) and all(self.again.get(name) == "passed" for name in self.failed)


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


@contextmanager
def environment_of(database: str, folder: Path) -> Iterator[dict[str, str]]:
    """Yield the environment for tests on a database; PostgreSQL runs until the block ends."""
    for one in (folder.parent, folder):  # a hub refuses a folder that others can use
        one.mkdir(mode=0o700, exist_ok=True)
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    usual |= {"A2A_VAR": str(folder), "DATABASE_URL": ""}
    if database == "sqlite":
        yield usual
        return
    with postgres.given_or_own() as url:
        yield usual | {"DATABASE_URL": url}


def databases() -> tuple[str, ...]:
    """Return the databases of a whole run. Where PostgreSQL is missing, say so and leave it out; CI must have it."""
    if postgres.is_available() or os.environ.get("CI"):
        return DATABASES
    say("PostgreSQL is missing, so its tests are left out. Set TEST_DATABASE_URL to a server.")
    return ("sqlite",)


def run(database: str, options: Sequence[str], chosen: Sequence[str], folder: Path, *, tries: int = 1) -> Run:
    """Run the chosen modules and functions, or all tests.

    Names of tests that are gone are skipped. With two ``tries``, each test that failed runs once more, alone.
    """
    ledger = folder / f"{database}.json"
    ledger.unlink(missing_ok=True)
    with environment_of(database, folder) as environment:
        began = time.monotonic()
        code = _pytest([*options, "--costs", str(ledger), *_only(chosen, folder)], environment)
        if chosen and code == pytest.ExitCode.NO_TESTS_COLLECTED:
            say(f"None of the chosen tests is for {database}.")
            code = pytest.ExitCode.OK
        done = Run(database, code, time.monotonic() - began)
        if ledger.exists():
            content = json.loads(ledger.read_text())
            done.slowness, done.tests = content["slowness"], content["tests"]
        if tries > 1 and len(done.failed) <= MOST_TRIES:
            for name in done.failed:
                say(f"The second try of {name}, alone")
                done.again[name] = "failed" if _pytest([*IN_ORDER, name], environment) else "passed"
    return done


def _only(chosen: Sequence[str], folder: Path) -> list[str]:
    """Return the arguments that let pytest run nothing but the chosen modules and functions."""
    if not chosen:
        return []
    file = folder / "chosen"
    file.write_text("\n".join(chosen))
    modules = sorted(set(map(file_of, chosen)))
    return ["--chosen", str(file), *(module for module in modules if (ROOT / module).is_file())]


def _pytest(arguments: Sequence[str], environment: dict[str, str]) -> int:
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def workers(more: int = 0) -> tuple[str, ...]:
    """Return the options for a process a core, and ``more`` for tests that wait for processes of their own."""
    return "--numprocesses", str(min(8, cores() + more)), "--no-loadscope-reorder"


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))

"""Tries bugs in copies of the tree, side by side: a bug is made in a copy, and its test must fail there."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

import psutil

from tests.support.databases import GIVEN, template_of_sqlite
from tests.support.hub import ROOT
from tools.proof.mutations import tiers
from tools.proof.mutations.bug import Bug

AT_ONCE = 2  # copies
WITHIN = 600  # seconds for one run of tests
WAITING = 60  # seconds for one test: a bug may let it wait without end
MARK = "A2A_BUGS_TREE"  # in the environment of every process that the tests start
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
NO_TESTS = 5  # pytest's exit code if it selected no test

Item = TypeVar("Item")
Part = tuple[str, Sequence[str]]  # a database, and tests to run there


def problems_of(bugs: Sequence[Bug]) -> list[str]:
    """Return each problem of the bugs: a wrong record, a test that fails without any bug, a bug that is not caught."""
    with contextlib.ExitStack() as kept:
        trees = [kept.enter_context(copied()) for _ in range(AT_ONCE)]
        placed = [*misplaced(trees[0], bugs)]
        unsound = side_by_side(trees, sound, [*parts(bugs, len(trees))])
        return placed + (unsound or side_by_side(trees, tried, sorted(bugs, key=lambda bug: bug.database)))


@contextlib.contextmanager
def copied() -> Iterator[Path]:
    """Yield a copy of the tree as it is now, without files that git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    with tempfile.TemporaryDirectory(prefix="a2a-bugs-") as folder:
        tree = Path(folder)
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, tree / name)
        yield tree


def side_by_side(trees: Sequence[Path], act: Callable[[Path, Item], str | None], items: Sequence[Item]) -> list[str]:
    """Call ``act`` with each item and a tree that no other call has. Return the problems in the order of the items."""
    free: SimpleQueue[Path] = SimpleQueue()
    for tree in trees:
        free.put(tree)

    def in_a_tree(item: Item) -> str | None:
        tree = free.get()
        try:
            return act(tree, item)
        finally:
            free.put(tree)

    with ThreadPoolExecutor(len(trees)) as threads:
        return [*filter(None, threads.map(in_a_tree, items))]


def misplaced(tree: Path, bugs: Sequence[Bug]) -> Iterator[str]:
    """Yield the bugs whose record does not tell which of both runs catches them."""
    for database, tests in parts(bugs, 1):
        code, output = run(tree, database, "--collect-only", "--gate", *tests)
        if code in (0, NO_TESTS):
            yield from tiers.misplaced([bug for bug in bugs if bug.database == database], tiers.listed(output))
        else:
            yield f"the tests of make test cannot be listed on {database}:\n{output[-3000:]}"


def parts(bugs: Sequence[Bug], number: int) -> Iterator[Part]:
    """Yield the tests of the bugs by database, in about so many parts for each database. A module is in one part."""
    for database in sorted({bug.database for bug in bugs}):
        tests = sorted({bug.fails for bug in bugs if bug.database == database})
        modules = sorted({test.partition("::")[0] for test in tests})
        for place in range(number):
            mine = modules[place::number]
            if chosen := [test for test in tests if test.partition("::")[0] in mine]:
                yield database, chosen


def sound(tree: Path, part: Part) -> str | None:
    """Run tests without any bug. Return the problem, None if they pass: a test that fails proves nothing."""
    database, tests = part
    code, output = run(tree, database, *tests)
    return None if code == 0 else f"these tests fail on {database} without any bug: {FAILED.findall(output) or output}"


def tried(tree: Path, bug: Bug) -> str | None:
    """Make the bug, run its test, and undo it. Return the problem, None if the test caught the bug.

    For a bug that `make test` catches, only the cases that `make test` runs count.
    """
    options = ["--exitfirst", *(["--gate"] if bug.in_gate else [])]
    changed = bug.applied(tree)
    before = {path: path.read_text() for path in changed}
    try:
        for path, text in changed.items():
            path.write_text(text)
        migrates = any("/migrations/" in change.path for change in bug.changes)
        code, output = run(tree, bug.database, *options, bug.fails, migrates=migrates)
    finally:
        for path, text in before.items():
            path.write_text(text)
    caught = [name for name in FAILED.findall(output) if name.partition("[")[0] == bug.fails]
    print(f"{bug.name}: {'caught by' if code == 1 and caught else 'NOT caught by'} {bug.fails}", flush=True)  # noqa: T201
    return None if code == 1 and caught else f"{bug.name} on {bug.database}, pytest's code {code}:\n{output[-3000:]}"


def run(tree: Path, database: str, *arguments: str, migrates: bool = False) -> tuple[int, str]:
    """Write the tree's client for threads, and run pytest in the tree; return its exit code and output.

    No process that the tests started outlives them.

    The tests use this tree's migrated database of SQLite, or their own if their tree ``migrates`` in another way.
    """
    options = ["-q", "-rfE", "--tb=short", "-p", "no:cacheprovider", "-p", "no:randomly", f"--timeout={WAITING}"]
    command = [sys.executable, "-m", "pytest", *options, *arguments]
    if database == "postgresql":
        command = [sys.executable, "-m", "tests.support.postgres", "--", *command]
    environment = environment_of(tree) | ({} if migrates else {GIVEN: str(template_of_sqlite())})
    subprocess.run([sys.executable, tree / "clients/python/write_sync.py"], check=True)
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=WITHIN,
            check=False,
        )
    finally:
        end_processes_of(tree)
    return done.returncode, done.stdout + done.stderr


def environment_of(tree: Path) -> dict[str, str]:
    """Return the environment of the tree's processes. They keep their bytecode, and import the client of the tree."""
    client = str(tree / "clients/python/src")
    environment = {**os.environ, "A2A_VAR": "var/test", "DATABASE_URL": "", "PYTHONPATH": client, MARK: str(tree)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def end_processes_of(tree: Path) -> None:
    """Kill the processes that tests of the tree have left behind."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == str(tree):
                process.kill()

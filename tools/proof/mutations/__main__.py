"""Make each bug in a copy of the tree, and demand that its test fails. See `tools.proof.mutations`."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import django
import psutil

from tests.support.hub import ROOT
from tools.proof.mix import Mix
from tools.proof.mutations.bug import Bug
from tools.proof.mutations.bugs import BUGS

SEED, SENDS = 5, 120
WITHIN = 600  # seconds for one run of tests
MARK = "A2A_BUGS_TREE"  # in the environment of every process that the tests start
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def main(arguments: Sequence[str]) -> int:
    """Try the named bugs, or all; return 1 unless each is caught by its test."""
    parser = argparse.ArgumentParser(prog="python -m tools.proof.mutations", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(bug.name for bug in BUGS))
    parser.add_argument("--proof", action="store_true", help="serve each bug under load; the proof must name it")
    given = parser.parse_args(arguments)
    names = given.names
    unknown = set(names) - {bug.name for bug in BUGS}
    if unknown:
        parser.error(f"no such bug: {', '.join(sorted(unknown))}")
    chosen = [bug for bug in BUGS if not names or bug.name in names]
    if given.proof:
        problems = [*filter(None, (proven(bug) for bug in chosen if bug.breaks))]
    else:
        with copied() as tree:
            problems = [*sound(tree, chosen)] or [*filter(None, (tried(tree, bug) for bug in chosen))]
    for problem in problems:
        print(problem, file=sys.stderr)  # noqa: T201
    return 1 if problems else 0


def proven(bug: Bug) -> str | None:
    """Serve a hub with the bug under load. Return the problem, None if the proof named the bug's violation."""
    os.environ.setdefault("A2A_VAR", "var/test")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "a2aproject.settings")
    django.setup()
    from tools.proof import controls

    control = controls.Control(name=bug.name, names=frozenset({bug.breaks}), mix=Mix(), changes=bug.edits)
    with tempfile.TemporaryDirectory(prefix="a2a-bug-") as folder:
        part = controls.run(control, bug.database, Path(folder), SEED, sends=SENDS)
    named = Counter(violation.name for violation in part.violations)
    print(f"{bug.name}: {dict(named)}", flush=True)  # noqa: T201
    return None if bug.breaks in named else f"{bug.name}: the proof does not name {bug.breaks}"


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


def sound(tree: Path, bugs: Sequence[Bug]) -> Iterator[str]:
    """Yield the tests that fail without any bug. They would prove nothing."""
    for database in sorted({bug.database for bug in bugs}):
        tests = sorted({bug.fails for bug in bugs if bug.database == database})
        code, output = run(tree, database, *tests)
        if code != 0:
            yield f"these tests fail on {database} without any bug: {FAILED.findall(output) or output}"


def tried(tree: Path, bug: Bug) -> str | None:
    """Make the bug, run its test, and mend the tree. Return the problem, None if the test caught the bug."""
    before = {path: path.read_text() for path in bug.applied(tree)}
    try:
        for path, text in bug.applied(tree).items():
            path.write_text(text)
        code, output = run(tree, bug.database, "--exitfirst", bug.fails)
    finally:
        for path, text in before.items():
            path.write_text(text)
    caught = [name for name in FAILED.findall(output) if name.partition("[")[0] == bug.fails.partition("[")[0]]
    print(f"{bug.name}: {'caught by' if code == 1 and caught else 'NOT caught by'} {bug.fails}", flush=True)  # noqa: T201
    return None if code == 1 and caught else f"{bug.name} on {bug.database}:\n{output[-3000:]}"


def run(tree: Path, database: str, *tests: str) -> tuple[int, str]:
    """Run tests in the tree; return pytest's exit code and output. No process that the tests started outlives them."""
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=short", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "A2A_VAR": "var/test", "DATABASE_URL": "", MARK: str(tree)}
    if database == "postgresql":
        command = [sys.executable, "-m", "tests.support.postgres", "--", *command]
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=WITHIN, check=False
        )
    finally:
        end_processes_of(tree)
    return done.returncode, done.stdout + done.stderr


def end_processes_of(tree: Path) -> None:
    """Kill the processes that tests of the tree have left behind."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == str(tree):
                process.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

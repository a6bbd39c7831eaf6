"""Which bugs `make test` catches. `make test-all` runs every test, so it catches each bug that has a test."""

import re
from collections.abc import Iterator, Sequence

from tools.proof.mutations.bug import Bug

LEAST_IN_GATE = 0.9  # of all bugs
LISTED = re.compile(r"^(\S+\.py::\w+)(?:\[.*)?$", re.MULTILINE)


def listed(output: str) -> frozenset[str]:
    """Return the tests that ``pytest --collect-only -q`` has listed, without their cases."""
    return frozenset(LISTED.findall(output))


def misplaced(bugs: Sequence[Bug], gate: frozenset[str]) -> Iterator[str]:
    """Yield the problem of each bug whose record differs from the tests of ``gate``, which `make test` runs."""
    for bug in bugs:
        if bug.in_gate and bug.fails not in gate:
            yield f"{bug.name} is said to be caught by make test, and is not: {bug.fails}"
        elif not bug.in_gate and bug.fails in gate:
            yield f"{bug.name} is said to be caught by make test-all alone, and make test catches it: {bug.fails}"


def share(bugs: Sequence[Bug]) -> float:
    """Return the share of the bugs that `make test` catches."""
    return sum(bug.in_gate for bug in bugs) / len(bugs)


def summary(bugs: Sequence[Bug]) -> str:
    """Return how many bugs each of both runs catches, in one line."""
    by_gate = sum(bug.in_gate for bug in bugs)
    others = len(bugs) - by_gate
    return f"{len(bugs)} bugs: {by_gate} caught by make test ({share(bugs):.0%}), {others} by make test-all alone"

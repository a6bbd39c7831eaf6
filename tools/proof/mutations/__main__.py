"""Make each bug in a copy of the tree, and demand that its test fails. See `tools.proof.mutations`."""

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import django

from tools.proof.mix import Mix
from tools.proof.mutations import tiers, trying
from tools.proof.mutations.bug import Bug
from tools.proof.mutations.bugs import BUGS

SEED, SENDS = 5, 120


def main(arguments: Sequence[str]) -> int:
    """Try the named bugs, or all; return 1 unless each is caught by its test, and nine of ten by `make test`."""
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
        problems = trying.problems_of(chosen)
        if not names and tiers.share(chosen) < tiers.LEAST_IN_GATE:
            problems.append(f"make test catches less than {tiers.LEAST_IN_GATE:.0%} of the bugs")
        print(tiers.summary(chosen))  # noqa: T201
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

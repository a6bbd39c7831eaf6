"""Rules of a commit that is tagged as a version."""

import re
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tools.lint.project import HUB, Fault, File, Project

PROOF = "docs/operate/reliability.md"
PROVED = tuple(folder for folder in (*HUB, "clients") if folder != "dashboard")
COMMIT = re.compile(r"^Commit `([0-9a-f]{7,40})(\+?)`", re.MULTILINE)
MOST_LINES = 10  # that may have changed since the proof, such as the number of the version

Git = Callable[..., str | None]  # runs git; returns its output, None if it failed


def the_proof_is_of_the_tagged_code(project: Project) -> Iterator[Fault]:
    """The page of the proof names its commit. At a tag of a version, that commit has the code of the tag.

    Without git the second half holds.
    """
    yield from proof_faults(project.file(PROOF), partial(_git, project.root))


def proof_faults(page: File, git: Git) -> Iterator[Fault]:
    if (found := COMMIT.search(page.text)) is None:
        yield page.fault(1, "the page names the commit that it proves")
        return
    if not git("tag", "--points-at", "HEAD", "v*"):
        return
    commit, is_changed = found.groups()
    if is_changed:
        yield page.fault_at(found.start(), f"the proof ran on {commit} with changes of no commit; run make prove")
    elif git("merge-base", "--is-ancestor", commit, "HEAD") is None:
        yield page.fault_at(found.start(), f"the tag does not contain {commit}, which the proof ran on")
    elif (lines := _changed(git("diff", "--numstat", f"{commit}..HEAD", "--", *PROVED) or "")) > MOST_LINES:
        text = f"{lines} lines of {', '.join(PROVED)} changed since {commit}, which the proof ran on; run make prove"
        yield page.fault_at(found.start(), text)


def _changed(numbers: str) -> int:
    """Return the sum of added and deleted lines. A binary file, which shows dashes, counts as too many."""
    counts = [count for line in numbers.splitlines() for count in line.split("\t")[:2]]
    return sum(int(count) if count != "-" else MOST_LINES + 1 for count in counts)


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)  # noqa: S607
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None

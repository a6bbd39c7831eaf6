"""At a tag of a version, the page of the proof names a commit of the very code."""

import subprocess
from pathlib import Path

import pytest

from tests.tools.lint.planting import planted, reported
from tools.lint import releases
from tools.lint.project import File

pytestmark = pytest.mark.one_database

PAGE = "# Reliability\n\nCommit `{}`, 2026-11-28, 61 minutes, seed 1.\n"
NEAR, FAR = "2\t2\ta2aproject/version.py\n", "9\t1\tmailbox/life/sending.py\n3\t0\tclients/a.ts\n"


def found(folder: Path, commit: str, **answers: str | None) -> list[str]:
    """Return the faults of a page where git answers so by its command."""
    project = planted(folder, {releases.PROOF: PAGE.format(commit)})
    page: File = project.file(releases.PROOF)
    return [
        fault.text for fault in releases.proof_faults(page, lambda command, *_: answers.get(command.replace("-", "_")))
    ]


@pytest.mark.parametrize(
    ("commit", "answers", "fault"),
    [
        ("abc1234", {}, ""),  # no git
        ("abc1234", {"tag": "", "diff": FAR}, ""),
        ("abc1234", {"tag": "v1.2.0", "merge_base": "", "diff": ""}, ""),
        ("abc1234", {"tag": "v1.2.0", "merge_base": "", "diff": NEAR}, ""),
        ("abc1234", {"tag": "v1.2.0", "merge_base": "", "diff": FAR}, "13 lines of"),
        ("abc1234", {"tag": "v1.2.0", "merge_base": "", "diff": "-\t-\tmailbox/a.bin\n"}, "22 lines of"),
        ("abc1234", {"tag": "v1.2.0", "merge_base": None, "diff": ""}, "the tag does not contain abc1234"),
        ("abc1234+", {"tag": "v1.2.0", "merge_base": "", "diff": ""}, "the proof ran on abc1234 with changes"),
    ],
)
def test_a_tag_needs_a_proof_of_its_own_code(tmp_path, commit, answers, fault):
    faults = found(tmp_path, commit, **answers)

    assert [text.startswith(fault) for text in faults] == ([True] if fault else [])


@pytest.mark.processes
def test_a_repository_whose_code_moved_since_its_proof_has_a_fault_at_a_tag_alone(tmp_path):
    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main", *arguments]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    def committed(files: dict[str, str | bytes]) -> list[str]:
        project = planted(tmp_path, files)
        git("add", ".")
        git("commit", "-m", "a change")
        return reported(releases.the_proof_is_of_the_tagged_code, project)

    git("init")
    committed({"mailbox/a.py": "a = 1\n", releases.PROOF: PAGE.format("abc1234")})
    page = PAGE.format(git("rev-parse", "--short", "HEAD").strip())
    assert committed({releases.PROOF: page, "docs/a.md": "# A\n" * 50}) == []
    git("tag", "v1.0.0")
    project = planted(tmp_path, {})
    assert reported(releases.the_proof_is_of_the_tagged_code, project) == []
    assert committed({"mailbox/a.py": "a = 2\n" * 20}) == []
    git("tag", "v1.0.1")

    (fault,) = reported(releases.the_proof_is_of_the_tagged_code, planted(tmp_path, {}))
    assert fault.startswith(f"{releases.PROOF}:3: 21 lines of ")

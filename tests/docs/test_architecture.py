from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

from tests.support import pages
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

PAGE = pages.page("docs/contribute/architecture.md")
FOLDER = re.compile(r"^( *)(\S+)/(?: |$)")
MADE = {
    "clients/javascript/dist",
    "clients/javascript/node_modules",
    "screenshots",
    "site",
    "staticfiles",
    "var",
}  # .gitignore


def named_folders() -> set[PurePosixPath]:
    """Return the folders of the annotated tree, each with the folders above it."""
    above: list[PurePosixPath] = []
    named: set[PurePosixPath] = set()
    for line in pages.section(PAGE, "The folders").partition("```text\n")[2].partition("```")[0].splitlines():
        indent, name = FOLDER.findall(line)[0]
        above = [*above[: len(indent) // 2], PurePosixPath(*above[len(indent) // 2 - 1 : len(indent) // 2], name)]
        named |= {above[-1], *above[-1].parents}
    return named - {PurePosixPath()}


def folders(top: Path = ROOT) -> Iterator[PurePosixPath]:
    """Yield the folders of the source that hold a file."""
    for folder in sorted(path for path in top.iterdir() if path.is_dir()):
        path = PurePosixPath(folder.relative_to(ROOT))
        if str(path) in MADE or path.name == "__pycache__" or (path.name.startswith(".") and str(path) != ".ci"):
            continue
        if any(inside.is_file() for inside in folder.iterdir()):
            yield path
        yield from folders(folder)


def is_mirror(folder: PurePosixPath, named: set[PurePosixPath]) -> bool:
    return folder.parts[0] == "tests" and PurePosixPath(*folder.parts[1:]) in named


def test_every_folder_is_named() -> None:
    named = named_folders()

    assert [str(folder) for folder in folders() if folder not in named and not is_mirror(folder, named)] == []


def test_every_named_folder_exists() -> None:
    named = named_folders()

    assert len(named) > 60
    assert [str(folder) for folder in sorted(named) if not (ROOT / folder).is_dir()] == []


def test_every_named_function_and_class_exists() -> None:
    named = pages.references(PAGE)

    assert len(named) > 12
    assert [f"{path} · {name}" for path, name in named if not pages.defines(path, name)] == []


def test_the_stations_are_six_and_lead_down_the_floors() -> None:
    stations = re.findall(r"^\d\. \*\*", pages.section(PAGE, "One send, in six stations"), re.MULTILINE)

    assert len(stations) == 6


def test_a_reference_to_nothing_is_seen() -> None:
    assert pages.references("in `mailbox/checks.py` ·\n`nothing.here`") == [("mailbox/checks.py", "nothing.here")]
    assert not pages.defines("mailbox/checks.py", "nothing.here")
    assert not pages.defines("mailbox/nothing.py", "here")
    assert pages.defines("mailbox/models/task.py", "Task.from_envelope")

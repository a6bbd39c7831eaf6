from __future__ import annotations

import re

import pytest

from tests.support.pages import page

pytestmark = pytest.mark.one_database

MOST_LINES, LONGEST_LINE = 60, 120
HEADINGS = ["Before you upgrade", "Added", "Changed", "Fixed"]


def notes() -> list[str]:
    """Return the notes of each version."""
    return re.split(r"^## ", page("CHANGELOG.md"), flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("version", notes(), ids=lambda version: version.splitlines()[0])
def test_the_notes_of_a_version_are_short(version: str) -> None:
    assert len(version.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("version", notes(), ids=lambda version: version.splitlines()[0])
def test_each_note_is_one_line_under_a_heading(version: str) -> None:
    title, *lines = version.splitlines()
    headings = [line.removeprefix("### ") for line in lines if line.startswith("### ")]

    assert title.startswith("[")
    assert headings == [heading for heading in HEADINGS if heading in headings]
    assert [line for line in lines if line and not line.startswith(("- ", "### "))] == []
    assert [line for line in lines if len(line) > LONGEST_LINE] == []

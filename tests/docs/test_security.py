"""The page on security: each test that it names exists, and no requirement of the standard is left out."""

from __future__ import annotations

import re

import pytest

from tests.support import pages

pytestmark = pytest.mark.one_database

PAGE = pages.page("docs/operate/security.md")
LINK = re.compile(r"\[`(test_\w+)`\]\(\.\./\.\./(tests/[\w/]+\.py)\)")
STATUSES = ("met", "partly", "not met", "n/a")
# The requirements of levels 1 and 2 of OWASP ASVS 5.0: the number of the last one in each section.
SECTIONS = """
1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3 4.2:1 4.3:2 4.4:4
5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2
8.1:2 8.2:3 8.3:1 8.4:1 9.1:3 9.2:4 10.1:2 10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3
11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1 12.1:3 12.2:2 12.3:4 13.1:1 13.2:5 13.3:2 13.4:5
14.1:2 14.2:4 14.3:3 15.1:3 15.2:3 15.3:7 16.1:1 16.2:5 16.3:4 16.4:3 16.5:3 17.1:1 17.2:4 17.3:2
"""
REQUIREMENTS = [
    f"{section}.{number}"
    for section, last in (each.split(":") for each in SECTIONS.split())
    for number in range(1, int(last) + 1)
]


def rows(title: str) -> list[list[str]]:
    """Return the cells of each row of the tables below a heading, without the heads of the tables."""
    lines = [line for line in pages.section(PAGE, title).splitlines() if line.startswith("| ")]
    found = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [cells for cells in found if cells[0] not in ("Id", "Requirement")]


def covered(cell: str) -> list[str]:
    """Return the requirements that a row stands for: one, or all from the first to the last."""
    first, _, last = cell.partition("-")
    return REQUIREMENTS[REQUIREMENTS.index(first) : REQUIREMENTS.index(last or first) + 1]


def test_each_named_test_exists():
    named = LINK.findall(PAGE)

    assert len(named) > 150
    missing = [f"{path}::{name}" for name, path in named if not re.search(rf"\bdef {name}\(", pages.page(path))]
    assert missing == []


def test_each_attack_has_an_id_of_its_own_and_a_test_or_a_reason():
    attacks = rows("Known attacks")
    ids = [cells[0] for cells in attacks]

    assert len(ids) == len(set(ids))
    assert [
        cells[0] for cells in attacks if not LINK.search(cells[3]) and not cells[2].startswith("Known limit.")
    ] == []


def test_each_requirement_of_the_standard_has_one_row():
    listed = [each for cells in rows("OWASP ASVS 5.0, level 2") for each in covered(cells[0])]

    assert listed == REQUIREMENTS


def test_each_row_of_the_standard_has_a_status_a_reason_and_if_met_a_test():
    for requirement, status, reason, held in rows("OWASP ASVS 5.0, level 2"):
        assert status in STATUSES, requirement
        assert reason, requirement
        assert status != "met" or LINK.search(held), requirement

from __future__ import annotations

import re

import pytest

from tests.support import pages

pytestmark = pytest.mark.one_database

PAGE = pages.page("docs/contribute/locks.md")
RACE = re.compile(r"^### (.+)$", re.MULTILINE)


def races() -> dict[str, str]:
    """Return the story of each race by its title."""
    parts = RACE.split(PAGE.replace("\n## ", "\n### "))
    return {title: text for title, text in zip(parts[1::2], parts[2::2], strict=True) if f"\n### {title}\n" in PAGE}


def test_every_named_test_and_function_exists() -> None:
    named = pages.references(PAGE)

    assert [f"{path} · {name}" for path, name in named if not pages.defines(path, name)] == []


@pytest.mark.parametrize("title", races())
def test_a_race_names_a_test_that_runs_it(title: str) -> None:
    assert [name for path, name in pages.references(races()[title]) if path.startswith("tests/")]


def test_every_test_of_a_race_that_is_named_runs_on_both_databases() -> None:
    modules = {path for path, _ in pages.references(PAGE) if path.startswith("tests/mailbox/verbs/life/")}

    assert len(modules) >= 3
    assert [path for path in modules if "one_database" in pages.page(path)] == []

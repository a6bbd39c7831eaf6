from __future__ import annotations

import pytest

from tests.support.pages import page

pytestmark = pytest.mark.one_database

MOST_LINES = 199


def test_the_readme_is_short() -> None:
    assert len(page("README.md").splitlines()) <= MOST_LINES


def test_the_readme_says_what_the_hub_is_in_one_sentence() -> None:
    _, title, sentence = page("README.md").partition("# A2A Hub\n\n")
    first = sentence.partition("\n\n")[0]

    assert title
    assert first.count(". ") == 0
    assert first.endswith(".")

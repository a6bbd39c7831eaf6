from __future__ import annotations

import re

import pytest

from tests.support.hub import ROOT
from tests.support.pages import page

pytestmark = pytest.mark.one_database

MOST_LINES = 199
MOST_BYTES_OF_A_PICTURE = 150_000


def test_the_readme_is_short() -> None:
    assert len(page("README.md").splitlines()) <= MOST_LINES


def test_the_readme_says_what_the_hub_is_in_one_sentence() -> None:
    _, title, sentence = page("README.md").partition("# A2A Hub\n\n")
    first = sentence.partition("\n\n")[0]

    assert title
    assert first.count(". ") == 0
    assert first.endswith(".")


@pytest.mark.parametrize(("path", "folder"), [("README.md", ""), ("docs/index.md", "docs/")])
def test_one_small_picture_shows_the_dashboard_and_its_text_says_what_it_shows(path: str, folder: str) -> None:
    ((text, picture),) = re.findall(r"!\[([^\]]*)\]\((\S+)\)", page(path))
    file = (ROOT / folder / picture).read_bytes()

    assert folder + picture == "docs/assets/dashboard.png"
    assert text.startswith("The dashboard ")
    assert file.startswith(b"\x89PNG")
    assert 1300 <= int.from_bytes(file[16:20], "big") <= 1500
    assert len(file) < MOST_BYTES_OF_A_PICTURE

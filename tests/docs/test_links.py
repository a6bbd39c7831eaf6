from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.hub import ROOT
from tests.support.pages import all_pages

pytestmark = pytest.mark.one_database

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]+)?\)")
TO_BE_MADE = "/ping/"  # the dialect that docs/contribute/add-a-protocol.md leads to
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors of the page's headings, as code hosts make them."""
    titles = HEADING.findall(page.read_text())
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    dead = []
    for path, anchor in LINK.findall(page.read_text()):
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor[1:] not in anchors(target)):
            dead.append(path + anchor)

    assert dead == []


def test_every_page_is_linked_from_another() -> None:
    linked = {
        (page.parent / path).resolve() for page in all_pages() for path, _ in LINK.findall(page.read_text()) if path
    }

    assert [str(page) for page in all_pages() if page not in linked and page.name != "README.md"] == []


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_and_folder_that_a_page_names_exists(page: Path) -> None:
    named = re.findall(
        r"`((?:a2aproject|agentcards|dashboard|docs|mailbox|requirements|templates|tests)/[\w/.]*)`", page.read_text()
    )

    assert [path for path in named if not (ROOT / path).exists() and TO_BE_MADE not in path] == []

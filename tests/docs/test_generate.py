from __future__ import annotations

import importlib
import re

import pytest

from mailbox.words.kinds import Kind
from tests.support import state_page, states
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

generate = importlib.import_module("docs.generate")


@pytest.mark.django_db
@pytest.mark.parametrize("path", generate.PAGES)
def test_a_generated_page_is_up_to_date(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_page, "in_another_process", states.steps)

    assert (ROOT / path).read_text() == generate.PAGES[path](), "run `make docs`"


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the marks"):
        generate._with_block("<!-- other -->\n<!-- /other -->\n", "floors", "text\n")


def test_an_arrow_is_left_out_where_a_longer_way_says_the_same() -> None:
    imports = {"top": {"middle", "ground"}, "middle": {"ground"}, "ground": set()}

    assert generate._without_detours(imports) == [("top", "middle"), ("middle", "ground")]


def test_the_journal_page_describes_every_kind() -> None:
    described = re.findall(r"^### `(\w+)`$", generate.events(), re.MULTILINE)

    assert sorted(described) == sorted(Kind)

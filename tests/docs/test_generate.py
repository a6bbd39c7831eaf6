import importlib
import re
from collections.abc import Iterable

import pytest

from mailbox.words.kinds import Kind
from tests.support import state_page, states
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

STATES = "docs/reference/states.md"
generate = importlib.import_module("docs.generate")


def outdated(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if (ROOT / path).read_text() != generate.PAGES[path]()]


def test_the_generated_pages_are_up_to_date() -> None:
    assert outdated(generate.PAGES.keys() - {STATES}) == [], "run `make docs`"


@pytest.mark.deep
@pytest.mark.django_db
def test_the_page_that_a_hub_writes_by_acting_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_page, "in_another_process", states.steps)

    assert outdated([STATES]) == [], "run `make docs`"


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the marks"):
        generate._with_block("<!-- other -->\n<!-- /other -->\n", "floors", "text\n")


def test_an_arrow_is_left_out_where_a_longer_way_says_the_same() -> None:
    imports = {"top": {"middle", "ground"}, "middle": {"ground"}, "ground": set()}

    assert generate._without_detours(imports) == [("top", "middle"), ("middle", "ground")]


def test_the_journal_page_describes_every_kind() -> None:
    described = re.findall(r"^### `(\w+)`$", generate.events(), re.MULTILINE)

    assert sorted(described) == sorted(Kind)

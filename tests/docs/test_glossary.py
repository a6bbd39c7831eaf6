from __future__ import annotations

import re

import pytest
from django.apps import apps

from tests.support import pages
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

PRODUCT = ("agentcards", "dashboard", "mailbox")
ROWS = re.findall(
    r"^\| (?!Word)([^|]+) \| ([^|]+) \| ([^|]+) \|$", pages.page("docs/concepts/glossary.md"), re.MULTILINE
)


def exists(place: str) -> bool:
    """Whether the last cell of a row names a definition, a module or a folder of the source."""
    if references := pages.references(place):
        return pages.defines(*references[0])
    return (ROOT / place.strip("`")).exists()


@pytest.mark.parametrize(("word", "place"), [(word, place) for word, _, place in ROWS])
def test_a_word_is_carried_by_the_code(word: str, place: str) -> None:
    assert exists(place), f"{word}: {place}"


def test_a_place_that_is_not_there_is_seen() -> None:
    assert not exists("`mailbox/verbs/nothing/`")
    assert not exists("`mailbox/models/task.py` · `Nothing`")


def test_every_model_has_its_word() -> None:
    models = {model.__name__ for app in PRODUCT for model in apps.get_app_config(app).get_models()}
    carried = {name.partition(".")[0] for _, _, place in ROWS for _, name in pages.references(place)}

    assert len(models) > 20
    assert models - carried == set()


def test_each_word_has_one_meaning() -> None:
    words = [word for words, _, _ in ROWS for word in words.split(", ")]

    assert sorted(words) == sorted(set(words))

import pytest
from django.apps import apps

from tests.support import pages
from tools.lint.pages import REFERENCE

pytestmark = pytest.mark.one_database

PRODUCT = ("agentcards", "dashboard", "mailbox")


def test_every_model_has_its_word() -> None:
    models = {model.__name__ for app in PRODUCT for model in apps.get_app_config(app).get_models()}
    carried = {name.partition(".")[0] for _, name in REFERENCE.findall(pages.page("docs/concepts/glossary.md"))}

    assert len(models) > 20
    assert models - carried == set()

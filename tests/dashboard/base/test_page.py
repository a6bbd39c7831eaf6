"""The gate before the changes of every page."""

from typing import Any

import pytest

from dashboard.base.act import Act
from dashboard.base.page import DashboardView
from mailbox.access import requests


def _post(self, request):
    raise NotImplementedError


@pytest.mark.parametrize("base", [DashboardView, Act], ids=lambda base: base.__name__)
def test_a_page_with_a_post_that_does_not_name_its_action_cannot_be_imported(base):
    with pytest.raises(TypeError, match=r"^Page has a post, and does not name the action that it needs$"):
        type("Page", (base,), {"post": _post})


@pytest.mark.parametrize("needs", [requests.SEND, ""])
def test_a_page_names_its_action_or_that_the_change_is_the_person_s_own(needs):
    page: Any = type("Page", (Act,), {"needs": needs})

    special: Any = type("Special", (page,), {})

    assert special.needs == needs


def test_a_page_with_a_post_of_its_own_does_not_inherit_that_it_needs_no_action():
    page = type("Own", (DashboardView,), {"needs": "", "post": _post})

    with pytest.raises(TypeError, match=r"^Page has a post, and does not name the action that it needs$"):
        type("Page", (page,), {"post": _post})

    gated = type("Gated", (DashboardView,), {"needs": requests.SEND, "post": _post})
    special: Any = type("Page", (gated,), {"post": _post})
    assert special.needs == requests.SEND


@pytest.mark.parametrize("verb", ["put", "patch", "delete"])
def test_a_page_takes_changes_by_post_alone(verb):
    with pytest.raises(TypeError, match=rf"^Page has a {verb}: pages take changes by POST alone$"):
        type("Page", (DashboardView,), {verb: _post, "needs": requests.SEND})

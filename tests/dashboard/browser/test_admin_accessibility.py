"""Every page of Django's admin is accessible, in both themes, wide and narrow."""

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.urls import reverse

from mailbox.access.callers import Role
from tests.dashboard.admin.test_admin import READ_ONLY
from tests.support import factories
from tests.support.axe import NARROW, Examiner

LISTS = [
    *(f"mailbox_{model}" for model in (*READ_ONLY, "apikey", "capabilitygrant", "agent")),
    *("agentcards_agentprofile", "agentcards_tool", "agentcards_agentcard", "auth_user", "auth_group"),
]
FORMS = ["auth_user_add", "agentcards_tool_add", "agentcards_agentprofile_add"]

# The number of lists on the page, and of those that have room for their columns.
WIDTHS = """() => { const lists = [...document.querySelectorAll('.results')];
  return [lists.length, lists.filter(one => one.scrollWidth <= one.clientWidth).length]; }"""

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def pages_of(name):
    """Yield the list of the rows, and the page of one row if there is one."""
    yield reverse(f"admin:{name}_changelist")
    row = apps.get_model(*name.split("_"))._default_manager.order_by("-pk").first()
    if row is not None:
        yield reverse(f"admin:{name}_change", args=[row.pk])


def test_pages_of_the_admin_are_accessible_and_fit_the_window(browse, history, bob):
    factories.key_of(bob)
    factories.tool("search", description="Finds pages")
    User.objects.create_superuser("root")
    page, examiner = browse("root", Role.ADMIN, may_fail=True), Examiner()

    for path in [
        "/admin/",
        *(path for name in LISTS for path in pages_of(name)),
        *(reverse(f"admin:{name}") for name in FORMS),
        "/admin/mailbox/auditevent/?q=colour:red",
        "/admin/mailbox/auditevent/?kind=junk",
    ]:
        examiner.look(page, path, narrow=NARROW[:1])


def test_a_laptop_shows_every_column_of_a_list(browse, history, bob):
    factories.key_of(bob)
    page = browse("ada", Role.ADMIN, width=1440)

    for name in ("auditevent", "task", "lease", "apikey", "capabilitygrant", "agent"):
        page.goto(reverse(f"admin:mailbox_{name}_changelist"))
        assert page.evaluate(WIDTHS) == [1, 1], name


def test_the_dashboard_and_the_admin_lead_to_each_other(browse):
    page = browse("ada", Role.ADMIN)

    page.goto("/ops/help/")
    page.click("nav >> text=Admin")
    page.wait_for_url("**/admin/")
    page.click("text=Dashboard")
    page.wait_for_url("**/ops/")

    assert browse("vic", Role.VIEWER).goto("/ops/help/").text().count('href="/admin/"') == 0

"""Every page, dialog and panel is accessible, in both themes, at three widths, for those who act and those who look."""

from __future__ import annotations

import pytest

from mailbox.callers import Role
from tests import factories
from tests.dashboard.browser import stale, violations

PATHS = [
    "",
    "agents/",
    "agents/bob@local/",
    "deliveries/",
    "send/",
    "health/",
    "scheduler/",
    "scheduler/run-once/",
    "idempotency/",
    "leases/",
    "leases/?state=stale&agent=nobody",
    "tasks/",
    "results/",
    "audit/",
    "repairs/",
    "repairs/plans/",
    "settings/",
]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
@pytest.mark.parametrize("width", [1440, 390, 320])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_accessible_and_fit_the_window(browse, alice, bob, theme, width, role):
    factories.resolved_task(alice, bob)
    lease = stale(alice, bob, intent_text=f"<b>\u202eodd\u202c</b> {'x' * 200}")
    page = browse("ana", role, theme=theme, width=width)

    for path in [
        *PATHS,
        f"tasks/{lease.task.uuid}/",
        f"leases/{lease.lease_id}/",
        f"audit/{factories.last_event().pk}/",
    ]:
        page.goto(f"/ops/{path}")
        assert violations(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


@pytest.mark.parametrize("width", [1440, 320])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_dialogs_are_accessible_and_give_the_focus_back(browse, alice, bob, theme, width):
    stale(alice, bob)
    page = browse("ana", theme=theme, width=width)
    page.goto("/ops/leases/")

    for verb in ("Requeue", "Force error"):
        page.locator("td a", has_text=verb).click()
        page.wait_for_selector("dialog[open] form")
        assert violations(page) == []
        page.keyboard.press("Escape")
        assert verb in page.evaluate("document.activeElement.textContent")

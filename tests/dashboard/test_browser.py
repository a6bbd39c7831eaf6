"""What only a browser can tell: keys, dialogs, accessibility, the policy, swaps while somebody works."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from mailbox import leasing
from mailbox.callers import Role
from mailbox.kinds import Kind
from mailbox.models import Lease
from tests import factories

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CHECK = "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}}).then(found => found.violations)"
PATHS = ["", "agents/", "leases/", "leases/?state=stale&agent=nobody", "tasks/", "results/", "audit/", "settings/"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        assert not os.environ.get("CI"), "there is no Chromium: .ci/run installs one"
        warnings.warn("NO BROWSER TESTS: there is no Chromium on this machine", pytest.PytestWarning, stacklevel=1)
        pytest.skip("there is no Chromium on this machine")
    # Playwright keeps an event loop in this thread, in which Django would refuse its ordinary work.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        from playwright.sync_api import sync_playwright

        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            yield browser
            browser.close()


@pytest.fixture
def browse(chromium, live_server):
    """Return a function that opens the browser of a person; no page may log an error or break the policy."""
    said: list[str] = []
    contexts = []

    def opened(name, role=Role.OPERATOR, *, theme="light", width=1440, live=0):
        user = User.objects.filter(username=name).first()
        if user is None:
            factories.person(name, role)
            user = User.objects.get(username=name)
        session = Client()
        session.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        context = chromium.new_context(viewport={"width": width, "height": 900}, base_url=live_server.url)
        context.add_cookies(
            [
                {"name": "sessionid", "value": session.cookies["sessionid"].value, "url": live_server.url},
                {"name": "ops_theme", "value": theme, "url": f"{live_server.url}/ops/"},
                {"name": "ops_live", "value": str(live), "url": f"{live_server.url}/ops/"},
            ]
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [text for text in said if "status of 4" not in text] == []


def violations(page):
    page.evaluate(AXE.read_text())
    return [(found["id"], [node["target"] for node in found["nodes"]][:3]) for found in page.evaluate(CHECK, TAGS)]


def stale(alice, bob, **fields):
    lease = factories.leased_task(alice, bob, **fields)
    Lease.objects.filter(pk=lease.pk).update(leased_at=timezone.now() - timedelta(minutes=41))
    return lease


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


def test_a_lease_is_requeued_by_keyboard_alone(browse, alice, bob):
    lease = stale(alice, bob)
    page = browse("ana")
    page.goto("/ops/leases/")
    page.locator("td a", has_text="Requeue").focus()

    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open] form")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.type("pod killed")
    page.keyboard.press("Enter")
    page.wait_for_selector("[role=status]")

    assert "Requeued. Attempt 1 stays recorded" in page.inner_text("[role=status]")
    (applied,) = factories.journal(Kind.REPAIR_APPLIED)
    assert applied.fields["reason"] == "pod killed"
    lease.refresh_from_db()
    assert lease.ended_at is not None


def test_of_two_operators_the_second_sees_what_the_first_did(browse, alice, bob):
    stale(alice, bob)
    pages = [browse("ana"), browse("ben")]
    for page in pages:
        page.goto("/ops/leases/")
        page.locator("td a", has_text="Requeue").click()
        page.wait_for_selector("dialog[open] form")
        page.check("dialog input[value=operator_accepted]")
        page.fill("dialog [name=reason]", f"reason {pages.index(page)}")

    pages[0].click("dialog button")
    pages[0].wait_for_selector("[role=status]")
    (current,) = leasing.lease_tasks(bob)
    pages[1].click("dialog button")
    pages[1].wait_for_selector("dialog .conflict")

    panel = pages[1].inner_text("dialog .conflict")
    assert "Nothing was changed" in panel
    assert "user:ana" in panel
    assert "reason 0" in panel
    assert violations(pages[1]) == []
    pages[1].click("dialog a.primary")
    pages[1].wait_for_selector("dialog form")
    assert pages[1].input_value("dialog [name=reason]") == "reason 1"
    assert pages[1].get_attribute("dialog form", "action") == f"/ops/leases/{current.lease_id}/requeue/"
    assert len(factories.journal(Kind.REPAIR_APPLIED)) == 1


def test_a_refused_form_keeps_what_was_typed_and_leads_to_the_field(browse, alice, bob):
    stale(alice, bob)
    page = browse("ana")
    page.goto("/ops/leases/")
    page.locator("td a", has_text="Force error").click()
    page.fill("dialog [name=message]", "please resend")

    page.click("dialog button")
    page.wait_for_selector("dialog [aria-invalid]")

    assert page.evaluate("document.activeElement.name") == "reason"
    assert page.input_value("dialog [name=message]") == "please resend"
    assert violations(page) == []


def test_a_region_in_use_is_held_and_an_idle_one_follows(browse, alice, bob):
    stale(alice, bob)
    page = browse("ana", live=5)
    page.goto("/ops/leases/")
    tick = "document.querySelector('[data-live]').dispatchEvent(new Event('live:tick'))"
    page.locator("td a", has_text="Requeue").click()
    page.wait_for_selector("dialog[open] form")
    stale(alice, bob)

    page.wait_for_timeout(6000)
    held = page.locator("#rows tbody tr").count()
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.evaluate(tick)
    page.locator("#rows tbody tr").nth(1).wait_for()

    assert held == 1


def test_everything_is_done_without_javascript(chromium, live_server, browse, alice, bob):
    stale(alice, bob)
    known = browse("ana").context
    context = chromium.new_context(base_url=live_server.url, java_script_enabled=False)
    context.add_cookies(known.cookies())
    page = context.new_page()

    page.goto("/ops/leases/?state=stale")
    page.locator("td a", has_text="Requeue").click()
    page.check("input[value=operator_accepted]")
    page.fill("[name=reason]", "pod killed")
    page.click("button[data-submit]")
    page.locator("[role=status] a").click()

    assert "pod killed" in page.inner_text("main")
    context.close()

"""Dialogs, copying and hostile text in a real browser, on pages other than the list of leases."""

import pytest

from mailbox.models import ReplayEntry
from mailbox.words.kinds import Kind
from tests.dashboard.base.test_hostile import paths
from tests.dashboard.test_deliveries import given_up
from tests.dashboard.test_idempotency import cached
from tests.support import factories, hostile
from tests.support.axe import fits, violations
from tests.support.browser import stale

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def test_a_cached_result_is_dropped_by_keyboard_alone(browse, alice, bob):
    cached(alice, bob)
    page = browse("ana")
    page.goto("/ops/idempotency/")

    page.locator("td a", has_text="Drop").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open] form")
    assert violations(page) == []
    page.keyboard.type("prices changed")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Dropped.")

    assert not ReplayEntry.objects.exists()
    assert factories.journal(Kind.REPLAY_DROPPED)[0].fields["reason"] == "prices changed"


def test_a_dialog_without_a_reason_focuses_the_missing_field(browse, alice, bob):
    given_up(alice, bob)
    page = browse("ana", theme="dark", width=390)
    page.goto("/ops/deliveries/")

    page.locator("td a", has_text="Send again").click()
    page.wait_for_selector("dialog[open] form")
    page.locator("dialog button", has_text="Send again").click()
    page.wait_for_selector("dialog [aria-invalid]")

    assert page.evaluate("document.activeElement.name") == "reason"
    assert violations(page) == []
    assert factories.journal(Kind.PUSH_RESENT) == []


def test_a_retry_pass_is_run_from_its_dialog(browse, alice, bob):
    page = browse("ana")
    page.goto("/ops/scheduler/")

    page.locator("a", has_text="Run once").click()
    page.wait_for_selector("dialog[open] form")
    page.fill("dialog [name=reason]", "bob is gone")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Scanned 0 leases")

    assert len(factories.journal(Kind.AUTO_RETRY_SCAN)) == 1


def test_a_button_copies_the_task_id_to_the_clipboard(browse, alice, bob):
    task = factories.sent_task(alice, bob)
    page = browse("ana")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/ops/tasks/{task.uuid}/")

    page.locator("[data-copy=task-id]").click()
    page.wait_for_selector("[data-copied]")

    assert page.evaluate("navigator.clipboard.readText()") == str(task.uuid)


def shows_hostile_text(response):
    return response.get("Content-Type", "").startswith("text/html") and hostile.BACKWARDS in response.text


def test_hostile_text_breaks_neither_layout_nor_policy(browse, ana):
    world = hostile.world()
    page = browse("ana")

    shown = [path for path in paths(world) if shows_hostile_text(ana.get(path))]
    for path in shown:
        page.goto(path)
        fits(page, path)

    assert len(shown) > 15


def test_a_task_page_shows_a_repair_made_from_it(browse, alice, bob):
    lease = stale(alice, bob)
    page = browse("ana")
    page.goto(f"/ops/tasks/{lease.task.uuid}/")

    page.locator("main a", has_text="Requeue").click()
    page.wait_for_selector("dialog[open] form")
    page.check("dialog [value=operator_accepted]")
    page.fill("dialog [name=reason]", "pod killed")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Requeued. Attempt 1 stays recorded")
    page.wait_for_load_state()

    assert "pod killed" in page.inner_text("#states")
    assert page.locator("main a", has_text="Force error").count() == 0

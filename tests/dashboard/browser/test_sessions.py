"""Repairs of leases in a real browser: keys, dialogs, and refreshes while an operator works."""

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session

from mailbox.access.callers import Role
from mailbox.life import leasing
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.axe import violations
from tests.support.browser import stale

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.mark.smoke
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
    page.wait_for_selector("[role=status] p")

    assert "Requeued. Attempt 1 stays recorded" in page.inner_text("[role=status]")
    assert page.locator("dialog[open]").count() == 0
    assert page.evaluate("document.activeElement.closest('tr').id") == f"lease-{lease.lease_id}"
    assert "Requeued" in page.inner_text(f"#lease-{lease.lease_id}")
    assert violations(page) == []
    (applied,) = factories.journal(Kind.REPAIR_APPLIED)
    assert applied.fields["reason"] == "pod killed"
    lease.refresh_from_db()
    assert lease.ended_at is not None


def test_the_second_operator_sees_the_repair_of_the_first(browse, alice, bob):
    stale(alice, bob)
    pages = [browse("ana"), browse("ben")]
    for page in pages:
        page.goto("/ops/leases/")
        page.locator("td a", has_text="Requeue").click()
        page.wait_for_selector("dialog[open] form")
        page.check("dialog input[value=operator_accepted]")
        page.fill("dialog [name=reason]", f"reason {pages.index(page)}")

    pages[0].click("dialog button")
    pages[0].wait_for_selector("[role=status] p")
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


def test_a_refused_form_keeps_its_text_and_focuses_the_field(browse, alice, bob):
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


def test_a_table_is_held_while_a_dialog_is_open_and_refreshed_after(browse, alice, bob):
    stale(alice, bob)
    page = browse("ana", live=5)
    page.clock.install()
    page.goto("/ops/leases/")
    tick = "document.querySelector('[data-live]').dispatchEvent(new Event('live:tick'))"
    page.locator("td a", has_text="Requeue").click()
    page.wait_for_selector("dialog[open] form")
    stale(alice, bob)

    page.clock.fast_forward(6000)
    page.wait_for_selector("[data-changed]:not([hidden])")
    held = page.locator("#rows tbody tr").count()
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.evaluate(tick)
    page.locator("#rows tbody tr").nth(1).wait_for()

    assert held == 1


def test_a_live_page_of_an_ended_session_says_so_and_keeps_what_is_typed(browse, alice, bob):
    stale(alice, bob)
    page = browse("ana", live=5)
    page.clock.install()
    page.goto("/ops/leases/")
    page.fill("#go", "half a search")
    Session.objects.all().delete()

    page.clock.fast_forward(6000)
    page.wait_for_selector("[data-offline-since]:not([hidden]) a")

    assert "Signed out" in page.inner_text("[data-offline-since]")
    assert page.input_value("#go") == "half a search"
    assert page.get_attribute("[data-offline-since] a", "href") == "/ops/sign-in/?next=%2Fops%2Fleases%2F"
    assert violations(page) == []


def test_a_form_of_an_ended_session_is_sent_after_the_sign_in(browse, alice, bob):
    factories.person("ada", Role.OPERATOR)
    person = User.objects.get(username="ada")
    person.set_password("correct horse battery")
    person.save()
    page = browse("ada")
    page.goto("/ops/send/")
    page.fill("[name=recipient]", "bob@local")
    page.fill("textarea", "pay the invoice")
    Session.objects.all().delete()
    page.click("main form [data-submit], main form button.primary")
    page.wait_for_selector("#kept-form", state="attached")
    assert violations(page) == []

    with page.expect_popup() as opened:
        page.click("text=Sign in in another tab")
    tab = opened.value
    tab.fill("[name=username]", "ada")
    tab.fill("[name=password]", "correct horse battery")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/ops/")
    page.click("button.primary")
    page.wait_for_selector("text=The form expired")
    page.click("button.primary")  # the sign-in renewed the form token of this site

    page.wait_for_url("**/ops/tasks/**")
    assert "pay the invoice" in page.inner_text("main")

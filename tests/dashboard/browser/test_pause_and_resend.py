"""An agent is paused and resumed, and failed callbacks are sent again together, in a real browser."""

import pytest

from mailbox.access.callers import Role
from mailbox.models import Agent, PushDelivery
from mailbox.words.kinds import Kind
from tests.dashboard.test_deliveries import given_up, pending_callback
from tests.support import factories
from tests.support.axe import fits, violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


@pytest.mark.smoke
def test_an_agent_is_paused_and_resumed_from_the_message(browse, alice, bob):
    factories.leased_task(alice, bob)
    page = browse("ana")
    page.goto("/ops/agents/bob@local/")
    assert not page.locator("#id_reason").is_visible()

    page.click("#pausing summary")
    page.fill("#id_reason", "disk full")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=bob@local paused")
    page.click(".messages a")
    page.wait_for_selector("#id_reason:visible")
    page.fill("#id_reason", "disk freed")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=bob@local resumed.")

    assert Agent.objects.get(local="bob").paused_at is None
    assert [event.fields["reason"] for event in factories.journal(Kind.AGENT_RESUMED)] == ["disk freed"]


def test_selected_failed_callbacks_are_sent_again_from_a_dialog(browse, alice, bob):
    first, second = given_up(alice, bob), given_up(alice, bob)
    pending_callback(alice, bob)
    page = browse("ana")
    page.goto("/ops/deliveries/")

    page.check(f"#delivery-{first.delivery_id} [name=delivery]")
    page.wait_for_selector("text=1 selected")
    page.click(".bar button")
    page.wait_for_selector("dialog[open] form")
    assert violations(page) == []
    assert page.evaluate("document.querySelector('dialog').scrollTop") == 0
    page.fill("dialog [name=reason]", "receiver mended")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=1 sent again")

    states = dict(PushDelivery.objects.values_list("delivery_id", "state"))
    assert (states[first.delivery_id], states[second.delivery_id]) == ("pending", "disabled")


def test_sending_no_selected_callback_again_says_so_in_place(browse, alice, bob):
    given_up(alice, bob)
    page = browse("ana")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/ops/deliveries/")

    page.click("text=Send again…")
    page.wait_for_function("document.querySelector('[data-picked]').textContent === 'Nothing selected'")

    assert not [url for url in asked if "/resend/" in url]


def test_the_dialog_of_a_failed_callback_opens_at_its_top(browse, alice, bob):
    given_up(alice, bob)
    page = browse("ana")
    page.goto("/ops/deliveries/")

    page.locator("td a", has_text="Send again").click()
    page.wait_for_selector("dialog[open] form")

    assert page.evaluate("document.querySelector('dialog').scrollTop") == 0


@pytest.mark.parametrize("tab", ["agents", "grants", "keys", "people"])
def test_the_tabs_of_access_are_accessible_and_fit(browse, alice, bob, tab):
    factories.key_of(bob)
    page = browse("ada", Role.ADMIN)
    page.goto(f"/ops/access/?show={tab}")

    assert violations(page) == []
    fits(page, tab)

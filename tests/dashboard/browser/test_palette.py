"""The command palette opens by keys on every page, suggests while a person types, and fills keys in."""

import pytest

from tests.support import factories
from tests.support.axe import NARROW, WIDE, violations, violations_in_the_dark

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def test_the_palette_leads_to_what_is_typed_by_keys_alone(browse, alice, bob):
    task = factories.sent_task(alice, bob)
    page = browse("ana")
    page.goto("/ops/help/")

    page.keyboard.press("Control+k")
    page.wait_for_selector("#palette[open]")
    page.keyboard.type("state:que")
    page.wait_for_selector("#suggestions a:has-text('state:queued')")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ops/tasks/?q=state%3Aqueued")

    page.keyboard.press("/")
    page.keyboard.type("awai")
    page.click("#suggestions [data-fill]")
    assert page.input_value("#palette input") == "awaits:"
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type(task.uuid.hex[:8])
    page.wait_for_selector(f"#suggestions a[href='/ops/tasks/{task.uuid}/']")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/ops/tasks/{task.uuid}/")


def test_the_open_palette_is_accessible_and_fits(browse, alice, bob):
    factories.sent_task(alice, bob)
    page = browse("ana")
    page.goto("/ops/tasks/")

    page.keyboard.press("Control+k")
    page.keyboard.type("state:")
    page.wait_for_selector("#suggestions a:has-text('state:queued')")

    for width in (*NARROW, WIDE):
        page.set_viewport_size({"width": width, "height": 900})
        assert violations(page, contrast=width == WIDE) == [], width
        assert page.evaluate("document.querySelector('#palette').getBoundingClientRect().right <= innerWidth"), width
    assert violations_in_the_dark(page) == []

"""A person saves a query, gets back to it with one click, and all of that is accessible."""

import pytest

from tests.support.axe import FITS, NARROW, WIDE, violations, violations_in_the_dark

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def examine(page):
    for width in (*NARROW, WIDE):
        page.set_viewport_size({"width": width, "height": 900})
        assert violations(page, contrast=width == WIDE) == [], width
        assert page.evaluate(FITS), width


@pytest.mark.smoke
def test_a_view_is_saved_opened_and_deleted(browse):
    page = browse("ana")
    page.goto("/ops/tasks/?state=error")

    page.click(".saved summary")
    examine(page)
    page.fill(".saved [name=name]", "Failed")
    page.check(".saved [name=is_shared]")
    page.click(".saved button")
    page.wait_for_url("**/ops/tasks/?q=state%3Aerror")
    page.goto("/ops/tasks/")
    page.click("ul[aria-label='Saved views'] a")
    page.wait_for_url("**/ops/tasks/?q=state%3Aerror")

    page.click(".saved a:has-text('Views')")
    page.click("summary:has-text('Change')")
    examine(page)
    assert violations_in_the_dark(page) == []
    page.click("button:has-text('Delete')")
    page.wait_for_selector("text=No saved views yet")

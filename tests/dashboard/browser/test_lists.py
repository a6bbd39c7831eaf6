"""Lists in wide and narrow windows: dense rows, cards, and nothing that is clipped."""

import pytest

from tests.support.axe import violations
from tools.screenshots import hub

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

LISTS = (
    *("leases/", "tasks/", "results/?delivery=all", "audit/", "agents/", "repairs/", "repairs/bulk/"),
    *("idempotency/", "scheduler/dry-run/", "deliveries/", "failures/", "access/", "access/?show=grants", "map/"),
)
CLIPPED = """() => [
  ...(document.documentElement.scrollWidth > innerWidth ? [`the page: ${document.documentElement.scrollWidth}`] : []),
  ...[...document.querySelectorAll('.scroll:has(> table > [data-list])')]
    .filter(box => box.scrollWidth > box.clientWidth).map(box => `${box.ariaLabel}: ${box.scrollWidth}`),
]"""
LABELS = """() => [...document.querySelector('[data-list] > tr').querySelectorAll('td')]
  .map(cell => getComputedStyle(cell, '::before').content.slice(1, -2))"""
UNNAMED = """() => [...document.querySelectorAll('[data-list] > tr > td:not(.pick, .verbs, [colspan])')]
  .map(cell => [cell.innerText, getComputedStyle(cell, '::before').content])
  .filter(([text, label]) => text && label === 'none')"""
TALL = """() => [...document.querySelectorAll('[data-list] > tr')]
  .map(row => Math.round(row.getBoundingClientRect().height)).filter(height => height > 36)"""
OVERLAPS = """() => [...document.querySelectorAll('nav li')].filter(place => {
  const [link, count] = place.children, words = document.createRange();
  words.selectNodeContents(link);
  const right = Math.max(...[...words.getClientRects()].map(one => one.right));
  return count && count.textContent && count.offsetTop < link.offsetTop + link.offsetHeight
    && right > count.getBoundingClientRect().left;
}).map(place => place.innerText)"""


def test_a_narrow_window_shows_lists_as_cards_below_a_header_of_two_rows(browse):
    hub.on_fire()
    page = browse("ana", width=390)

    for path in LISTS:
        page.goto(f"/ops/{path}")
        assert page.evaluate(CLIPPED) == [], path
        assert page.evaluate("document.querySelector('header').offsetHeight") <= 100, path
    page.goto("/ops/tasks/")
    row, title = page.locator("[data-list] tr").first, page.locator("[data-list] .name").first
    assert title.bounding_box()["width"] > row.bounding_box()["width"] * 0.9


@pytest.mark.parametrize("path", ["", "health/", "scheduler/", "access/?show=people", "agents/hotels@local/"])
def test_tables_beside_lists_are_cards_in_a_narrow_window(browse, path):
    hub.on_fire()
    page = browse("ana", width=390)

    page.goto(f"/ops/{path}")

    assert page.locator(".scroll > table > [data-cards]").count()
    assert page.evaluate(CLIPPED.replace("[data-list]", "[data-cards]")) == []
    assert page.evaluate("getComputedStyle(document.querySelector('[data-cards] > tr')).display") == "flex"


def test_the_cells_of_cards_are_labelled_without_scripts(browse):
    hub.on_fire()
    page = browse("ana", width=390, scripts=False)

    for path in LISTS:
        page.goto(f"/ops/{path}")
        assert page.evaluate(UNNAMED) == [], path

    page.goto("/ops/tasks/")
    assert page.evaluate(LABELS) == ["state", "attempts", "sent", "age", "safety", "id"]


def test_the_export_of_a_list_stays_in_sight_if_the_list_is_wider_than_its_box(browse):
    hub.on_fire()
    page = browse("ana", width=1000)

    page.goto("/ops/leases/")

    assert page.evaluate(CLIPPED) != []
    box, export = page.locator(".scroll").bounding_box(), page.locator(".twins").bounding_box()
    assert export["x"] + export["width"] <= box["x"] + box["width"]


def test_compact_rows_are_at_most_36_pixels_high(browse, live_server):
    hub.on_fire()
    page = browse("ana")
    page.context.add_cookies([{"name": "ops_density", "value": "compact", "url": f"{live_server.url}/ops/"}])

    for path in LISTS:
        page.goto(f"/ops/{path}")
        assert page.evaluate(TALL) == [], path
        assert page.evaluate(CLIPPED) == [], path


@pytest.mark.smoke
def test_the_verbs_of_a_row_appear_on_focus_and_on_selection(browse):
    hub.on_fire()
    page = browse("ana")
    page.goto("/ops/leases/")
    row = page.locator("[data-list] tr").first
    verb = row.locator(".verbs a").first

    before = verb.evaluate("one => getComputedStyle(one).opacity")
    verb.focus()
    focused = verb.evaluate("one => getComputedStyle(one).opacity")
    page.evaluate("document.activeElement.blur()")
    row.locator("input").check()
    page.evaluate("document.activeElement.blur()")

    assert (before, focused, verb.evaluate("one => getComputedStyle(one).opacity")) == ("0", "1", "1")


def test_no_count_of_the_navigation_overlaps_its_place(browse):
    page = browse("ana")
    page.goto("/ops/deliveries/")
    page.evaluate(
        """() => { for (const one of document.querySelectorAll('nav .count')) one.textContent = '148 failed';
        document.querySelector('nav').style.fontFamily = 'DejaVu Sans'; }"""
    )

    assert page.evaluate(OVERLAPS) == []
    assert violations(page) == []


def test_a_preview_of_no_lease_says_so_in_place(browse):
    hub.on_fire()
    page = browse("ana", width=320)
    page.goto("/ops/leases/")

    page.click("text=Preview requeue")
    said = page.inner_text("[data-picked]")
    page.check("[name=everything]")
    page.click("text=Preview requeue")
    page.wait_for_url("**/ops/repairs/*/")

    assert said == "Nothing selected"
    assert page.evaluate(CLIPPED) == []

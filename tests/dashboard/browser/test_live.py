"""Live refreshes of the pages, and the keyboard shortcuts."""

import re

import pytest
from django.utils import timezone

from mailbox.life import leasing, results
from mailbox.words.envelopes import ResultStatus
from tests.support import factories, talking
from tests.support.browser import stale

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

TICK = "document.dispatchEvent(new Event('visibilitychange'))"
SHIFTED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(window.shift))))"
BOXES = """[...document.querySelectorAll('button, a, input')].filter(one => !one.closest('[data-changed]'))
  .map(one => JSON.stringify(one.getBoundingClientRect()))"""


def test_a_table_in_use_is_held_and_counts_the_changes(browse, alice, bob):
    lease = stale(alice, bob)
    page = browse("ana", live=5)
    page.goto("/ops/leases/")
    page.locator("#rows a.name").focus()
    before = page.evaluate(BOXES)
    stale(alice, bob)
    leasing.heartbeat(bob, lease.task.uuid, lease_id=lease.lease_id)

    page.evaluate(TICK)
    page.wait_for_selector("[data-changed]:not([hidden])")

    assert page.inner_text("[data-changed] span") == "Updates paused while you work · 1 row changed · +1 new"
    assert page.locator("#rows tbody tr").count() == 1
    assert page.evaluate(BOXES) == before
    page.click("[data-changed] button")
    page.locator("#rows tbody tr").nth(1).wait_for()
    assert page.locator("[data-changed]").is_hidden()


def test_a_long_table_updates_in_place_and_adds_no_rows_by_itself(browse, alice, bob):
    leases = [stale(alice, bob) for _ in range(26)]
    page = browse("ana", live=5)
    page.goto("/ops/leases/")
    first = page.locator("#rows tbody tr").first
    seen = first.locator("time").last.get_attribute("datetime")
    order = page.locator("#rows tbody td code").all_inner_texts()
    leasing.heartbeat(bob, leases[0].task.uuid, lease_id=leases[0].lease_id)
    stale(alice, bob)

    page.evaluate(TICK)
    page.wait_for_selector("[data-changed]:not([hidden])")

    assert page.inner_text("[data-changed] span") == "+1 new"
    assert first.locator("time").last.get_attribute("datetime") > seen
    assert page.locator("#rows tbody td code").all_inner_texts() == order


def test_a_conversation_grows_and_an_open_artifact_stays_open(browse, alice, bob):
    lease = factories.leased_task(alice, bob)
    talking.made(bob, lease.task, "the first offer " * 200)
    talking.told(bob, lease.task, "one")
    page = browse("ana", live=5)
    page.goto(f"/ops/tasks/{lease.task.uuid}/")
    talking.told(bob, lease.task, "two")

    page.evaluate(TICK)
    page.locator(".words", has_text="two").wait_for()
    page.locator(".artifact > summary").click()
    talking.told(bob, lease.task, "three")
    page.evaluate(TICK)

    page.locator(".words", has_text="three").wait_for()
    assert page.locator(".artifact").get_attribute("open") is not None
    assert page.evaluate("document.activeElement.matches('.artifact summary')")


def test_an_operator_ends_an_interrupted_task_in_a_dialog(browse, alice, bob):
    lease = factories.leased_task(alice, bob)
    talking.asked(bob, lease, "Which nights?")
    page = browse("ana")
    page.goto(f"/ops/tasks/{lease.task.uuid}/")

    page.locator("#question a", has_text="Force error").click()
    page.fill("dialog [name=reason]", "the sender is gone")
    page.click("dialog [data-submit]")

    page.get_by_text("Task closed as an error").first.wait_for()
    assert page.locator("#question").count() == 0


def test_a_page_that_loses_the_hub_shows_since_when(browse):
    page = browse("ana", live=60, may_fail=True)
    page.goto("/ops/leases/")
    shown = page.inner_text("[data-clock]")
    page.route("**/ops/leases/", lambda route: route.abort())

    for _ in range(2):
        with page.expect_event("requestfailed"):
            page.evaluate(TICK)
    early = page.locator("[data-offline-since]").is_visible()
    page.evaluate(TICK)
    page.wait_for_selector("[data-offline-since]:not([hidden])")

    assert not early
    assert page.inner_text("[data-offline-since]") == f"Not live since {shown}, retrying"
    page.unroute("**/ops/leases/")
    page.evaluate(TICK)
    page.wait_for_selector("[data-offline-since]", state="hidden")


def test_a_live_refresh_updates_the_menu_counts_and_the_title(browse, alice, bob):
    page = browse("ana", live=5)
    page.goto("/ops/leases/")
    stale(alice, bob)

    page.evaluate(TICK)
    page.locator("nav [data-count=leases]", has_text="1 stale").wait_for()

    assert page.title().startswith("(1) Leases")
    assert page.get_attribute("link[rel=icon]", "href").endswith("stale=1")
    assert page.inner_text("[data-announce]") == ""  # screen readers get at most one announcement in half a minute


def test_twenty_refreshes_of_the_leases_shift_nothing(browse, alice, bob):
    page = browse("ana", live=5)
    page.goto("/ops/leases/")
    page.evaluate(
        "() => { window.shift = 0; new PerformanceObserver(list => {"
        " for (const one of list.getEntries()) { window.shift += one.value; window.moved = [...(window.moved || []),"
        " ...one.sources.map(s => (s.node.outerHTML || s.node.textContent).slice(0, 120))]; }"
        " }).observe({type: 'layout-shift'}); }"
    )
    stale(alice, bob)
    for _ in range(20):
        with page.expect_event("requestfinished"):
            page.evaluate(TICK)
    page.locator("#rows tbody tr").wait_for()

    assert page.evaluate(SHIFTED) == 0, page.evaluate("window.moved")


def test_a_growing_age_moves_no_column(browse, alice, bob):
    stale(alice, bob)
    page = browse("ana")
    page.goto("/ops/leases/")

    places = page.evaluate(
        """ages => ages.map(age => {
            for (const one of document.querySelectorAll('td .age')) one.textContent = age;
            return [...document.querySelectorAll('td')].map(one => JSON.stringify(one.getBoundingClientRect())).join();
        })""",
        ["0 s", "10 s", "59 m 59 s", "23 h 59 m", "39 d 23 h"],
    )

    assert len(set(places)) == 1


def test_keyboard_shortcuts_open_pages_dialogs_and_the_search_box(browse, alice, bob):
    lease = stale(alice, bob)
    page = browse("ana")
    page.clock.set_fixed_time(timezone.now())  # two keys count as one shortcut even on a slow machine
    page.goto("/ops/")

    page.keyboard.press("g")
    page.keyboard.press("l")
    page.wait_for_url("**/ops/leases/")
    page.keyboard.press("j")
    page.keyboard.press("r")
    page.wait_for_selector("dialog[open] form")
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type(f"{lease.task.uuid}")
    page.keyboard.press("Enter")

    page.wait_for_url(f"**/ops/tasks/{lease.task.uuid}/")
    page.keyboard.press("?")
    page.locator("dialog[open]", has_text="next or previous row").wait_for()


def test_a_key_changes_the_theme_and_the_choice_is_kept(browse):
    page = browse("ana", theme="light")
    page.goto("/ops/help/")

    with page.expect_response("**/ops/settings/"):
        page.keyboard.press("t")
    page.goto("/ops/help/")

    assert page.get_attribute("html", "data-theme") == "dark"


def test_keyboard_shortcuts_can_be_switched_off(browse):
    page = browse("ana")
    page.route(
        "**/ops/help/",
        lambda route: route.fulfill(
            response=(response := route.fetch()),
            body=re.sub("<html", '<html data-shortcuts="off"', response.text(), count=1),
        ),
    )
    page.goto("/ops/help/")

    page.keyboard.press("/")

    assert page.evaluate("document.activeElement.tagName") == "BODY"


def test_a_narrow_window_has_a_menu_button_that_needs_no_script(browse):
    page = browse("ana", width=320, scripts=False)
    page.goto("/ops/leases/")

    assert page.locator("nav").is_hidden()
    page.click("header .menu")
    page.locator("nav a", has_text="Tasks").click()

    page.wait_for_url("**/ops/tasks/")


def test_a_message_stays_until_the_person_dismisses_it(browse, alice, bob):
    page = browse("ana")
    page.goto("/ops/agents/bob@local/")
    page.click("#pausing summary")
    page.fill("[name=reason]", "disk full")
    page.click("#pausing button.primary")

    page.wait_for_selector(".messages p")
    page.click("[data-dismiss]")

    assert page.locator(".messages p").count() == 0
    assert factories.row_of(bob).display == "bob@local"


def test_a_tree_opens_in_place_and_is_navigated_by_keys(browse, alice, bob):
    root = stale(alice, bob).task
    wrong = stale(alice, bob, parent=root.uuid, intent_text="charge the card")
    results.post_result(
        bob, factories.result_envelope(wrong.task, status=ResultStatus.ERROR, error_message="no", content=[])
    )
    for number in range(7):
        factories.sent_task(alice, bob, parent=root.uuid, task_kind="fetch", intent_text=f"fetch {number}")
    page = browse("ana", live=5)
    page.goto(f"/ops/trees/{root.uuid}/")
    page.evaluate("window.same = true")

    page.locator("a", has_text="expand: fetch").click()
    page.locator("tr", has_text="fetch 6").wait_for()
    page.keyboard.press("e")
    failed = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("o")
    page.wait_for_selector("tr.detail")

    assert failed == "charge the card"
    assert page.evaluate("window.same")
    assert f"focus={wrong.task.uuid}" in page.url
    assert page.evaluate("document.activeElement.textContent") == failed
    page.keyboard.press("[")
    page.wait_for_url("**depth=1**")

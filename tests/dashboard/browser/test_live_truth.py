"""Live pages of a hub with an hour of work: what they show is true, and stays so."""

import re
from datetime import timedelta

import pytest

from mailbox.life import leasing, results
from mailbox.models import Lease
from mailbox.words.envelopes import ResultStatus
from tests.dashboard.conftest import path_of
from tests.support import factories, talking
from tools.screenshots import hub

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

TICK = "document.dispatchEvent(new Event('visibilitychange'))"
NEWER = "known => Number(document.querySelector('tbody[data-list] td:last-child').innerText) > known"
PILL = "[data-changed]:not([hidden])"


def number_in(page, selector):
    return int(re.sub(r"\D", "", page.locator(selector).first.inner_text()))


def answered(worker, lease):
    results.post_result(worker, factories.result_envelope(lease.task, lease_id=lease.lease_id))


@pytest.mark.smoke
def test_the_figures_of_a_busy_overview_update_by_themselves(browse):
    scene = hub.on_fire()
    page = browse("ana", live=5)
    page.goto("/ops/")
    queued, decisions = (number_in(page, one) for one in (".tiles strong", "#decide"))
    errors = page.inner_text(".tiles li:last-child")
    badge, ages = page.inner_text("nav [data-count=leases]"), page.inner_text("#ages")
    for number in range(3):
        scene.send("planner", "writer", f"Write chapter {number}")
    with scene.ago(minutes=8):
        scene.lease(scene.send("planner", "flights", "Find a way back"))
    scene.whole("planner", "hotels", "Book", ago=0.2, took=1, status=ResultStatus.ERROR, error="no room")

    page.evaluate(TICK)
    page.locator(".tiles strong", has_text=re.compile(f"^{queued + 3}$")).first.wait_for()

    assert page.inner_text(".tiles li:last-child") != errors
    assert number_in(page, "#decide") >= decisions
    assert badge == "6 stale"
    assert page.inner_text("nav [data-count=leases]") == "7 stale"
    assert page.inner_text("#ages") != ages
    assert page.locator(PILL).count() == 0


def test_the_page_of_a_busy_agent_updates_by_itself(browse):
    scene = hub.calm()
    page = browse("ana", live=5)
    page.goto("/ops/agents/hotels@local/")
    before = page.inner_text("#rows")
    scene.whole("planner", "hotels", "Book", ago=0.2, took=1, status=ResultStatus.ERROR, error="no room")
    scene.send("planner", "hotels", "Book another one")

    page.evaluate(TICK)
    page.wait_for_function("before => document.querySelector('#rows').innerText !== before", arg=before)

    assert page.locator(PILL).count() == 0


def test_a_row_that_newer_ones_push_off_the_page_is_not_struck_through(browse):
    scene = hub.calm()
    pages = [browse("ana", live=5) for _ in range(3)]
    for page, path in zip(pages, ("audit/", "tasks/", "results/?delivery=all"), strict=True):
        page.goto(f"/ops/{path}")
        assert page.locator("tbody[data-list] tr").count() == 50
    for number in range(12):
        scene.whole("planner", "writer", f"Write chapter {number}", ago=0.5, took=1)

    for page in pages:
        page.evaluate(TICK)
        page.wait_for_selector(PILL)

        assert re.fullmatch(r"\+\d+ new", page.inner_text(f"{PILL} span"))
        assert page.locator("[data-gone]").count() == 0


def test_an_audit_page_that_follows_shows_new_events_at_the_top_by_themselves(browse):
    scene = hub.calm()
    page = browse("ana", live=5)
    page.goto("/ops/audit/")
    page.click("text=Follow new events")
    page.wait_for_url("**follow=1")
    newest, total = number_in(page, "tbody[data-list] td:last-child"), number_in(page, "caption b")
    rows = page.locator("tbody[data-list] tr")
    scene.whole("planner", "writer", "Write chapter 1", ago=0.2, took=1, status=ResultStatus.ERROR, error="no paper")

    page.evaluate(TICK)
    page.wait_for_function(NEWER, arg=newest)

    assert page.locator(PILL).count() == page.locator("[data-gone]").count() == 0
    assert rows.count() == 50
    assert "answered with an error" in rows.first.inner_text()
    assert number_in(page, "caption b") > total

    page.evaluate("document.querySelector('tbody[data-list]').lastElementChild.scrollIntoView()")
    newest = number_in(page, "tbody[data-list] td:last-child")
    scene.whole("planner", "writer", "Write chapter 2", ago=0.2, took=1)
    page.evaluate(TICK)
    page.wait_for_selector(PILL)

    assert number_in(page, "tbody[data-list] td:last-child") == newest


def test_only_a_lease_that_ended_is_struck_through(browse, alice, bob):
    for number in range(30):
        factories.sent_task(alice, bob, intent_text=f"task {number}")
    leases = leasing.lease_tasks(bob, limit=30)
    page = browse("ana", live=5)
    page.goto("/ops/leases/")
    page.locator("#rows a.name").nth(5).focus()
    answered(bob, leases[9])

    page.evaluate(TICK)
    page.wait_for_selector(PILL)

    assert page.inner_text(f"{PILL} span") == "Updates paused while you work · 1 row changed"
    (struck,) = page.locator("[data-gone]").evaluate_all("rows => rows.map(row => row.id)")
    assert struck == f"lease-{leases[9].lease_id}"


def test_a_task_that_leaves_a_filtered_list_is_struck_through(browse, alice, bob):
    for number in range(30):
        factories.sent_task(alice, bob, intent_text=f"task {number}")
    page = browse("ana", live=5)
    page.goto("/ops/tasks/?state=queued")
    leasing.lease_tasks(bob, limit=2)

    page.evaluate(TICK)
    page.wait_for_selector(PILL)

    assert page.inner_text(f"{PILL} span") == "2 rows changed"
    assert sorted(page.locator("[data-gone] .name").all_inner_texts()) == ["task 0", "task 1"]


def test_a_list_whose_rows_all_ended_strikes_them_through(browse, alice, bob):
    lease = factories.leased_task(alice, bob)
    page = browse("ana", live=5)
    page.goto("/ops/leases/")
    page.locator("#rows a.name").focus()
    answered(bob, lease)

    page.evaluate(TICK)

    page.locator("[data-gone]").wait_for()


def test_changes_that_a_person_held_appear_when_the_person_leaves_the_list(browse, alice, bob):
    for _ in range(30):
        factories.sent_task(alice, bob)
    leases = leasing.lease_tasks(bob, limit=30)
    page = browse("ana", live=5)
    page.goto("/ops/leases/")
    page.locator("#rows a.name").first.focus()
    Lease.objects.filter(pk=leases[7].pk).update(last_seen_at=leases[7].leased_at + timedelta(seconds=5))
    page.evaluate(TICK)
    page.wait_for_selector(PILL)

    page.evaluate("document.activeElement.blur()")
    page.evaluate(TICK)

    page.wait_for_selector("[data-changed]", state="hidden")
    assert page.locator(f"#lease-{leases[7].lease_id} time").count() == 2


def test_the_answer_of_a_task_appears_by_itself(browse):
    scene = hub.calm()
    with scene.ago(seconds=30):
        lease = scene.lease(scene.send("planner", "flights", "Find a way back"))
    page = browse("ana", live=5)
    page.goto(path_of(lease.task))
    talking.told(scene["flights"], lease.task, "Twelve flights found.")
    child = scene.send("flights", "scraper", "Scrape the prices", parent=lease.task.uuid)
    scene.answer(lease)

    page.evaluate(TICK)
    page.get_by_text("Hotel Lisboa Plaza, 3 nights, 412 EUR").first.wait_for()

    assert page.locator(f"main a[href='{path_of(child)}']").count()
    assert page.get_by_text("Twelve flights found.").count()

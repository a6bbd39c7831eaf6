"""The promises of the dashboard that protect operators from lost work, each tested in a real browser."""

import random
from datetime import timedelta

import pytest
from django.utils import timezone

from mailbox.life import leasing, results
from mailbox.models import AuditEvent, Lease, RepairPlan
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.browser import stale
from tests.support.plans import outcomes

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

TICK = "document.dispatchEvent(new Event('visibilitychange'))"
SHOWS = "leases => leases.every(id => document.getElementById(`lease-${id}`))"
SEEN = "document.querySelector('[data-live]').dataset.seen"
BOXES = """() => Object.fromEntries([...document.querySelectorAll('button, .button')].map((one, at) => {
    const row = one.closest('tr'), box = one.getBoundingClientRect();
    return box.width && [`${row ? row.id : at} ${one.textContent}`, [box.x, box.y, box.width, box.height].join()];
}).filter(Boolean))"""
AREA = """() => {
    const {right, top, height} = document.querySelector('#rows tbody').getBoundingClientRect();
    return {right, top, height};
}"""
WATCH_PRESSES = """() => {
    window.pressed = null;
    addEventListener('pointerdown', e => {
        const link = e.target.closest('a.button');
        window.pressed = link && {row: link.closest('tr').id, verb: link.pathname.split('/').at(-2)};
    }, true);
}"""


def open_form(page, reason):
    page.goto("/ops/leases/?state=stale")
    page.locator("td a", has_text="Requeue").click()
    page.wait_for_selector("dialog[open] form")
    page.check("dialog input[value=operator_accepted]")
    page.fill("dialog [name=reason]", reason)


def finish(bob, lease):
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))


@pytest.mark.smoke
def test_the_second_operator_on_a_lease_changes_nothing_and_sees_why(browse, alice, bob):
    lease = stale(alice, bob)
    ana, ben = browse("ana"), browse("ben")
    open_form(ana, "pod killed, INC-4412")
    open_form(ben, "looks dead to me")

    ana.click("dialog button")
    ana.wait_for_selector("[role=status] p")
    journal_before = AuditEvent.objects.count()
    ben.click("dialog button")
    ben.wait_for_selector("dialog .conflict")

    panel = ben.inner_text("dialog .conflict")
    assert "Nothing was changed" in panel
    assert "user:ana" in panel
    assert "pod killed, INC-4412" in panel
    lease.task.refresh_from_db()
    assert (lease.task.state, lease.task.attempt) == ("queued", 1)
    (applied,) = factories.journal(Kind.REPAIR_APPLIED)
    (refused,) = factories.journal(Kind.REPAIR_REFUSED)
    assert (applied.actor, refused.actor) == ("user:ana", "user:ben")
    assert AuditEvent.objects.count() == journal_before + 1


def test_a_repair_leaves_a_task_alone_that_was_leased_again(browse, alice, bob):
    lease = stale(alice, bob)
    ana = browse("ana")
    open_form(ana, "pod killed")

    leasing.release(bob, lease.task.uuid, lease_id=lease.lease_id, reason="restart")
    (again,) = leasing.lease_tasks(bob)
    ana.click("dialog button")
    ana.wait_for_selector("dialog .conflict")

    assert again.task == lease.task
    again.refresh_from_db()
    assert again.ended_at is None
    assert factories.journal(Kind.REPAIR_APPLIED) == []
    assert "attempt 2" in ana.inner_text("dialog .conflict")


def test_a_click_always_acts_on_the_row_under_the_pointer(browse, alice, bob):
    live = [stale(alice, bob) for _ in range(12)]
    page = browse("ana", live=5)
    page.goto("/ops/leases/")
    page.evaluate(WATCH_PRESSES)
    looks = []
    page.on("request", lambda request: looks.append(request) if request.headers.get("x-seen") else None)
    chance = random.Random(6768)  # noqa: S311 no secret depends on it
    hits = 0

    for number in range(60):
        if number % 4 == 0:
            finish(bob, live.pop(chance.randrange(len(live))))
            live.append(stale(alice, bob))
        if number % 5 == 4:  # leave the table idle for a moment, so that it refreshes
            page.mouse.move(5, 5)
            page.evaluate("document.activeElement.blur(); getSelection().empty()")
        page.evaluate(TICK)
        if number % 10 == 9:
            page.wait_for_function(SHOWS, arg=[str(lease.lease_id) for lease in live])
        else:  # the answer may come before, during and after the click
            page.wait_for_timeout(chance.uniform(0, 50))
        area = page.evaluate(AREA)  # one call, because the table may be swapped between two calls
        page.mouse.move(area["right"] - chance.uniform(15, 185), area["top"] + chance.uniform(0, area["height"]))
        page.mouse.down()
        page.mouse.up()
        pressed = page.evaluate("window.pressed")
        if pressed is None:
            continue
        hits += 1
        page.wait_for_selector("dialog[open] h1")
        lease_id = pressed["row"].removeprefix("lease-")
        panel = page.locator("#dialog > *")
        if panel.get_attribute("action"):
            assert panel.get_attribute("action") == f"/ops/leases/{lease_id}/{pressed['verb']}/"
            assert page.input_value("dialog [name=lease_id]") == lease_id
        else:  # the lease ended while its row was still on the screen
            assert panel.locator(f"a[href='/ops/leases/{lease_id}/']").count() > 0
        page.keyboard.press("Escape")
        page.wait_for_selector("dialog[open]", state="hidden")

    assert hits > 20
    assert len(looks) >= 40
    assert factories.journal(Kind.REPAIR_APPLIED) == []


def test_no_button_moves_by_itself(browse, alice, bob):
    live = [stale(alice, bob) for _ in range(30)]
    page = browse("ana", live=5)
    page.goto("/ops/leases/")
    before = page.evaluate(BOXES)

    for number in range(10):
        finish(bob, live.pop(number))
        stale(alice, bob)
        seen = page.evaluate(SEEN)
        page.evaluate(TICK)
        page.wait_for_function(f"before => {SEEN} !== before", arg=seen)
        assert page.evaluate(BOXES).items() >= before.items()
    assert len([name for name in before if name.startswith("lease-")]) == 60


def test_a_bulk_repair_leaves_leases_alone_that_ended_after_the_preview(browse, alice, bob):
    for _ in range(120):
        factories.sent_task(alice, bob, idempotency=factories.idempotent())
    live = leasing.lease_tasks(bob, limit=120)
    Lease.objects.update(leased_at=timezone.now() - timedelta(minutes=41))
    factories.leased_task(alice, bob, idempotency=factories.idempotent())
    page = browse("ana")
    page.goto("/ops/leases/?state=stale")

    page.check("[name=everything]")
    assert "all 120 matching state:stale" in page.inner_text(".bar")
    page.click("text=Preview requeue")
    assert "Requeue 120 leases" in page.inner_text("h1")
    for lease in live[100:103]:
        finish(bob, lease)
    page.fill("[name=reason]", "hotels pod lost, INC-4412")
    page.fill("[name=typed]", "120")
    page.click("form.repair [data-submit]")
    page.wait_for_selector(".receipt")
    page.wait_for_load_state()
    while page.locator("progress").count():
        page.click("text=Continue")
        page.wait_for_load_state()

    receipt = page.inner_text(".receipt")
    for part in ("120 planned", "117 requeued", "0 leases changed", "3 completed meanwhile", "0 failed"):
        assert part in receipt
    assert outcomes(RepairPlan.objects.get()) == {"done": 117, "completed": 3}
    page.click(".receipt a[href='?show=completed']")
    page.wait_for_url("**/?show=completed")
    assert page.locator("#rows tbody tr").count() == 3
    assert Lease.objects.live().count() == 1


def test_leases_are_selected_by_row_by_range_and_all_at_once(browse, alice, bob):
    for _ in range(6):
        stale(alice, bob)
    page = browse("ana")
    page.goto("/ops/leases/")
    boxes = page.locator("[name=lease]")

    boxes.nth(1).click()
    boxes.nth(4).click(modifiers=["Shift"])
    ranged = [boxes.nth(at).is_checked() for at in range(6)]
    selected = page.inner_text("[data-picked]")
    page.locator("[data-pick-all]").click()

    assert ranged == [False, True, True, True, True, False]
    assert selected == "4 selected"
    assert page.inner_text("[data-picked]") == "6 selected"


def test_stale_leases_are_repaired_without_scripts_singly_and_in_bulk(browse, alice, bob):
    for _ in range(3):
        stale(alice, bob, idempotency=factories.idempotent())
    page = browse("ana", scripts=False)

    page.goto("/ops/")
    page.locator("main a[href*='state=stale']").first.click()
    page.locator("td a", has_text="Requeue").first.click()
    page.check("input[value=idempotent]")
    page.fill("[name=reason]", "pod killed")
    page.click("button[data-submit]")
    page.locator("[role=status] a").click()
    single = page.inner_text("main")
    page.goto("/ops/leases/?state=stale")
    for box in page.locator("[name=lease]").all():
        box.check()
    page.click("text=Preview requeue")
    page.fill("[name=reason]", "pod killed, all of it")
    page.click("form.repair [data-submit]")

    assert "pod killed" in single
    assert "2 requeued" in page.inner_text(".receipt")
    page.wait_for_load_state()
    assert page.locator("[data-pick-all]").count() == 0


def test_a_lease_is_repaired_from_the_overview_in_at_most_twelve_keys(browse, alice, bob):
    lease = stale(alice, bob)
    page = browse("ana")
    page.clock.set_fixed_time(timezone.now())  # two keys count as one shortcut even on a slow machine
    page.goto("/ops/")
    pressed = []

    def press(*keys):
        for key in keys:
            pressed.append(key)
            page.keyboard.press(key)

    press("g", "l")
    page.wait_for_url("**/ops/leases/**")
    press("j", "r")
    page.wait_for_selector("dialog[open] form")
    press("Space", "Tab")
    page.keyboard.type("pod killed, INC-4412")
    press("Enter")
    page.wait_for_selector("[role=status] p")

    lease.refresh_from_db()
    assert (lease.end, lease.ended_at is not None and lease.ended_at <= timezone.now()) == ("requeue", True)
    assert len(pressed) <= 12

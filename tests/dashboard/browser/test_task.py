"""The page of a task on a hub with an hour of work: its error, its answer and its words are seen at once."""

import pytest

from mailbox.life import leasing, results
from mailbox.models import Lease, Task
from mailbox.words.envelopes import ResultStatus
from tests.support import factories, talking
from tools.screenshots import hub

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

TICK = "document.dispatchEvent(new Event('visibilitychange'))"
SCREENS = ((1440, 900), (390, 844))


def bottom_of(page, text):
    box = page.locator("main").get_by_text(text).first.bounding_box()
    return box["y"] + box["height"]


@pytest.mark.smoke
def test_the_error_and_the_words_of_a_task_are_on_the_first_screen(browse):
    scene = hub.calm()
    failed = Task.objects.filter(outcome=ResultStatus.ERROR).latest("pk")
    with scene.ago(minutes=2):
        lease = scene.lease(scene.send("planner", "scraper", "Read the reviews"))
        talking.told(scene["scraper"], lease.task, "Four of five guests liked it.", progress=0.75)
    page = browse("ana")

    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"/ops/tasks/{failed.uuid}/")
        assert bottom_of(page, "the page answered 503") < height
        page.goto(f"/ops/tasks/{lease.task.uuid}/")
        assert bottom_of(page, "Four of five guests liked it.") < height
        assert page.locator("#state progress").bounding_box()["y"] < height


@pytest.mark.parametrize("width", [1440, 390])
def test_the_verbs_of_a_task_and_a_lease_can_be_clicked_on_every_screen(browse, width):
    hub.on_fire()
    lease = Lease.objects.live().with_task().filter(holder__display="scraper@local").earliest("leased_at")
    ended = Task.objects.filter(outcome=ResultStatus.ERROR).latest("pk")
    page = browse("ana", width=width)

    for path in (f"leases/{lease.lease_id}/", f"tasks/{lease.task.uuid}/"):
        page.goto(f"/ops/{path}")
        for verb in ("Requeue", "Force error"):
            page.locator("main").get_by_role("link", name=verb).click(trial=True)
    page.goto(f"/ops/tasks/{ended.uuid}/")
    page.locator("main").get_by_role("link", name="Send a copy").click(trial=True)


@pytest.mark.parametrize("status", ["ok", "error"])
def test_the_answer_of_a_task_sent_by_hand_appears_by_itself(browse, status):
    scene = hub.calm()
    page = browse("ana", live=5)
    page.goto("/ops/send/?recipient=scraper@local&intent_text=look+at+INC-4412")
    page.click("main [data-submit]")
    page.get_by_text("The result will appear here.").first.wait_for()
    loaded = page.evaluate("performance.timeOrigin")
    (lease,) = leasing.lease_tasks(scene["scraper"])
    answer = {"content": [talking.block("all is well")]} if status == "ok" else {"error_message": "no such incident"}
    envelope = factories.result_envelope(lease.task, **{"status": status, "content": [], **answer})
    results.post_result(scene["scraper"], envelope)

    page.evaluate(TICK)
    page.get_by_role("button", name="Mark as read").wait_for()

    assert page.locator("main").get_by_text("all is well" if status == "ok" else "no such incident").first.is_visible()
    assert page.evaluate("performance.timeOrigin") == loaded


def test_the_path_of_a_json_value_is_copied(browse, alice, bob):
    lease = factories.leased_task(alice, bob)
    talking.made(bob, lease.task, {"type": "json", "value": {"offers": [{"eur": 412}]}})
    page = browse("ana")
    page.goto(f"/ops/tasks/{lease.task.uuid}/")
    page.evaluate("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")

    page.locator(".json summary", has_text="offers").click()
    page.get_by_role("button", name="Copy the path $.offers").click()

    assert page.evaluate("window.copied") == "$.offers"

"""The top of a task's page: its state, its error and its progress; and the parts that a live page follows."""

import pytest

from mailbox.life import leasing, results, updates
from mailbox.models import PushDelivery, ReplayEntry
from mailbox.words.conversation import Update
from mailbox.words.envelopes import ResultStatus
from tests.dashboard.conftest import path_of
from tests.dashboard.test_leases import aged
from tests.support import factories, talking
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db


def test_the_live_part_of_a_task_page_follows_its_relatives_and_its_callback(ana, alice, bob):
    promise = factories.idempotent("inv-7")
    lease = factories.leased_task(alice, bob, idempotency=promise, callback_url="https://x.example/")
    seen = ana.get(path_of(lease.task)).context["version"]

    def live():
        nonlocal seen
        page = ana.get(path_of(lease.task), headers={"hx-request": "true", "x-seen": seen})
        assert page.status_code == 200
        seen = page.context["version"]
        return squeezed(page.text)

    child = factories.sent_task(alice, bob, parent=lease.task.uuid, intent_text="book a hotel")
    assert "book a hotel" in live()
    leasing.lease_task(bob, child.uuid)
    assert "In flight" in live()
    factories.sent_task(alice, bob, idempotency=promise, intent_text="pay it again")
    assert "pay it again" in live()
    results.post_result(bob, factories.result_envelope(lease.task))
    assert "https://x.example/" in live()
    PushDelivery.objects.update(attempts=1)
    assert "> 1 attempt </span>" in live()
    ReplayEntry.objects.update(hits=7)
    assert "7 replays" in live()


def test_the_error_of_a_task_stands_before_everything_else_and_is_no_answer(ana, alice, bob):
    lease = factories.leased_task(alice, bob)
    failed = {"status": ResultStatus.ERROR, "error_message": "card <declined>", "content": []}
    task = results.post_result(bob, factories.result_envelope(lease.task, **failed)).task

    page = ana.get(path_of(task))

    text = squeezed(page.text)
    assert text.index("card &lt;declined&gt;</pre>") < text.index('class="story"')
    assert "answered with an error by" in text
    assert "Answered" not in text
    assert [one.ending for one in page.context["attempts"]] == ["failed"]


def test_the_error_of_a_task_waits_for_a_click_where_payloads_are_hidden(ana, alice, bob):
    task = factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message="boom", content=[]).task
    ana.cookies["ops_hide_payloads"] = "on"

    text = squeezed(ana.get(path_of(task)).text)

    shown, talk = text.split("<summary>Show the conversation</summary>")
    assert shown.index("<summary>Show the error</summary>") < shown.index("boom")
    assert (shown.count("boom"), talk.count("boom")) == (1, 1)


def test_the_progress_of_a_task_in_flight_stands_at_the_top(ana, alice, bob):
    lease = factories.leased_task(alice, bob)
    talking.told(bob, lease.task, "I look", progress=0.4)
    updates.post_updates(bob, lease.task.uuid, [Update(progress=0.75, note="second draft done")])

    text = squeezed(ana.get(path_of(lease.task)).text)

    top = text[: text.index('class="story"')]
    assert '<progress max="100" value="75" aria-label="Progress"></progress>' in top
    assert "75 %: second draft done" in top
    assert "40 %" not in top
    results.post_result(bob, factories.result_envelope(lease.task))
    assert "<progress" not in ana.get(path_of(lease.task)).text.split('class="story"')[0]


def test_the_page_of_a_lease_says_how_its_attempt_ended(ana, alice, bob):
    lease = aged(factories.leased_task(alice, bob), minutes=41)
    path = f"/ops/leases/{lease.lease_id}/"
    held = squeezed(ana.get(path).text)
    assert "attempt 1 · stale for 36 m" in held
    assert f'href="{path_of(lease.task)}"' in held
    failed = {"status": ResultStatus.ERROR, "error_message": "card declined", "content": []}
    results.post_result(bob, factories.result_envelope(lease.task, **failed))

    page = ana.get(path)

    assert (page.context["ending"], [one.ending for one in page.context["attempts"]]) == ("failed", ["failed"])
    assert "Answered" not in page.text

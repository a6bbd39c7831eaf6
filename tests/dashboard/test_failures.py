"""The failures page groups what fails by agent and message."""

import uuid
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.inspection.statistics import failures
from mailbox.life import sending
from mailbox.models import Failure, RepairPlan, Task
from mailbox.upkeep import failure_filing
from mailbox.words.envelopes import ResultStatus
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def failed(alice, bob, message, *, ago=timedelta(0)):
    with time_machine.travel(timezone.now() - ago):
        return factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message=message, content=[])


def shown(client, **query):
    rows = client.get("/ops/failures/", query).context["rows"]
    return [(row.group.agent, row.group.outcome, row.group.count) for row in rows]


@pytest.fixture
def carol(db):
    return factories.agent("carol", "a2a.send.*", "a2a.respond.*")


@pytest.mark.parametrize("is_filed", [False, True])
def test_failures_are_grouped_by_agent_and_message(vic, alice, bob, carol, is_filed):
    for seconds in (30, 45, 50):
        failed(alice, bob, f"timeout after {seconds} s")
    failed(alice, bob, "disk full")
    failed(alice, carol, "timeout after 7 s")
    factories.resolved_task(alice, bob)
    sending.cancel(alice, factories.sent_task(alice, carol).uuid)
    if is_filed:
        failure_filing.file_failures()

    assert sorted(shown(vic)) == [
        ("bob@local", "error", 1),
        ("bob@local", "error", 3),
        ("carol@local", "cancelled", 1),
        ("carol@local", "error", 1),
    ]
    assert shown(vic)[0] == ("bob@local", "error", 3)


def test_filed_and_fresh_failures_are_counted_together(vic, alice, bob):
    first = failed(alice, bob, "timeout after 30 s", ago=HOUR)
    failure_filing.file_failures()
    last = failed(alice, bob, "timeout after 31 s")

    page = vic.get("/ops/failures/")

    (row,) = page.context["rows"]
    assert (row.group.count, row.group.sample) == (2, last)
    assert timedelta(0) <= first.posted_at - row.group.first_at < timedelta(minutes=1)
    assert timedelta(0) <= last.posted_at - row.group.last_at < timedelta(minutes=1)
    assert [bar.count for bar in row.bars] == [1, 1]
    assert "timeout after 31 s" in page.text
    assert f"/ops/tasks/{last.task.uuid}/" in page.text


def test_a_range_counts_only_its_own_failures(vic, alice, bob):
    for hours in (0.5, 5, 30, 24 * 8):
        failed(alice, bob, "no", ago=hours * HOUR)
    failure_filing.file_failures()

    counts = {name: [count for *_, count in shown(vic, range=name)] for name in ("1h", "24h", "7d")}

    assert counts == {"1h": [1], "24h": [2], "7d": [3]}
    assert vic.get("/ops/failures/", {"range": "2y"}).status_code == 400


def test_groups_are_sorted_by_count_or_by_their_last_failure(vic, alice, bob):
    for _ in range(3):
        failed(alice, bob, "often", ago=2 * HOUR)
    failed(alice, bob, "lately")
    failure_filing.file_failures()

    assert [count for *_, count in shown(vic)] == [3, 1]
    assert [count for *_, count in shown(vic, sort="last")] == [1, 3]


def test_the_failures_of_one_agent_are_shown_alone(vic, alice, bob, carol):
    failed(alice, bob, "no")
    failed(alice, carol, "no")

    assert shown(vic, agent="carol") == [("carol@local", "error", 1)]
    assert vic.get("/ops/failures/", {"agent": "nobody@local"}).status_code == 404


def test_a_group_links_to_its_tasks_by_a_key_of_the_query_language(vic, alice, bob):
    failed(alice, bob, "timeout after 30 s")
    failed(alice, bob, "disk full")
    failure_filing.file_failures()
    fingerprint = next(iter(Failure.objects.order_by("pk"))).fingerprint

    page = vic.get(f"/ops/failures/{fingerprint}/")
    tasks = vic.get("/ops/tasks/", {"q": f"failure:{fingerprint}"})

    assert f'href="/ops/tasks/?q=failure%3A{fingerprint}"' in page.text or f"q=failure:{fingerprint}" in page.text
    assert [task.error for task in page.context["tasks"]] == ["timeout after 30 s"]
    assert [task.error for task in tasks.context["page"].items] == ["timeout after 30 s"]


def test_a_group_that_is_not_filed_yet_has_a_page(vic, alice, bob):
    result = failed(alice, bob, "no")
    (row,) = vic.get("/ops/failures/").context["rows"]

    page = vic.get(f"/ops/failures/{row.group.fingerprint}/")

    assert page.status_code == 200
    assert f"/ops/tasks/{result.task.uuid}/" in page.text
    assert vic.get("/ops/failures/0123456789abcdef/").status_code == 404


def test_a_group_shows_tasks_of_versions_that_kept_no_time_of_the_status(vic, alice, bob):
    task = failed(alice, bob, "disk full").task
    failure_filing.file_failures()
    Task.objects.filter(pk=task.pk).update(status_at=None)
    fingerprint = Failure.objects.get().fingerprint

    assert str(task.uuid) in vic.get(f"/ops/failures/{fingerprint}/").text
    assert vic.get(f"/ops/tasks/{task.uuid}/").status_code == 200


def test_a_page_that_leaves_out_failures_says_so(vic, alice, bob, monkeypatch):
    monkeypatch.setattr(failures, "COUNTED", 1)
    monkeypatch.setattr(failures, "UNFILED", 2)
    monkeypatch.setattr(failures, "GROUPS", 1)
    for minutes in (30, 20, 10):
        failed(alice, bob, "no", ago=timedelta(minutes=minutes))
    failure_filing.file_failures()
    for message in ("a", "b"):
        failed(alice, bob, message)

    page = squeezed(vic.get("/ops/failures/").text)

    assert "Only the newest 1 failures are counted" in page
    assert "only the newest 2 are counted" in page
    assert "(the largest 1 groups)" in page


def test_an_hour_without_failures_says_so(vic):
    assert "No failures in the last 24 h" in squeezed(vic.get("/ops/failures/").text)


def test_hidden_payloads_hide_the_messages(vic, alice, bob):
    failed(alice, bob, "card 4111 declined")
    vic.cookies["ops_hide_payloads"] = "on"

    page = vic.get("/ops/failures/").text

    assert "declined" not in page
    assert "Hidden message" in page


@pytest.mark.parametrize("place", ["", "group"])
def test_a_failures_page_needs_few_queries(vic, alice, bob, django_assert_max_num_queries, place):
    for message in ("one", "two", "three"):
        failed(alice, bob, message)
    failure_filing.file_failures()
    where = f"{Failure.objects.earliest('pk').fingerprint}/" if place else ""

    with django_assert_max_num_queries(14):
        vic.get(f"/ops/failures/{where}")


def send_again(client, fingerprint, *, followed=True, **fields):
    filled = {"form_token": str(uuid.uuid4()), **fields}
    return client.post(f"/ops/failures/{fingerprint}/", filled, follow=followed)


def test_all_tasks_of_a_group_are_sent_again_by_a_plan(ana, alice, bob):
    for _ in range(2):
        failed(alice, bob, "disk full")
    failed(alice, bob, "other")
    failure_filing.file_failures()
    fingerprint = next(iter(Failure.objects.order_by("pk"))).fingerprint

    preview = send_again(ana, fingerprint)
    plan = RepairPlan.objects.get()
    applied = {"form_token": str(uuid.uuid4()), "reason": "disk grown", "with_unsafe": "include", "typed": "2"}
    receipt = squeezed(ana.post(f"/ops/repairs/{plan.pk}/", applied, follow=True).text)

    assert "Nothing is sent yet" in squeezed(preview.text)
    assert f"failure:{fingerprint} finished:" in preview.text
    assert "<b>2</b> sent again" in receipt
    copies = Task.objects.filter(sender__display="operators@hub")
    assert len(copies) == 2
    assert all(f"/ops/tasks/{copy.uuid}/" in receipt for copy in copies)
    assert "send again" in ana.get("/ops/repairs/plans/").text


def test_a_plan_without_a_task_to_send_has_no_fields(ana, alice, bob):
    failed(alice, bob, "disk full")
    failure_filing.file_failures()
    fingerprint = Failure.objects.get().fingerprint
    send_again(ana, fingerprint)
    applied = {"form_token": str(uuid.uuid4()), "reason": "disk grown", "with_unsafe": "include", "typed": "1"}
    ana.post(f"/ops/repairs/{RepairPlan.objects.get().pk}/", applied)

    preview = send_again(ana, fingerprint).text

    assert "No task is left to send. Discard this plan." in preview
    assert "id_reason" not in preview
    assert "Discard plan</button>" in preview


def test_the_same_form_plans_once_and_a_viewer_plans_nothing(ana, vic, alice, bob):
    failed(alice, bob, "disk full")
    failure_filing.file_failures()
    fingerprint, token = Failure.objects.get().fingerprint, str(uuid.uuid4())

    first, second = (send_again(ana, fingerprint, form_token=token, followed=False) for _ in range(2))

    assert first.url == second.url
    assert send_again(vic, fingerprint).status_code == 403
    assert "needs capability a2a.send" in squeezed(vic.get(f"/ops/failures/{fingerprint}/").text)
    assert RepairPlan.objects.count() == 1


def test_a_group_without_recent_tasks_and_a_broken_form_plan_nothing(ana, alice, bob):
    failed(alice, bob, "disk full", ago=30 * HOUR)
    failure_filing.file_failures()
    fingerprint = Failure.objects.get().fingerprint

    assert send_again(ana, fingerprint).status_code == 422
    assert send_again(ana, fingerprint, form_token="").status_code == 422
    assert not RepairPlan.objects.exists()

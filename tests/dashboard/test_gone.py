"""A compacted task is gone (410), not unknown (404). Its pages link to the journal rows that remain."""

import uuid

import pytest

from mailbox.access.callers import Role
from mailbox.life import results
from mailbox.models import AuditEvent, Task
from mailbox.upkeep import compaction
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = pytest.mark.django_db

UNKNOWN_ID = uuid.UUID(int=9)


@pytest.fixture
def lease(alice, bob):
    """A lease that was compacted with its task."""
    lease = factories.leased_task(alice, bob)
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
    results.drain_results(alice)
    results.ack_results(alice, [lease.task.uuid])
    compaction.compact(factories.person("adam", Role.ADMIN), factories.AT_ONCE)
    assert not Task.objects.exists()
    return lease


@pytest.mark.parametrize(
    "page", ["tasks/{task}/", "tasks/{task}/json", "tasks/{task}/parts/intent", "trees/{task}/", "trees/{task}/json"]
)
def test_pages_of_a_compacted_task_link_to_its_journal(vic, lease, page):
    path = f"/ops/{page.format(task=lease.task.uuid)}"

    answer = vic.get(path)

    assert answer.status_code == 410
    assert "This task was removed" in answer.text
    assert f'href="/ops/audit/?q=task:{lease.task.uuid}"' in answer.text
    assert "result acknowledged" in answer.text
    assert "<html" not in vic.get(path, headers={"HX-Request": "true"}).text
    assert vic.get(f"/ops/{page.format(task=UNKNOWN_ID)}").status_code == 404


def test_the_page_of_a_compacted_task_shows_when_it_was_compacted(vic, lease):
    path, row = f"/ops/tasks/{lease.task.uuid}/", AuditEvent.objects.get(kind=Kind.TASKS_COMPACTED)

    assert "was compacted <time" in vic.get(path).text
    assert f'href="/ops/audit/{row.pk}/"' in vic.get(path).text


def test_the_search_box_opens_a_compacted_task_and_its_lease(vic, lease):
    assert vic.get("/ops/go/", {"id": str(lease.task.uuid)})["Location"] == f"/ops/tasks/{lease.task.uuid}/"
    assert vic.get("/ops/go/", {"id": str(lease.lease_id)})["Location"] == f"/ops/leases/{lease.lease_id}/"


def test_a_tree_without_its_root_is_shown_and_downloaded(vic, alice, bob):
    child = factories.sent_task(alice, bob, parent=UNKNOWN_ID)

    assert vic.get(f"/ops/trees/{UNKNOWN_ID}/").status_code == 200
    assert str(child.uuid) in b"".join(vic.get(f"/ops/trees/{UNKNOWN_ID}/json")).decode()


@pytest.mark.parametrize("verb", ["requeue", "force-error"])
def test_a_refused_repair_is_journalled_with_its_task(vic, alice, bob, verb):
    lease = factories.leased_task(alice, bob)

    page = vic.post(f"/ops/leases/{lease.lease_id}/{verb}/", {})

    refusal = factories.last_event()
    scope = f"a2a-repair:{lease.task.uuid}"
    assert page.status_code == 403
    assert (refusal.task_id, refusal.fields["agent_id"], refusal.fields["passed"]) == (lease.task.uuid, scope, False)
    assert scope in page.text
    assert f"a2a.repair.{verb.replace('-', '_')}" in page.text
    assert "You are in the group viewer; the capability is held by operator and admin." in page.text
    assert "capability refused" in vic.get(f"/ops/tasks/{lease.task.uuid}/").text


@pytest.fixture
def number(alice, bob):
    """The number that a repair and a row of the journal share."""
    factories.leased_task(alice, bob)
    row = factories.last_event()
    return factories.RepairPlanFactory.create(pk=row.pk).pk


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("#{}", ["repairs", "audit"]),
        ("{}", ["repairs", "audit"]),
        ("Event #{}", ["audit"]),
        ("Repair #{}", ["repairs"]),
    ],
)
def test_a_number_of_a_repair_and_of_a_journal_row_lists_both(vic, number, text, pages):
    answer = vic.get("/ops/go/", {"id": text.format(number)})

    urls = [answer["Location"]] if answer.status_code == 302 else [one.url for one in answer.context["found"]]
    assert urls == [f"/ops/{page}/{number}/" for page in pages]

"""What was compacted is gone, not unknown: each link to it leads to the rows that survive."""

from __future__ import annotations

import re
import uuid

import pytest

from mailbox.gate.callers import Role
from mailbox.models import AuditEvent, Task
from mailbox.verbs.life import results
from mailbox.verbs.upkeep import compaction
from mailbox.verbs.upkeep.compaction import Retention
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db

NOBODY = uuid.UUID(int=9)


@pytest.fixture
def lease(alice, bob):
    """A lease that was compacted with its task."""
    lease = factories.leased_task(alice, bob)
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
    results.drain_results(alice)
    results.ack_results(alice, [lease.task.uuid])
    compaction.compact(factories.person("adam", Role.ADMIN), Retention())
    assert not Task.objects.exists()
    return lease


@pytest.mark.parametrize(
    "page", ["tasks/{task}/", "tasks/{task}/json", "tasks/{task}/parts/intent", "trees/{task}/", "trees/{task}/json"]
)
def test_what_leads_to_a_compacted_task_leads_to_its_journal(vic, lease, page):
    path = f"/ops/{page.format(task=lease.task.uuid)}"

    answer = vic.get(path)

    assert answer.status_code == 410
    assert "This task is no longer kept" in answer.text
    assert f'href="/ops/audit/?q=task:{lease.task.uuid}"' in answer.text
    assert "result acknowledged" in answer.text
    assert "<html" not in vic.get(path, headers={"HX-Request": "true"}).text
    assert vic.get(f"/ops/{page.format(task=NOBODY)}").status_code == 404


def test_the_moment_of_the_compaction_is_named(vic, lease):
    path, row = f"/ops/tasks/{lease.task.uuid}/", AuditEvent.objects.get(kind=Kind.TASKS_COMPACTED)

    assert "was compacted <time" in vic.get(path).text
    assert f'href="/ops/audit/{row.pk}/"' in vic.get(path).text


def test_the_box_leads_there_too(vic, lease):
    assert vic.get("/ops/go/", {"id": str(lease.task.uuid)})["Location"] == f"/ops/tasks/{lease.task.uuid}/"
    assert vic.get("/ops/go/", {"id": str(lease.lease_id)})["Location"] == f"/ops/leases/{lease.lease_id}/"


def test_a_tree_whose_root_is_gone_is_shown_and_taken_away(vic, alice, bob):
    child = factories.sent_task(alice, bob, parent=NOBODY)

    assert vic.get(f"/ops/trees/{NOBODY}/").status_code == 200
    assert str(child.uuid) in b"".join(vic.get(f"/ops/trees/{NOBODY}/json")).decode()


@pytest.mark.parametrize("verb", ["requeue", "force-error"])
def test_a_refused_repair_stands_with_its_task(vic, alice, bob, verb):
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
    """The number of a repair that a row of the journal has, too."""
    factories.leased_task(alice, bob)
    row = factories.last_event()
    return factories.RepairPlanFactory.create(pk=row.pk).pk


@pytest.mark.parametrize(
    ("text", "page", "other"),
    [
        ("#{}", "repairs", "audit"),
        ("{}", "audit", "repairs"),
        ("Journal #{}", "audit", None),
        ("Repair #{}", "repairs", None),
    ],
)
def test_of_a_repair_and_a_journal_row_of_one_number_each_leads_to_the_other(vic, number, text, page, other):
    answer = vic.get("/ops/go/", {"id": text.format(number)}, follow=True)

    assert answer.redirect_chain == [(f"/ops/{page}/{number}/", 302)]
    (messages,) = re.findall(r'<div id="messages".*?</div>', squeezed(answer.text))
    assert re.findall(r'<a href="([^"]+)"', messages) == ([f"/ops/{other}/{number}/"] if other else [])
    assert "something else of that number" not in vic.get(f"/ops/{page}/{number}/").text

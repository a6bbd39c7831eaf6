import uuid

import pytest

from dashboard import repairs
from mailbox.life import leasing, results
from mailbox.models import Lease, RepairPlan, Task
from mailbox.repairs import plan_execution
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.bulk import apply, plan, the_plan
from tests.support.markup import squeezed
from tests.support.plans import leased

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def test_an_applied_plan_shows_its_receipt_at_the_same_address(ana, alice, bob):
    same, released, answered = leased(alice, bob, safe=3)
    plan(ana, [same, released, answered])
    leasing.release(bob, released.task.uuid, lease_id=released.lease_id, reason="restart")
    results.post_result(bob, factories.result_envelope(answered.task, lease_id=answered.lease_id))

    page = apply(ana)

    assert page.redirect_chain == [(f"/ops/repairs/{the_plan().pk}/", 303)]
    for part in ("<b>3</b> planned", "<b>1</b> requeued", "<b>1</b> lease changed", "<b>1</b> completed meanwhile"):
        assert part in squeezed(page.text)
    assert "pod lost, INC-4412" in page.text
    assert "The changed leases are not held by anyone now" in page.text
    assert [event.actor for event in factories.journal(Kind.REPAIR_APPLIED)] == ["user:ana"]


@pytest.mark.parametrize(
    ("group", "count"), [("planned", 2), ("done", 1), ("changed", 1), ("completed", 0), ("left", 1), ("", 3)]
)
def test_each_number_of_a_receipt_links_to_its_rows(ana, alice, bob, group, count):
    one, changed, unsafe = leased(alice, bob, safe=2, unsafe=1)
    plan(ana, [one, changed, unsafe])
    leasing.release(bob, changed.task.uuid, lease_id=changed.lease_id, reason="restart")
    apply(ana, with_unsafe="leave")

    address = f"/ops/repairs/{the_plan().pk}/"
    page = ana.get(address, {"show": group})
    lines = ana.get(f"{address[:-1]}.jsonl", {"show": group}).getvalue().decode().splitlines()

    assert len(page.context["page"].items) == len(lines) == count


def test_applying_a_plan_again_changes_nothing(ana, ben, alice, bob):
    leases = leased(alice, bob, safe=2)
    plan(ana, leases)
    apply(ana)
    leasing.lease_tasks(bob, limit=2)

    page = apply(ben, reason="once more")

    assert page.status_code == 200
    assert "<b>2</b> requeued" in squeezed(page.text)
    assert Lease.objects.live().count() == 2
    assert the_plan().decided_by == "user:ana"


def test_the_journal_links_to_the_plan_and_the_overview_lists_it_once(ana, alice, bob):
    plan(ana, leased(alice, bob, safe=2))
    apply(ana)
    address = f'href="/ops/repairs/{the_plan().pk}/"'

    (applied, *_) = factories.journal(Kind.REPAIR_APPLIED)
    (decided,) = factories.journal(Kind.REPAIR_PLAN_APPLIED)

    assert address in ana.get(f"/ops/audit/{applied.pk}/").text
    assert address in ana.get(f"/ops/audit/{decided.pk}/").text
    lately = ana.get("/ops/").text
    assert "applied a bulk repair" in lately
    assert "requeued</b>" not in lately


def test_a_bulk_forced_error_sends_the_typed_message(ana, alice, bob):
    plan(ana, leased(alice, bob, safe=2), verb="force_error")

    page = apply(ana, message="please send it again")

    assert "<b>2</b> closed as errors" in squeezed(page.text)
    assert results.drain_results(alice)[0].error_message == "please send it again"


def test_changed_leases_that_are_live_again_can_be_planned_anew(ana, alice, bob):
    (lease,) = leased(alice, bob, safe=1)
    plan(ana, [lease])
    leasing.release(bob, lease.task.uuid, lease_id=lease.lease_id, reason="restart")
    (current,) = leasing.lease_tasks(bob)
    receipt = apply(ana)
    first = the_plan()

    fields = {"form_token": str(uuid.uuid4()), "verb": "requeue", "after": first.pk, "which": "changed"}
    page = ana.post("/ops/repairs/", fields, follow=True)

    assert "Plan again for the 1 changed lease" in receipt.text
    assert f"lease-{current.lease_id}" not in receipt.text
    assert [row.lease_id for row in RepairPlan.objects.latest("pk").rows.all()] == [current.lease_id]
    assert f"repair #{first.pk}" in page.text


def test_a_plan_too_long_for_one_request_continues_later(ana, alice, bob, monkeypatch):
    plan(ana, leased(alice, bob, safe=3))
    monkeypatch.setattr(repairs, "BITE", 0)

    page = apply(ana)
    address = f"/ops/repairs/{the_plan().pk}/"
    live = {"hx-request": "true", "x-seen": ana.get(f"{address}?part=progress").context["version"]}
    same = ana.get(f"{address}?part=progress", headers=live)
    on = ana.post(f"{address}continue/", follow=True)
    changed = ana.get(f"{address}?part=progress", headers=live)
    plan_execution.carry_on(seconds=60)

    assert '<progress max="3" value="1"' in page.text
    assert "Continue" in page.text
    assert same.status_code == 204
    assert '<progress max="3" value="2"' in on.text
    assert "<b>1</b> pending" in changed.text
    assert "<html" not in changed.text
    assert "<b>3</b> requeued" in squeezed(ana.get(address).text)
    assert Task.objects.queued().count() == 3


def test_a_plan_that_was_never_applied_cannot_be_continued(ana, alice, bob):
    plan(ana, leased(alice, bob, safe=1))

    assert ana.post(f"/ops/repairs/{the_plan().pk}/continue/").status_code == 409
    assert Lease.objects.live().count() == 1


def test_single_and_bulk_repairs_are_listed_with_their_links(ana, alice, bob, django_assert_max_num_queries):
    single, *many = leased(alice, bob, safe=3)
    address = f"/ops/leases/{single.lease_id}/requeue/"
    chosen = {
        "lease_id": single.lease_id,
        "task_id": single.task.uuid,
        "attempt": 1,
        "form_token": uuid.uuid4(),
        "posture": "idempotent",
    }
    ana.post(address, {**chosen, "reason": "just this one"})
    plan(ana, many)
    apply(ana)
    event = factories.journal(Kind.REPAIR_APPLIED)[0]

    with django_assert_max_num_queries(7):
        singles = ana.get("/ops/repairs/?q=actor:user:ana")
    with django_assert_max_num_queries(7):
        plans = ana.get("/ops/repairs/plans/?q=state:done+verb:requeue")

    assert [act.event for act in singles.context["acts"]] == [event]
    assert f'href="/ops/audit/{event.pk}/"' in singles.text
    assert "just this one" in singles.text
    assert f'href="/ops/repairs/{the_plan().pk}/"' in plans.text
    assert "pod lost, INC-4412" in plans.text
    assert ana.get("/ops/repairs.csv").getvalue().decode().count("\n") == 2
    twin = ana.get("/ops/repairs/plans.jsonl").getvalue().decode()
    assert '"leases":2,"repaired":2' in twin.replace(" ", "")
    assert ana.get("/ops/repairs/plans/?q=state:odd").status_code == 400


@pytest.mark.parametrize("text", ["repair #{}", "Plan {}", "plan:{}"])
def test_the_search_box_opens_a_repair_plan_by_its_number(ana, alice, bob, text):
    plan(ana, leased(alice, bob, safe=1))
    number = the_plan().pk

    assert ana.get("/ops/go/", {"id": text.format(number)})["Location"] == f"/ops/repairs/{number}/"

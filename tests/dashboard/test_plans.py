from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from dashboard.views import plan as plan_views
from mailbox import leasing, plan_work, results
from mailbox.kinds import Kind
from mailbox.models import Lease, RepairPlan, Task
from tests import factories
from tests.mailbox.plans import leased, outcomes

pytestmark = pytest.mark.django_db


def plan(browser, leases=(), *, verb="requeue", **fields):
    """Ask for a plan as the list of leases does; return the answer."""
    ticked = [str(lease.lease_id) for lease in leases]
    return browser.post(
        "/ops/repairs/", {"verb": verb, "form_token": str(uuid.uuid4()), "lease": ticked, **fields}, follow=True
    )


def the_plan():
    return RepairPlan.objects.get()


def apply(browser, **fields):
    filled = {"form_token": str(uuid.uuid4()), "reason": "pod lost, INC-4412", **fields}
    return browser.post(f"/ops/repairs/{the_plan().pk}/", filled, follow=True)


def test_ticked_leases_are_previewed_and_nothing_is_changed(ana, alice, bob):
    leases = leased(alice, bob, safe=2, unsafe=1)

    page = plan(ana, leases[1:])

    assert page.redirect_chain == [(f"/ops/repairs/{the_plan().pk}/", 303)]
    assert "Requeue 2 leases" in page.text
    assert "from 2 chosen leases" in page.text
    assert "1 lease is of unsafe work" in page.text
    assert " checked" not in page.text
    assert Lease.objects.live().count() == 3


def test_all_that_match_are_planned_and_no_others(ana, alice, bob):
    safe, *_ = leased(alice, bob, safe=1, unsafe=2)

    page = plan(ana, everything="1", q="safety:idempotent")

    assert [row.lease_id for row in the_plan().rows.all()] == [safe.lease_id]
    assert "<code>safety:idempotent</code>" in page.text


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "No live lease was chosen"),
        ({"everything": "1", "q": "state:stale"}, "No live lease was chosen"),
        ({"everything": "1", "q": "owner:x"}, "there is no &quot;owner:&quot;"),
        ({"verb": "drop"}, "not whole"),
        ({"lease": "x"}, "not whole"),
    ],
)
def test_a_plan_of_nothing_is_refused_in_words(ana, alice, bob, fields, why):
    leased(alice, bob, safe=1)

    page = plan(ana, **fields)

    assert page.status_code == 422
    assert why in page.text
    assert not RepairPlan.objects.exists()


def test_a_form_sent_twice_is_one_plan(ana, alice, bob):
    leases, token = leased(alice, bob, safe=1), str(uuid.uuid4())

    first, second = plan(ana, leases, form_token=token), plan(ana, leases, form_token=token)

    assert first.redirect_chain == second.redirect_chain


def test_an_applied_plan_becomes_its_receipt_at_the_same_address(ana, alice, bob):
    same, released, answered = leased(alice, bob, safe=3)
    plan(ana, [same, released, answered])
    leasing.release(bob, released.task.uuid, lease_id=released.lease_id, reason="restart")
    results.post_result(bob, factories.result_envelope(answered.task, lease_id=answered.lease_id))

    page = apply(ana)

    assert page.redirect_chain == [(f"/ops/repairs/{the_plan().pk}/", 303)]
    for part in ("<b>3</b> planned", "<b>1</b> requeued", "<b>1</b> lease changed", "<b>1</b> completed meanwhile"):
        assert part in page.text
    assert "pod lost, INC-4412" in page.text
    assert "None of the changed leases is live again" in page.text
    assert [event.actor for event in factories.journal(Kind.REPAIR_APPLIED)] == ["user:ana"]


@pytest.mark.parametrize(
    ("group", "found"), [("planned", 2), ("done", 1), ("changed", 1), ("completed", 0), ("left", 1), ("", 3)]
)
def test_each_number_of_the_receipt_leads_to_its_rows(ana, alice, bob, group, found):
    one, changed, unsafe = leased(alice, bob, safe=2, unsafe=1)
    plan(ana, [one, changed, unsafe])
    leasing.release(bob, changed.task.uuid, lease_id=changed.lease_id, reason="restart")
    apply(ana, with_unsafe="leave")

    address = f"/ops/repairs/{the_plan().pk}/"
    page = ana.get(address, {"show": group})
    lines = ana.get(f"{address[:-1]}.jsonl", {"show": group}).getvalue().decode().splitlines()

    assert len(page.context["page"].items) == len(lines) == found


def test_what_is_missing_is_said_beside_its_field_and_what_was_typed_is_kept(ana, alice, bob):
    plan(ana, leased(alice, bob, safe=1, unsafe=1))

    no_reason = apply(ana, reason=" ...", with_unsafe="include", typed="2")
    no_choice = apply(ana, reason="pod lost")
    no_count = apply(ana, reason="pod lost", with_unsafe="include", typed="1")

    assert [page.status_code for page in (no_reason, no_choice, no_count)] == [422] * 3
    assert 'aria-describedby="reason-problem"' in no_reason.text
    assert 'value="include" checked' in no_reason.text
    assert "Choose what becomes of the unsafe ones." in no_choice.text
    assert 'value="pod lost"' in no_choice.text
    assert "Type 2, the number of leases." in no_count.text
    assert Lease.objects.live().count() == 2
    assert apply(ana, with_unsafe="include", typed="2").status_code == 200
    assert outcomes(the_plan()) == {"done": 2}


def test_applied_twice_it_does_nothing_more(ana, ben, alice, bob):
    leases = leased(alice, bob, safe=2)
    plan(ana, leases)
    apply(ana)
    leasing.lease_tasks(bob, limit=2)

    page = apply(ben, reason="once more")

    assert page.status_code == 200
    assert "<b>2</b> requeued" in page.text
    assert Lease.objects.live().count() == 2
    assert the_plan().decided_by == "user:ana"


def test_the_preview_shows_the_same_commands(ana, alice, bob):
    (lease,) = leased(alice, bob, safe=1)

    page = plan(ana, [lease])

    command = f"manage.py a2a requeue {lease.task.uuid} --lease-id {lease.lease_id} --duplicate-risk idempotent"
    assert f"{command} --reason …" in page.text


def test_the_journal_leads_back_to_the_plan_and_people_s_acts_name_it_once(ana, alice, bob):
    plan(ana, leased(alice, bob, safe=2))
    apply(ana)
    address = f'href="/ops/repairs/{the_plan().pk}/"'

    (applied, *_) = factories.journal(Kind.REPAIR_APPLIED)
    (decided,) = factories.journal(Kind.REPAIR_PLAN_APPLIED)

    assert address in ana.get(f"/ops/audit/{applied.pk}/").text
    assert address in ana.get(f"/ops/audit/{decided.pk}/").text
    lately = ana.get("/ops/").text
    assert "applied a repair in bulk" in lately
    assert "requeued</b>" not in lately


def test_forced_errors_tell_the_senders_what_was_typed(ana, alice, bob):
    plan(ana, leased(alice, bob, safe=2), verb="force_error")

    page = apply(ana, message="please send it again")

    assert "<b>2</b> forced to an error" in page.text
    assert results.drain_results(alice)[0].error_message == "please send it again"


def test_a_discarded_plan_changes_nothing_and_stays_on_record(ana, alice, bob):
    plan(ana, leased(alice, bob, safe=1))
    address = f"/ops/repairs/{the_plan().pk}/"

    assert ana.post(f"{address}discard/").status_code == 303
    assert "Discarded" in ana.get(address).text
    assert apply(ana).status_code == 409
    assert Lease.objects.live().count() == 1


def test_an_expired_plan_can_only_be_made_again(ana, alice, bob):
    plan(ana, leased(alice, bob, safe=1))
    old = the_plan()
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        page = ana.get(f"/ops/repairs/{old.pk}/")
        refused = apply(ana)
        again = ana.post(
            "/ops/repairs/",
            {"verb": "requeue", "form_token": str(uuid.uuid4()), "after": old.pk, "which": "all"},
            follow=True,
        )

    assert "It expired" in page.text
    assert 'name="reason"' not in page.text
    assert (refused.status_code, "has expired" in refused.text) == (409, True)
    assert f'the leases of <a href="/ops/repairs/{old.pk}/">' in again.text
    assert Lease.objects.live().count() == 1


def test_changed_leases_that_are_live_again_make_a_new_plan(ana, alice, bob):
    (lease,) = leased(alice, bob, safe=1)
    plan(ana, [lease])
    leasing.release(bob, lease.task.uuid, lease_id=lease.lease_id, reason="restart")
    (current,) = leasing.lease_tasks(bob)
    receipt = apply(ana)
    first = the_plan()

    fields = {"form_token": str(uuid.uuid4()), "verb": "requeue", "after": first.pk, "which": "changed"}
    page = ana.post("/ops/repairs/", fields, follow=True)

    assert "Make a new plan from the 1 changed lease" in receipt.text
    assert f"lease-{current.lease_id}" not in receipt.text
    assert [row.lease_id for row in RepairPlan.objects.latest("pk").rows.all()] == [current.lease_id]
    assert f"repair #{first.pk}" in page.text


def test_what_one_request_has_no_time_for_goes_on_later(ana, alice, bob, monkeypatch):
    plan(ana, leased(alice, bob, safe=3))
    monkeypatch.setattr(plan_views, "BITE", 0)

    page = apply(ana)
    address = f"/ops/repairs/{the_plan().pk}/"
    live = {"hx-request": "true", "x-seen": ana.get(f"{address}?part=progress").context["version"]}
    same = ana.get(f"{address}?part=progress", headers=live)
    on = ana.post(f"{address}continue/", follow=True)
    changed = ana.get(f"{address}?part=progress", headers=live)
    plan_work.carry_on(seconds=60)

    assert '<progress max="3" value="1"' in page.text
    assert "Continue" in page.text
    assert same.status_code == 204
    assert '<progress max="3" value="2"' in on.text
    assert "<b>1</b> still to do" in changed.text
    assert "<html" not in changed.text
    assert "<b>3</b> requeued" in ana.get(address).text
    assert Task.objects.queued().count() == 3


def test_a_plan_that_was_not_applied_is_not_continued(ana, alice, bob):
    plan(ana, leased(alice, bob, safe=1))

    assert ana.post(f"/ops/repairs/{the_plan().pk}/continue/").status_code == 409
    assert Lease.objects.live().count() == 1


def test_a_viewer_reads_plans_and_may_do_nothing_with_them(ana, vic, alice, bob):
    plan(ana, leased(alice, bob, safe=1))
    address = f"/ops/repairs/{the_plan().pk}/"

    page = vic.get(address)

    assert page.status_code == 200
    assert "needs capability a2a.repair.requeue" in page.text
    assert plan(vic, [], everything="1").status_code == 403
    assert apply(vic).status_code == 403
    assert 'type="checkbox"' not in vic.get("/ops/leases/").text
    assert Lease.objects.live().count() == 1


def test_an_unknown_plan_is_not_there(ana):
    assert ana.get("/ops/repairs/404/").status_code == 404
    assert ana.get("/ops/repairs/99999999999999999999/").status_code == 404
    assert ana.post("/ops/repairs/404/discard/").status_code == 404


def test_many_rows_come_in_pages_and_in_the_order_that_is_asked_for(ana, alice, bob, django_assert_max_num_queries):
    plan(ana, leased(alice, bob, safe=55))
    address = f"/ops/repairs/{the_plan().pk}/"

    first = ana.get(address).context["page"]
    second = ana.get(address, {"cursor": first.next_cursor}).context["page"]
    youngest = ana.get(address, {"sort": "-age"}).context["page"]
    with django_assert_max_num_queries(9):
        ana.get(address, {"sort": "holder"})

    assert len({row.pk for row in [*first.items, *second.items]}) == 55
    assert youngest.items[0].leased_at > first.items[0].leased_at
    assert ana.get(address, {"sort": "age", "cursor": first.next_cursor}).status_code == 400


def test_each_kind_of_repair_is_listed_with_its_permanent_link(ana, alice, bob, django_assert_max_num_queries):
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

    with django_assert_max_num_queries(6):
        singles = ana.get("/ops/repairs/?q=actor:user:ana")
    with django_assert_max_num_queries(6):
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

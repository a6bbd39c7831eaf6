import uuid
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.models import Lease, RepairPlan
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.bulk import apply, plan, the_plan
from tests.support.markup import squeezed
from tests.support.plans import leased, outcomes

pytestmark = pytest.mark.django_db


def test_a_preview_of_selected_leases_changes_nothing(ana, alice, bob):
    leases = leased(alice, bob, safe=2, unsafe=1)

    page = plan(ana, leases[1:])

    assert page.redirect_chain == [(f"/ops/repairs/{the_plan().pk}/", 303)]
    text = squeezed(page.text)
    assert "Requeue 2 leases" in text
    assert "from 2 chosen leases" in text
    assert "1 unsafe lease<" in page.text
    assert " checked" not in page.text
    assert Lease.objects.live().count() == 3


def test_a_plan_shows_the_query_of_the_list_it_was_selected_from(ana, alice, bob):
    leases = leased(alice, bob, safe=3)

    page = plan(ana, leases[1:], q="agent:bob <b>")
    whole = plan(ana, everything="1", q="agent:bob")

    link = '<a href="/ops/leases/?q=agent%3Abob%20%3Cb%3E"><bdi><code>agent:bob &lt;b&gt;</code></bdi></a>'
    assert f"from 2 chosen leases of {link}." in squeezed(page.text)
    assert "chosen" not in whole.text
    assert "selected of <bdi><code>agent:bob &lt;b&gt;</code></bdi>" in squeezed(ana.get("/ops/repairs/plans/").text)
    made = [event.fields for event in factories.journal(Kind.REPAIR_PLAN_MADE)]
    assert [(one["query"], one["among"]) for one in made] == [("", "agent:bob <b>"), ("agent:bob", "")]


def test_a_plan_of_a_query_holds_exactly_the_matching_leases(ana, alice, bob):
    safe, *_ = leased(alice, bob, safe=1, unsafe=2)

    page = plan(ana, everything="1", q="safety:idempotent")

    assert [row.lease_id for row in the_plan().rows.all()] == [safe.lease_id]
    assert "<code>safety:idempotent</code>" in page.text


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "Select at least one lease first"),
        ({"everything": "1", "q": "state:stale"}, "Select at least one lease first"),
        ({"everything": "1", "q": "owner:x"}, "Unknown key “owner”"),
        ({"verb": "drop"}, "incomplete"),
        ({"lease": "x"}, "incomplete"),
    ],
    ids=["no lease", "no match", "bad query", "unknown verb", "bad lease"],
)
def test_an_empty_or_invalid_plan_is_refused_with_the_reason(ana, alice, bob, fields, why):
    leased(alice, bob, safe=1)

    page = plan(ana, **fields)

    assert page.status_code == 422
    assert why in page.text
    assert not RepairPlan.objects.exists()


def test_a_form_sent_twice_makes_one_plan(ana, alice, bob):
    leases, token = leased(alice, bob, safe=1), str(uuid.uuid4())

    first, second = plan(ana, leases, form_token=token), plan(ana, leases, form_token=token)

    assert first.redirect_chain == second.redirect_chain


def test_one_form_makes_a_plan_for_each_selection_and_verb(ana, alice, bob):
    leases, form = leased(alice, bob, safe=3), {"form_token": str(uuid.uuid4())}

    plan(ana, leases[:1], **form)
    plan(ana, leases[1:], verb="force_error", **form)
    plan(ana, leases[1:], **form)
    plan(ana, everything="1", **form)
    plan(ana, reversed(leases[1:]), **form)

    plans = RepairPlan.objects.order_by("pk")
    assert [(made.verb, made.rows.count()) for made in plans] == [
        ("requeue", 1),
        ("force_error", 2),
        ("requeue", 2),
        ("requeue", 3),
    ]


def test_a_plan_of_all_live_leases_shows_their_query(ana, alice, bob):
    leased(alice, bob, safe=3)

    page = plan(ana, everything="1")

    assert 'from <a href="/ops/leases/?q=state%3Ain_flight">' in squeezed(page.text)
    assert "chosen" not in page.text
    assert "chosen by hand" not in ana.get("/ops/repairs/plans/").text


def test_the_list_of_plans_links_to_the_counted_leases(ana, alice, bob):
    plan(ana, leased(alice, bob, safe=2))

    assert f'<a href="/ops/repairs/{the_plan().pk}/">2</a>' in ana.get("/ops/repairs/plans/").text


def test_missing_fields_of_a_plan_are_reported_and_its_text_is_kept(ana, alice, bob):
    plan(ana, leased(alice, bob, safe=1, unsafe=1))

    no_reason = apply(ana, reason=" ...", with_unsafe="include", typed="2")
    no_choice = apply(ana, reason="pod lost")
    no_count = apply(ana, reason="pod lost", with_unsafe="include", typed="1")

    assert [page.status_code for page in (no_reason, no_choice, no_count)] == [422] * 3
    assert 'aria-describedby="reason-problem"' in no_reason.text
    assert 'value="include" checked' in squeezed(no_reason.text)
    assert "Choose what to do with the unsafe leases." in no_choice.text
    assert 'value="pod lost"' in no_choice.text
    assert "Type 2, the number of leases." in no_count.text
    assert Lease.objects.live().count() == 2
    assert apply(ana, with_unsafe="include", typed="2").status_code == 200
    assert outcomes(the_plan()) == {"done": 2}


def test_a_plan_shows_the_equivalent_commands(ana, alice, bob):
    (lease,) = leased(alice, bob, safe=1)

    page = plan(ana, [lease])

    command = f"a2a task requeue {lease.task.uuid} --lease-id {lease.lease_id} --duplicate-risk idempotent"
    assert f"{command} --reason …" in page.text


def test_a_plan_without_a_lease_to_repair_has_no_fields(ana, alice, bob):
    leases = leased(alice, bob, safe=1)
    Lease.objects.update(attempt=99)

    preview = plan(ana, leases).text

    assert "No lease is left to repair. Discard this plan." in preview
    assert "id_reason" not in preview


def test_a_discarded_plan_changes_nothing_and_stays_on_record(ana, alice, bob):
    plan(ana, leased(alice, bob, safe=1))
    address = f"/ops/repairs/{the_plan().pk}/"

    assert ana.post(f"{address}discard/").status_code == 303
    assert "Discarded" in ana.get(address).text
    assert apply(ana).status_code == 409
    assert Lease.objects.live().count() == 1


def test_an_expired_plan_is_refused_and_can_be_made_anew(ana, alice, bob):
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


def test_a_viewer_reads_plans_but_may_not_make_or_apply_them(ana, vic, alice, bob):
    plan(ana, leased(alice, bob, safe=1))
    address = f"/ops/repairs/{the_plan().pk}/"

    page = vic.get(address)

    assert page.status_code == 200
    assert "needs capability a2a.repair.requeue" in page.text
    assert plan(vic, [], everything="1").status_code == 403
    assert apply(vic).status_code == 403
    assert 'type="checkbox"' not in vic.get("/ops/leases/").text
    assert Lease.objects.live().count() == 1


def test_an_unknown_plan_is_not_found(ana):
    assert ana.get("/ops/repairs/404/").status_code == 404
    assert ana.get("/ops/repairs/99999999999999999999/").status_code == 404
    assert ana.post("/ops/repairs/404/discard/").status_code == 404


def test_the_rows_of_a_plan_are_paged_and_sorted(ana, alice, bob, django_assert_max_num_queries):
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

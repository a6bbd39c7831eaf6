from datetime import timedelta

import pytest
from django.utils import timezone

from mailbox.models import Lease
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db


def aged(lease, **span):
    began = timezone.now() - timedelta(**span)
    Lease.objects.filter(pk=lease.pk).update(leased_at=began, last_seen_at=began)
    return lease


def test_the_oldest_lease_is_listed_first(ana, alice, bob):
    young = aged(factories.leased_task(alice, bob), seconds=10)
    old = aged(factories.leased_task(alice, bob), minutes=10)

    text = ana.get("/ops/leases/").text

    assert text.index(str(old.lease_id)) < text.index(str(young.lease_id))


def test_list_title_and_favicon_count_the_same_stale_leases(ana, alice, bob):
    for minutes in (1, 4, 5, 6, 60):
        aged(factories.leased_task(alice, bob), minutes=minutes)

    page = ana.get("/ops/leases/?state=stale")

    assert len(page.context["page"].items) == 3
    assert page.context["total"].value == page.context["stale"].value == 3
    assert "<title>(3) Leases, stale" in squeezed(page.text)
    assert "favicon.svg?stale=3" in page.text


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 2),
        ("?safety=idempotent", 1),
        ("?safety=unsafe", 1),
        ("?agent=bob", 2),
        ("?agent=bob@local", 2),
        ("?agent=carol", 0),
        ("?min_age=1h", 1),
        ("?max_age=1h", 1),
        ("?state=stale&safety=unsafe", 0),
        ("?q=agent:bob", 2),
        ("?q=from:alice+to:bob@local+age:>1h", 1),
        ("?q=-safety:idempotent", 1),
        ("?q=attempt:>1", 0),
        ("?q=key:night*", 1),
        ("?q=summarise", 2),
        ("?q=summarise+nothing", 0),
        ("?q=state:stale,in_flight", 2),
        ("?q=-state:in_flight", 0),
        ("?q=agent:bob&agent=carol", 0),
    ],
)
def test_filters_narrow_the_list(ana, alice, bob, query, count):
    aged(factories.leased_task(alice, bob, idempotency=factories.idempotent("nightly-7")), hours=2)
    factories.leased_task(alice, bob)

    assert len(ana.get(f"/ops/leases/{query}").context["page"].items) == count


@pytest.mark.parametrize(
    "query",
    ["?min_age=soon", "?state=odd", "?q=age:soon", "?q=safety:odd", "?cursor=x", "?cursor=WyJ0YXNrcyIsIDEsIDJd"],
)
def test_an_invalid_filter_or_cursor_is_refused(ana, query):
    assert ana.get(f"/ops/leases/{query}").status_code == 400


def test_an_unknown_search_key_is_refused_with_the_known_keys(ana):
    response = ana.get("/ops/leases/?q=owner:bob")

    assert response.status_code == 400
    assert "Unknown key “owner”. Available keys: state, agent," in response.text
    assert 'aria-invalid="true" aria-describedby="query-problem"' in response.text


def test_filters_from_a_link_are_shown_in_the_search_box(ana):
    text = ana.get("/ops/leases/?agent=bob@local&min_age=5m&max_age=15m").text

    assert 'value="agent:bob@local age:&gt;=5m age:&lt;15m"' in text


def test_the_list_of_leases_can_be_downloaded(ana, alice, bob):
    aged(factories.leased_task(alice, bob, idempotency=factories.idempotent("k")), hours=1)
    lease = factories.leased_task(alice, bob, intent_text="=1+1")

    table = ana.get("/ops/leases.csv?q=safety:unsafe").getvalue().decode().splitlines()
    lines = ana.get("/ops/leases.jsonl").getvalue().decode().splitlines()

    assert len(table) == 2
    assert table[0].startswith('"lease_id","task_id","sender"')
    assert table[1].startswith(f'"{lease.lease_id}","{lease.task.uuid}","alice@local"')
    assert table[1].endswith(""","unsafe","","'=1+1\"""")
    assert len(lines) == 2


def test_the_pages_of_the_list_cover_all_leases(ana, alice, bob):
    for _ in range(55):
        factories.leased_task(alice, bob)

    first = ana.get("/ops/leases/").context["page"]
    second = ana.get("/ops/leases/", {"cursor": first.next_cursor}).context["page"]

    assert len({lease.pk for lease in [*first.items, *second.items]}) == 55
    assert second.next_cursor is None


def test_the_list_of_leases_needs_few_queries(ana, alice, bob, django_assert_max_num_queries):
    for _ in range(20):
        factories.leased_task(alice, bob)

    with django_assert_max_num_queries(7):
        ana.get("/ops/leases/?agent=bob")


def test_a_live_refresh_gets_rows_only_and_204_if_nothing_changed(ana, alice, bob):
    lease = factories.leased_task(alice, bob)
    whole = ana.get("/ops/leases/")

    same = ana.get("/ops/leases/", headers={"hx-request": "true", "x-seen": whole.context["version"]})
    aged(lease, hours=1)
    changed = ana.get("/ops/leases/", headers={"hx-request": "true", "x-seen": whole.context["version"]})

    assert (same.status_code, same.content) == (204, b"")
    assert changed.status_code == 200
    assert "<html" not in changed.text
    assert "Stale" in changed.text


def test_an_ended_lease_keeps_its_page(ana, alice, bob):
    result = factories.resolved_task(alice, bob)
    (lease,) = result.task.leases.all()

    page = ana.get(f"/ops/leases/{lease.lease_id}/")

    assert page.status_code == 200
    assert "Answered" in page.text
    assert "Requeue" not in page.text


def test_a_viewer_sees_which_capability_a_requeue_needs(vic, alice, bob):
    factories.leased_task(alice, bob)

    text = vic.get("/ops/leases/").text

    assert "needs capability a2a.repair.requeue" in text
    assert "/requeue/" not in text

import json
from uuid import uuid4

import pytest

from mailbox.life import leasing, results
from mailbox.models import ReplayEntry
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db


def cached(alice, bob, key="inv-7", *, duplicates=0, **fields):
    """Do idempotent work, then send it again ``duplicates`` times. Return the entry of the cache."""
    lease = factories.leased_task(alice, bob, idempotency=factories.idempotent(key), **fields)
    results.post_result(bob, factories.result_envelope(lease.task))
    for _ in range(duplicates):
        factories.sent_task(alice, bob, idempotency=factories.idempotent(key), **fields)
    return ReplayEntry.objects.get(key=key)


def path(entry):
    return f"/ops/idempotency/{entry.pk}/"


def test_the_list_shows_how_many_executions_the_cache_saved(ana, alice, bob):
    entry = cached(alice, bob, duplicates=2)
    cached(alice, bob, "inv-8", duplicates=1)

    text = squeezed(ana.get("/ops/idempotency/").text)

    assert "3 replays" in text
    assert str(entry.source_task_id) in text
    assert "alice@local" in text
    assert entry.first_hit_at < entry.last_hit_at


def test_the_list_counts_waiting_duplicates_and_links_to_them(ana, alice, bob):
    assert "No duplicates are waiting" in ana.get("/ops/idempotency/").text
    factories.leased_task(alice, bob, idempotency=factories.idempotent("inv-9"))
    for _ in range(2):
        factories.sent_task(alice, bob, idempotency=factories.idempotent("inv-9"))

    assert ">2 duplicates</a> are waiting for" in squeezed(ana.get("/ops/idempotency/").text)
    assert len(ana.get("/ops/tasks/?q=state:waiting").context["page"].items) == 2
    assert ana.get("/ops/idempotency/?q=colour:red").status_code == 400


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 2),
        ("key:inv-*", 2),
        ("key:inv-7", 1),
        ("sender:alice", 2),
        ("sender:bob@local", 0),
        ("recipient:bob", 2),
        ("kind:booking", 1),
        ("status:ok age:<1h", 2),
        ("hit:<1h", 1),
        ("-key:inv-7", 1),
    ],
)
def test_cached_results_are_filtered_by_query(ana, alice, bob, query, count):
    cached(alice, bob, duplicates=1)
    cached(alice, bob, "inv-8", task_kind="booking")

    assert len(ana.get("/ops/idempotency/", {"q": query}).context["page"].items) == count


@pytest.mark.parametrize("query", ["colour:red", "words", "source:7"])
def test_an_invalid_query_is_refused(ana, query):
    assert ana.get("/ops/idempotency/", {"q": query}).status_code == 400


def test_the_list_links_to_the_tasks_with_the_same_key(ana, alice, bob):
    cached(alice, bob, 'a "quoted" key', duplicates=2)

    tasks = ana.get("/ops/tasks/", {"q": 'key:"a *"'}).context["page"].items

    assert len(tasks) == 3
    assert "q=key%3A%22a%20%2A%22" in ana.get("/ops/idempotency/").text


def test_the_list_of_cached_results_needs_few_queries(ana, alice, bob, django_assert_max_num_queries):
    for number in range(5):
        cached(alice, bob, f"inv-{number}", duplicates=1)

    with django_assert_max_num_queries(7):
        ana.get("/ops/idempotency/?q=sender:alice")


def test_the_list_can_be_downloaded_as_csv_and_jsonl(ana, alice, bob):
    cached(alice, bob, duplicates=1)

    (row,) = [json.loads(line) for line in b"".join(ana.get("/ops/idempotency.jsonl")).decode().splitlines()]
    table = b"".join(ana.get("/ops/idempotency.csv")).decode().splitlines()

    assert (row["key"], row["sender"], row["hits"]) == ("inv-7", "alice@local", 1)
    assert len(table) == 2


def test_dropping_a_cached_result_lets_the_next_task_run(ana, alice, bob):
    entry = cached(alice, bob)

    response = ana.post(path(entry), {**fields_of(ana.get(path(entry))), "reason": "prices changed"}, follow=True)

    assert "Dropped." in response.text
    assert not ReplayEntry.objects.exists()
    (event,) = factories.journal(Kind.REPLAY_DROPPED)
    assert (event.actor, event.source, event.fields["reason"]) == ("user:ana", "dashboard", "prices changed")
    assert event.task_id == entry.source_task_id
    factories.sent_task(alice, bob, idempotency=factories.idempotent("inv-7"))
    assert len(leasing.lease_tasks(bob)) == 1


def test_a_form_sent_twice_drops_the_result_once(ana, alice, bob):
    entry = cached(alice, bob)
    form = {**fields_of(ana.get(path(entry))), "reason": "prices changed"}

    first, second = ana.post(path(entry), form), ana.post(path(entry), form)

    assert (first.status_code, first["Location"]) == (second.status_code, second["Location"])
    assert len(factories.journal(Kind.REPLAY_DROPPED)) == 1


@pytest.mark.parametrize("reason", ["", "  ", "?!", "x" * 501])
def test_an_invalid_reason_is_refused_and_kept_in_the_form(ana, alice, bob, reason):
    entry = cached(alice, bob)

    response = ana.post(path(entry), {**fields_of(ana.get(path(entry))), "reason": reason})

    assert response.status_code == 422
    assert 'aria-describedby="reason-problem"' in response.text
    assert reason.strip() in response.text
    assert ReplayEntry.objects.exists()


def test_a_result_replaced_since_the_form_opened_is_not_dropped(ana, alice, bob):
    entry = cached(alice, bob)
    form = {**fields_of(ana.get(path(entry))), "reason": "prices changed"}
    newer = uuid4()
    ReplayEntry.objects.filter(pk=entry.pk).update(source_task_id=newer)

    response = ana.post(path(entry), form)

    assert response.status_code == 409
    assert "this changed after you opened the form" in response.text
    assert str(newer) in response.text
    assert 'value="prices changed"' in response.text
    assert ReplayEntry.objects.exists()
    again = {**fields_of(response), "reason": "prices changed"}
    assert ana.post(path(entry), again).status_code == 303
    assert not ReplayEntry.objects.exists()


def test_a_result_that_another_operator_dropped_is_not_found(ana, ben, alice, bob):
    entry = cached(alice, bob)
    late = {**fields_of(ben.get(path(entry))), "reason": "prices changed"}
    ana.post(path(entry), {**fields_of(ana.get(path(entry))), "reason": "prices changed"})

    assert ben.post(path(entry), late).status_code == 404
    assert ben.get(f"/ops/idempotency/{2**70}/").status_code == 404


def test_a_dialog_gets_only_the_panel_and_returns_to_the_list(ana, alice, bob):
    entry = cached(alice, bob)

    panel = ana.get(path(entry), headers={"hx-request": "true"}).text
    done = ana.post(
        path(entry), {**fields_of(ana.get(path(entry))), "reason": "prices changed"}, headers={"hx-request": "true"}
    )

    assert "<html" not in panel
    assert 'id="panel-title"' in panel
    assert done["HX-Redirect"] == "/ops/idempotency/"


def test_a_viewer_sees_which_capability_a_drop_needs(vic, alice, bob):
    entry = cached(alice, bob)

    assert "needs capability a2a.replay.drop" in vic.get("/ops/idempotency/").text
    assert "needs capability a2a.replay.drop" in vic.get(path(entry)).text


@pytest.mark.parametrize(
    ("opened_on", "encoded", "back"),
    [
        ("http://testserver/ops/?q=1", "", "http://testserver/ops/?q=1"),
        ("http%3A%2F%2Ftestserver%2Fops%2F%3Fq%3D%C3%A9", "true", "http://testserver/ops/?q=%C3%A9"),
        ("http%3A%2F%2Ftestserver%2Fops%2F%0Ax%3A y", "true", "http://testserver/ops/%0Ax:%20y"),
        ("https://elsewhere.example/", "", "/ops/idempotency/"),
    ],
)
def test_a_dialog_returns_to_the_page_of_this_hub_that_opened_it(ana, alice, bob, opened_on, encoded, back):
    entry = cached(alice, bob)
    typed = {**fields_of(ana.get(path(entry))), "reason": "prices changed"}
    headers = {"hx-request": "true", "hx-current-url": opened_on, "hx-current-url-uri-autoencoded": encoded}

    assert ana.post(path(entry), typed, headers=headers)["HX-Redirect"] == back


def test_a_cached_result_has_a_page_for_all_who_may_see(vic, ana, alice, bob):
    entry = cached(alice, bob)

    seen, acting = vic.get(path(entry)).text, ana.get(path(entry)).text

    assert "<h1>Cached result" in seen
    assert "Cached content" in seen
    assert 'name="reason"' not in seen
    assert '<details class="acting" id="dropping">' in acting

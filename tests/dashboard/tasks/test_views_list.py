import csv
import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone

from dashboard.base.list_page import ROWS
from mailbox.inspection.search import full_text
from mailbox.life import results
from mailbox.models import Lease
from mailbox.words.envelopes import ResultStatus
from tests.support import factories, talking

pytestmark = pytest.mark.django_db

HOSTILE = [
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)' \"><b>",
    "\u202eright to left\u202c مرحبا بالعالم",
    "{{ 7|add:7 }}{% now 'Y' %}",
    "x" * 100_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=["html", "quotes", "rtl", "template", "long"])
@pytest.mark.parametrize("place", ["tasks/", "task", "leases/", "results/?delivery=all", "audit/"])
def test_hostile_text_is_escaped_on_every_page(ana, alice, bob, text, place):
    lease = factories.leased_task(alice, bob, intent_text=text)
    results.post_result(
        bob,
        factories.result_envelope(
            lease.task, status=ResultStatus.ERROR, error_message=text[:500], lease_id=lease.lease_id
        ),
    )
    if place == "leases/":
        factories.leased_task(alice, bob, intent_text=text)
    path = f"/ops/tasks/{lease.task.uuid}/" if place == "task" else f"/ops/{place}"

    response = ana.get(path)

    assert response.status_code == 200
    assert "<script>alert" not in response.text
    assert "<img" not in response.text
    assert len(response.content) < 300_000


def test_a_task_page_shows_the_text_to_the_last_character(ana, alice, bob):
    task = factories.sent_task(alice, bob, intent_text=f"first {'x' * 60_000} last", metadata={"n": 2**60})

    text = ana.get(f"/ops/tasks/{task.uuid}/").text

    assert "first x" in text
    assert "x last</bdi></p>" in text
    assert str(2**60) in text


def test_a_shortened_text_is_marked_and_downloaded_whole(ana, alice, bob):
    task = factories.sent_task(alice, bob, intent_text=f"{'x' * 100_000} last", metadata={"n": 2**60})

    page = ana.get(f"/ops/tasks/{task.uuid}/").text
    whole = ana.get(f"/ops/tasks/{task.uuid}/json")
    rest = ana.get(f"/ops/tasks/{task.uuid}/parts/intent")

    assert "Open all" in page
    assert str(2**60) in page
    text = whole.getvalue().decode()
    assert "x last" in text
    assert str(2**60) in text
    assert rest.text == task.intent_text


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 3),
        ("state:queued", 1),
        ("state:queued,ok", 2),
        ("-state:queued", 2),
        ("to:bob", 3),
        ("to:alice", 0),
        ("agent:alice@local", 3),
        ("key:inv-*", 1),
        ("key:inv-7", 1),
        ("safety:idempotent", 1),
        ("age:<1h", 3),
        ("age:>1h", 0),
        ("attempt:>0", 2),
        ("report", 2),
        ('"the invoice"', 1),
        ("state:in_flight summarise", 1),
        ("state:interrupted", 0),
    ],
)
def test_tasks_are_filtered_by_query(ana, alice, bob, query, count):
    factories.resolved_task(alice, bob)
    factories.leased_task(alice, bob)
    factories.sent_task(alice, bob, intent_text="pay the invoice", idempotency=factories.idempotent("inv-7"))

    assert len(ana.get("/ops/tasks/", {"q": query}).context["page"].items) == count


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("state:interrupted", 2),
        ("-state:interrupted", 1),
        ("awaits:input", 1),
        ("awaits:authorization", 1),
        ("awaits:input,authorization", 2),
        ("-awaits:input", 2),
        ("awaits:input to:bob", 1),
    ],
)
def test_interrupted_tasks_are_filtered_and_exported_with_what_they_await(ana, alice, bob, query, count):
    for awaits in ("input", "authorization"):
        talking.asked(bob, factories.leased_task(alice, bob), "well?", awaits=awaits)
    factories.sent_task(alice, bob)

    page = ana.get("/ops/tasks/", {"q": query})
    exported = [json.loads(line) for line in b"".join(ana.get("/ops/tasks.jsonl", {"q": query})).splitlines()]

    assert len(page.context["page"].items) == len(exported) == count
    assert {(one["state"], one["awaits"]) for one in exported} <= {
        ("interrupted", "input"),
        ("interrupted", "authorization"),
        ("queued", None),
    }


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("colour:red", "Unknown key “colour”"),
        ("awaits:godot", "Use one of: input, authorization"),
        ("state:odd", "Unknown state “odd”"),
        ("age:soon", "a duration. Examples"),
        ("id:7f3", "an ID. Use the full ID or at least its first 4 characters."),
        ("attempt:many", "a number for attempt"),
        ("x" * 501, "longer than"),
    ],
)
def test_an_invalid_query_is_refused_with_the_reason(ana, query, message):
    response = ana.get("/ops/tasks/", {"q": query})

    assert response.status_code == 400
    assert message in response.text


@pytest.mark.parametrize("path", ["tasks/", "tasks/?q=agent:bob", "results/", "audit/", "audit/?q=kind:a2a_*"])
def test_each_list_needs_few_queries(ana, alice, bob, django_assert_max_num_queries, path):
    for _ in range(10):
        factories.resolved_task(alice, bob)

    with django_assert_max_num_queries(8 if path.startswith("audit") else 7):  # the journal has a sample for its chips
        ana.get(f"/ops/{path}")


def test_a_task_page_needs_few_queries(ana, alice, bob, django_assert_max_num_queries):
    lease = factories.leased_task(alice, bob)
    factories.sent_task(alice, bob, parent=lease.task.uuid)

    with django_assert_max_num_queries(9):
        ana.get(f"/ops/tasks/{lease.task.uuid}/")


@pytest.mark.parametrize("name", ["tasks", "results", "audit"])
def test_each_list_can_be_downloaded_as_csv_and_jsonl(ana, alice, bob, name):
    factories.resolved_task(alice, bob)

    table = b"".join(ana.get(f"/ops/{name}.csv", {"delivery": "all"})).decode().splitlines()
    lines = b"".join(ana.get(f"/ops/{name}.jsonl", {"delivery": "all"})).decode().splitlines()

    assert len(table) - 1 == len(lines) >= 1
    assert set(next(csv.reader(table))) == set(json.loads(lines[0]))
    assert ana.get(f"/ops/{name}.xlsx").status_code == 404


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_csv_download_escapes_formulas(ana, alice, bob, sign):
    factories.sent_task(alice, bob, intent_text=f'{sign}HYPERLINK("https://x.example")')

    assert f"\"'{sign}HYPERLINK" in b"".join(ana.get("/ops/tasks.csv")).decode()


def test_every_cell_of_a_csv_download_is_quoted(ana, alice, bob):
    factories.sent_task(alice, bob, intent_text="a;=1+1", task_kind="book")

    head, row = b"".join(ana.get("/ops/tasks.csv")).decode().splitlines()

    assert head.startswith('"id","state",')
    assert row.endswith(',"a;=1+1"')
    assert ',"book",' in row


def test_a_journal_row_has_a_page_and_an_unknown_number_has_none(vic, alice, bob):
    factories.leased_task(alice, bob)
    event = factories.last_event()

    page = vic.get(f"/ops/audit/{event.pk}/")

    assert "leased" in page.text
    assert vic.get("/ops/audit/999999999999/").status_code == 404
    assert vic.get(f"/ops/audit/{2**63}/").status_code == 404


@pytest.mark.parametrize(("query", "count"), [("actor:alice@local", 2), ("kind:a2a_*", 1), ("since:1h", 2)])
def test_the_journal_is_filtered_by_query(ana, alice, bob, query, count):
    factories.sent_task(alice, bob)

    assert len(ana.get("/ops/audit/", {"q": query}).context["page"].items) == count


def test_the_next_link_promises_at_most_one_page_of_rows(vic, alice, bob):
    for _ in range(ROWS + 3):
        factories.sent_task(alice, bob)

    page = vic.get("/ops/tasks/")
    (link,) = re.findall(r'<a class="button" href="([^"]+)">Next page</a>', page.text)
    rest = vic.get(f"/ops/tasks/{unescape(link)}")

    assert len(rest.context["page"].items) == 3
    assert "Next" not in rest.text


@pytest.mark.parametrize(("state", "count"), [("in_flight", 2), ("stale", 1), ("queued", 1)])
def test_the_list_counts_the_tasks_of_a_state(vic, alice, bob, state, count):
    factories.leased_task(alice, bob)
    old = factories.leased_task(alice, bob)
    factories.sent_task(alice, bob)
    Lease.objects.filter(pk=old.pk).update(leased_at=timezone.now() - timedelta(hours=1))

    page = vic.get(f"/ops/tasks/?state={state}")

    assert page.context["total"].value == len(page.context["page"].items) == count
    assert vic.get(f"/ops/tasks/?state={state}&q=to:alice@local").context["total"].value == 0


def test_the_list_says_when_words_have_more_rows_than_a_search_finds(vic, alice, bob, monkeypatch):
    monkeypatch.setattr(full_text, "COUNTED_TO", 1)
    monkeypatch.setattr(full_text, "MOST", 2)
    for number in range(3):
        factories.sent_task(alice, bob, intent_text=f"chapter {number}")

    assert str(vic.get("/ops/tasks/?q=chapter").context["total"]) == "1+"
    assert str(vic.get("/ops/tasks/?q=to:bob").context["total"]) == "3"

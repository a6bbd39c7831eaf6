"""Lists of very many rows in Django's admin: searched, filtered, taken away, and never read whole."""

from __future__ import annotations

import json

import pytest

from dashboard.admin.bounded import span_of
from mailbox.kinds import Kind
from mailbox.models import AuditEvent
from tests.dashboard.test_admin import READ_ONLY, at

pytestmark = pytest.mark.django_db


def test_the_journal_is_searched_and_filtered(history):
    client = at("viewer")

    def found(**asked):
        return client.get("/admin/mailbox/auditevent/", asked).context["cl"].result_count

    task = str(history.task.uuid)
    year = str(AuditEvent.objects.latest("pk").at.year)
    assert found() == AuditEvent.objects.count()
    assert found(q="kind:a2a_task_*") == AuditEvent.objects.filter(kind__startswith="a2a_task_").count()
    assert found(kind=Kind.RESULT_POSTED) == 2
    assert found(actor="alice@local") == AuditEvent.objects.filter(actor="alice@local").count()
    assert found(task=task, kind=Kind.TASK_LEASED) == 1
    assert found(task="no id") == 0
    assert found(date=year) == found()
    assert found(date="1999-01") == 0
    assert found(source="cli") == 0
    assert "here is no &quot;colour:&quot;" in client.get("/admin/mailbox/auditevent/", {"q": "colour:red"}).text


def test_leases_and_results_are_searched_too(history):
    client = at("viewer")

    def found(model, text):
        return client.get(f"/admin/mailbox/{model}/", {"q": text}).context["cl"].result_count

    assert [found("lease", text) for text in ("", "key:inv-7", "agent:bob", "agent:alice", "state:in_flight")] == [
        *(2, 1, 2, 0, 0)
    ]
    assert [found("lease", text) for text in (f"id:{history.lease_id}", "invoice", "-invoice")] == [1, 1, 1]
    assert [found("result", text) for text in ("", "status:ok", "status:error", "key:inv-7", "from:alice to:bob")] == [
        *(2, 2, 0, 1, 2)
    ]


@pytest.mark.parametrize("model", READ_ONLY)
@pytest.mark.parametrize("query", ["?q=state:ok", "?q=x%00", "?task=%00", "?date=0000", "?date=9999-12", "?p=99"])
def test_nonsense_in_the_address_of_a_list_fails_nothing(history, model, query):
    assert at("viewer").get(f"/admin/mailbox/{model}/{query}").status_code in (200, 302, 400)


@pytest.mark.parametrize("model", READ_ONLY)
def test_lists_count_no_further_than_they_show_and_sort_by_nothing_else(history, model, django_assert_max_num_queries):
    client = at("viewer")

    with django_assert_max_num_queries(11) as ran:
        client.get(f"/admin/mailbox/{model}/")

    counts = [one["sql"] for one in ran.captured_queries if "COUNT(" in one["sql"]]
    assert all("LIMIT" in sql for sql in counts)
    assert not any("DISTINCT" in one["sql"] for one in ran.captured_queries)


def test_what_is_filtered_is_taken_away(history):
    client = at("viewer")

    lines = (
        b"".join(client.get("/admin/mailbox/auditevent/export.jsonl", {"kind": Kind.TASK_SENT})).decode().splitlines()
    )
    table = b"".join(client.get("/admin/mailbox/auditevent/export.csv", {"actor": "nobody"})).decode().splitlines()

    assert [json.loads(line)["kind"] for line in lines] == [Kind.TASK_SENT] * 2
    assert len(table) == 1
    assert at(None, "stranger").get("/admin/mailbox/auditevent/export.csv").status_code == 403


@pytest.mark.parametrize(
    ("text", "days"), [("2026", 365), ("2024-02", 29), ("2026-12", 31), ("2026-01-31", 1), ("2026-02-30", 0), ("x", 0)]
)
def test_a_date_is_a_year_a_month_or_a_day(text, days):
    span = span_of(text)

    assert (span[1] - span[0]).days == days if span else days == 0

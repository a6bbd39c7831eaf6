"""Long lists in Django's admin are searched, filtered and exported, and never read whole."""

import json
from datetime import timedelta
from html import unescape

import pytest

from dashboard.admin.bounded import span_of
from mailbox.models import AuditEvent
from mailbox.upkeep import rollups
from mailbox.words.kinds import Kind
from tests.dashboard.admin.test_admin import READ_ONLY, staff_client

pytestmark = pytest.mark.django_db


def test_the_journal_is_searched_and_filtered(history):
    client = staff_client("viewer")

    def count(**parameters):
        return client.get("/admin/mailbox/auditevent/", parameters).context["cl"].result_count

    task = str(history.task.uuid)
    year = str(AuditEvent.objects.latest("pk").at.year)
    assert count() == AuditEvent.objects.count()
    assert count(q="kind:a2a_task_*") == AuditEvent.objects.filter(kind__startswith="a2a_task_").count()
    assert count(kind=Kind.RESULT_POSTED) == 2
    assert count(actor="alice@local") == AuditEvent.objects.filter(actor="alice@local").count()
    assert count(task=task, kind=Kind.TASK_LEASED) == 1
    assert count(date=year) == count()
    assert count(date="1999-01") == 0
    assert count(source="cli") == 0


def test_leases_and_results_are_searched(history):
    client = staff_client("viewer")

    def count(model, text):
        return client.get(f"/admin/mailbox/{model}/", {"q": text}).context["cl"].result_count

    assert [count("lease", text) for text in ("", "key:inv-7", "agent:bob", "agent:alice", "state:in_flight")] == [
        *(2, 1, 2, 0, 0)
    ]
    assert [count("lease", text) for text in (f"id:{history.lease_id}", "invoice", "-invoice")] == [1, 1, 1]
    assert [count("result", text) for text in ("", "status:ok", "status:error", "key:inv-7", "from:alice to:bob")] == [
        *(2, 2, 0, 1, 2)
    ]


FILTERS = [
    ("auditevent", "kind", "a2a_repair_applied", "kind"),
    ("auditevent", "actor", "bob@local", "actor"),
    ("auditevent", "task", "00000000-0000-4000-8000-000000000000", "task"),
    ("auditevent", "source", "cli", "source"),
    ("task", "state", "queued", "state"),
    ("task", "outcome", "expired", "state"),
    ("task", "source", "user", "source"),
    ("lease", "task", "00000000-0000-4000-8000-000000000000", "task"),
    ("lease", "holder", "bob@local", "agent"),
    ("task", "awaits", "authorization", "awaits"),
    ("message", "task", "00000000-0000-4000-8000-000000000000", "task"),
    ("artifact", "task", "00000000-0000-4000-8000-000000000000", "task"),
    ("result", "status", "error", "status"),
    ("result", "delivery", "pending", "delivery"),
    ("replayentry", "task", "00000000-0000-4000-8000-000000000000", "source"),
    ("replayentry", "status", "ok", "status"),
]


@pytest.mark.parametrize(("model", "name", "value", "key"), FILTERS)
def test_a_filter_runs_the_same_sql_as_its_search_key(history, model, name, value, key):
    client = staff_client("viewer")
    page = f"/admin/mailbox/{model}/"

    by_filter, by_query = (
        str(client.get(page, parameters).context["cl"].queryset.query)
        for parameters in ({name: value}, {"q": f"{key}:{value}"})
    )

    assert by_filter == by_query
    assert by_query.count(f'FROM "mailbox_{model}"') == 1  # no subquery reads the same table


@pytest.mark.parametrize(
    ("model", "mark"),
    [("auditevent", "last_event"), ("task", "last_task"), ("lease", "last_lease"), ("result", "last_result")],
)
def test_a_date_filter_searches_between_the_ids_of_roll_ups(history, model, mark):
    client = staff_client("viewer")

    def changelist(date):
        return client.get(f"/admin/mailbox/{model}/", {"date": date}).context["cl"]

    year = f"{history.leased_at:%Y}"
    before = changelist(year).result_count
    rollups.roll(history.leased_at + timedelta(minutes=5))

    assert f'."{mark}"' in str(changelist(year).queryset.query)
    assert (changelist(year).result_count, changelist("2001").result_count) == (before, 0)
    assert before > 0


@pytest.mark.parametrize("model", READ_ONLY)
@pytest.mark.parametrize("query", ["?q=state:ok", "?q=x%00", "?task=%00", "?date=0000", "?date=9999-12", "?p=99"])
def test_invalid_url_parameters_never_fail_an_admin_list(history, model, query):
    assert staff_client("viewer").get(f"/admin/mailbox/{model}/{query}").status_code in (200, 302, 400)


@pytest.mark.parametrize("model", ["message", "artifact"])
def test_lists_of_messages_and_artifacts_read_no_content(history, model, django_assert_max_num_queries):
    client = staff_client("viewer")

    with django_assert_max_num_queries(11) as ran:
        page = client.get(f"/admin/mailbox/{model}/", {"task": str(history.task.uuid)})

    assert page.context["cl"].result_count == 1
    assert [
        one["sql"] for one in ran.captured_queries if '"content"' in one["sql"] or '"intent_text"' in one["sql"]
    ] == []


@pytest.mark.parametrize("model", READ_ONLY)
def test_admin_lists_count_with_a_limit_and_without_distinct(history, model, django_assert_max_num_queries):
    client = staff_client("viewer")

    with django_assert_max_num_queries(11) as ran:
        client.get(f"/admin/mailbox/{model}/")

    counts = [one["sql"] for one in ran.captured_queries if "COUNT(" in one["sql"]]
    assert all("LIMIT" in sql for sql in counts)
    assert not any("DISTINCT" in one["sql"] for one in ran.captured_queries)


def test_an_export_holds_the_filtered_rows(history):
    client = staff_client("viewer")

    lines = (
        b"".join(client.get("/admin/mailbox/auditevent/export.jsonl", {"kind": Kind.TASK_SENT})).decode().splitlines()
    )
    table = b"".join(client.get("/admin/mailbox/auditevent/export.csv", {"actor": "nobody"})).decode().splitlines()

    assert [json.loads(line)["kind"] for line in lines] == [Kind.TASK_SENT] * 2
    assert len(table) == 1
    assert staff_client(None, "stranger").get("/admin/mailbox/auditevent/export.csv").status_code == 403


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"q": "colour:red"}, "Unknown key “colour”"),
        ({"q": "x" * 501}, "longer than"),
        ({"date": "2026-11-31"}, "date: invalid value &quot;2026-11-31&quot;"),
        ({"date": "garbage"}, "Use 2026, 2026-01 or 2026-01-31"),
        ({"task": "no id"}, "task: “no id” isn&#x27;t an ID"),
        ({"kind": "junk"}, "kind: unknown value &quot;junk&quot;"),
        ({"source": "a*"}, "source: unknown value &quot;a*&quot;"),
    ],
)
def test_an_invalid_filter_is_refused_by_the_list_and_its_export(history, parameters, message):
    client = staff_client("viewer")

    page = client.get("/admin/mailbox/auditevent/", parameters)
    export = client.get("/admin/mailbox/auditevent/export.csv", parameters)

    assert (page.status_code, export.status_code) == (400, 400)
    assert message.lower() in page.text.lower()
    assert unescape(message) in export.text
    assert "q:" not in export.text
    assert f'value="{parameters.get("q", "")}"' in page.text


@pytest.mark.parametrize(
    ("text", "days"), [("2026", 365), ("2024-02", 29), ("2026-12", 31), ("2026-01-31", 1), ("2026-02-30", 0), ("x", 0)]
)
def test_a_date_is_a_year_a_month_or_a_day(text, days):
    span = span_of(text)

    assert (span[1] - span[0]).days == days if span else days == 0


def test_a_lone_id_finds_its_task_and_a_malformed_query_keeps_the_list(history):
    client, task = staff_client("viewer"), str(history.task.uuid)

    def found(model, text):
        return client.get(f"/admin/mailbox/{model}/", {"q": text}).context["cl"].result_count

    assert [found(model, task) for model in ("task", "result", "message")] == [1, 1, 1]
    assert found("auditevent", task) == AuditEvent.objects.filter(task_id=task).count()
    refused = client.get("/admin/mailbox/auditevent/", {"q": "colour:red"})
    assert (refused.status_code, refused.context["cl"].result_count) == (400, 0)
    assert "Filter" in refused.text


@pytest.mark.parametrize("model", ["auditevent", "task", "lease", "result", "replayentry"])
def test_rows_are_filtered_by_a_range_of_time(history, model):
    client = staff_client("viewer")

    def count(**ends):
        return client.get(f"/admin/mailbox/{model}/", ends).context["cl"].result_count

    hour = timedelta(hours=1)
    before, after = (f"{moment:%Y-%m-%dT%H:%M}" for moment in (history.leased_at - hour, history.leased_at + hour))
    assert count(since=before, until=after) == count(since=before) == count(until=after) == count() > 0
    assert (count(since=after), count(until=before)) == (0, 0)
    refused = client.get(f"/admin/mailbox/{model}/", {"since": "noon"})
    assert refused.status_code == 400
    assert "invalid time &quot;noon&quot;" in refused.text


def test_a_count_that_is_cut_says_so(history, monkeypatch):
    client = staff_client("viewer")
    number = AuditEvent.objects.count()

    whole = client.get("/admin/mailbox/auditevent/").text
    monkeypatch.setattr("dashboard.admin.bounded.COUNTED_TO", number - 1)
    cut = client.get("/admin/mailbox/auditevent/").text

    assert f"{number} found" in whole
    assert f"{number - 1}+ found" in cut
    assert "the newest; search or filter for older ones" in cut


def test_the_journal_shows_short_ids_reasons_and_times_with_seconds(history):
    client, task = staff_client("viewer"), str(history.task.uuid)

    page = client.get("/admin/mailbox/auditevent/", {"task": task}).text
    newest = AuditEvent.objects.filter(task_id=task).latest("pk")
    row = client.get(f"/admin/mailbox/auditevent/{newest.pk}/change/").text

    assert f'<code title="{task}">{task[:4]}…{task[-4:]}</code>' in page
    assert f"{newest.at:%Y-%m-%d %H:%M:%S}" in page
    assert "column-reason" in page
    assert "Export CSV" in page
    assert '<pre class="json">{\n  &quot;' in row


def test_the_index_names_its_parts_in_plain_words():
    page = staff_client("admin").get("/admin/").text

    assert all(f">{name}</a>" in page for name in ("Mailbox", "Agent cards", "People and roles"))
    assert '<a href="/ops/">Dashboard</a>' in page

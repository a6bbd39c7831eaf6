"""The error of a failed task stands in every list and export."""

import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from mailbox.life import sending
from mailbox.models import Task
from mailbox.models.result import ERROR_READ
from mailbox.words.envelopes import ResultStatus
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db

LISTS = ["tasks/", "results/", "agents/bob@local/"]


def failed(alice, bob, message):
    return factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message=message, content=[])


@pytest.mark.parametrize("place", LISTS)
def test_each_list_shows_the_first_line_of_an_error_and_more_in_its_title(ana, alice, bob, place):
    failed(alice, bob, "connection refused by db-7\nTraceback: line 2")

    page = squeezed(ana.get(f"/ops/{place}").text)

    assert "<bdi>connection refused by db-7</bdi>" in page
    assert 'title="connection refused by db-7 Traceback: line 2"' in page


@pytest.mark.parametrize("place", LISTS)
def test_a_long_error_is_cut_with_an_ellipsis(ana, alice, bob, place):
    failed(alice, bob, "x" * 9_000)

    page = ana.get(f"/ops/{place}").text

    assert f"<bdi>{'x' * 160}…</bdi>" in page
    assert "x" * ERROR_READ in page
    assert "x" * (ERROR_READ + 1) not in page


@pytest.mark.parametrize("place", LISTS)
def test_a_list_shows_no_error_where_payloads_are_hidden(ana, alice, bob, place):
    failed(alice, bob, "connection refused")
    ana.cookies["ops_hide_payloads"] = "on"

    assert "connection refused" not in ana.get(f"/ops/{place}").text


@pytest.mark.parametrize("place", LISTS)
def test_a_list_reads_no_payload_and_no_whole_error(ana, alice, bob, place):
    failed(alice, bob, "no")

    with CaptureQueriesContext(connection) as made:
        ana.get(f"/ops/{place}")

    read = " ".join(query["sql"] for query in made).replace('"', "")
    payloads = r"(SELECT|,) mailbox_(task.intent_text|task.metadata|result.content|result.error_message)\b"
    assert re.findall(payloads, read) == []


@pytest.mark.parametrize("name", ["tasks", "results"])
def test_each_export_has_the_whole_error(ana, alice, bob, name):
    failed(alice, bob, "x" * 9_000)
    failed(alice, bob, None)

    lines = b"".join(ana.get(f"/ops/{name}.jsonl", {"delivery": "all"})).splitlines()

    assert [json.loads(line)["error_message"] for line in lines] == [None, "x" * 9_000]


def test_the_list_of_tasks_has_a_tab_for_each_end(ana, alice, bob):
    task = factories.sent_task(alice, bob)
    sending.cancel(alice, task.uuid, reason="not needed")

    page = ana.get("/ops/tasks/", {"state": "cancelled"})

    assert [row.pk for row in page.context["page"].items] == [task.pk]
    assert all(f"state={outcome}" in page.text for outcome in Task.Outcome.values)

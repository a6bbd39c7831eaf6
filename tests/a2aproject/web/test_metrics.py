"""`/metrics`: who may read it, and what it tells."""

import errno
from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from a2aproject.web import observation
from mailbox.database import waiting
from mailbox.inspection.health import gauges
from mailbox.upkeep import rollups
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db

TOKEN = "a-token-of-the-operator"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(autouse=True)
def _admitted(settings):
    settings.A2A_METRICS_TOKEN = TOKEN


@pytest.fixture
def read(client):
    """Return a function that reads the metrics: the value of each sample, by its name and labels."""

    def read():
        answer = client.get("/metrics", headers=BEARER)
        assert answer.status_code == 200, answer.content
        return {
            (sample.name, *sorted(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }

    return read


def requests_of(route, method="GET", status="200"):
    return "a2a_http_requests_total", ("method", method), ("route", route), ("status", status)


def test_the_answer_is_text_that_no_cache_keeps(client):
    answer = client.get("/metrics", headers=BEARER)

    assert answer["Content-Type"].startswith("text/plain; version=")
    assert answer["Cache-Control"] == "no-store"
    assert client.head("/metrics", headers=BEARER).status_code == 200


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xe9"])
def test_a_client_without_the_token_is_refused(client, given):
    answer = client.get("/metrics", headers={"Authorization": given} if given else {})

    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
    assert answer.json()["code"] == "unauthenticated"


def test_nobody_is_admitted_unless_an_operator_says_who(client, settings):
    settings.A2A_METRICS_TOKEN = ""

    answers = [client.get("/metrics", headers=headers) for headers in ({}, BEARER, {"Authorization": "Bearer "})]

    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(403, "forbidden")] * 3
    assert "A2A_METRICS_TOKEN and A2A_METRICS_ALLOW" in answers[0].json()["message"]


@pytest.mark.parametrize(
    ("address", "status"), [("10.1.2.3", 200), ("10.2.0.1", 401), ("::ffff:10.1.2.3", 200), ("unknown", 401)]
)
def test_an_allowed_network_needs_no_token(settings, address, status):
    settings.A2A_METRICS_ALLOW = [ip_network("10.1.0.0/16")]

    assert Client(REMOTE_ADDR=address).get("/metrics").status_code == status


def test_a_client_cannot_claim_an_allowed_address(settings):
    settings.A2A_METRICS_ALLOW = [ip_network("10.1.0.0/16")]

    answer = Client(REMOTE_ADDR="192.0.2.1").get("/metrics", headers={"X-Forwarded-For": "10.1.2.3"})

    assert answer.status_code == 401


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_metrics_are_only_read(method):
    answer = Client(enforce_csrf_checks=True).generic(method, "/metrics")

    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")


def test_the_state_of_the_hub_is_told(read, alice, bob):
    factories.leased_task(alice, bob)
    factories.sent_task(alice, bob)

    told = read()

    assert told["a2a_queue_tasks", ("agent", "bob@local")] == told["a2a_queue_leases", ("agent", "bob@local")] == 1
    assert 0 < told["a2a_queue_oldest_seconds", ("agent", "bob@local")] < 60
    assert (told[("a2a_tasks_queued",)], told[("a2a_leases_live",)], told[("a2a_leases_stale",)]) == (1, 1, 0)
    assert told[("a2a_agents",)] == 2
    assert told[("a2a_journal_rows",)] > 0
    assert (told[("a2a_database_up",)], told[("a2a_web_processes",)]) == (1, 1)
    assert told[("process_resident_memory_bytes",)] > 2**20


def test_results_and_latencies_are_told_once_they_are_rolled_up(read, alice, bob):
    factories.resolved_task(alice, bob)
    rollups.roll(timezone.now() + timedelta(minutes=5))

    told = read()

    assert told["a2a_results_total", ("status", "ok")] == 1
    assert told["a2a_results_total", ("status", "error")] == 0
    assert told[("a2a_tasks_sent_total",)] == told[("a2a_leases_begun_total",)] == 1
    for name in ("a2a_task_wait_seconds", "a2a_lease_seconds"):
        assert told[f"{name}_bucket", ("le", "+Inf")] == told[(f"{name}_count",)] == 1
        assert told[f"{name}_bucket", ("le", "65.536")] == 1
        assert told[(f"{name}_sum",)] > 0


def test_requests_are_counted_by_the_pattern_of_their_path(read, alice, bob):
    task = factories.sent_task(alice, bob)
    entry, lost, page = "/a2a/tasks/<id:task_id>/entry", "none", "/ops/"
    before = read()

    Api(alice).get(f"/a2a/tasks/{task.uuid}/entry")
    Api(alice).get(f"/a2a/tasks/{task.uuid}/entry")
    Client().get("/nothing/here")
    Client().get("/ops/")
    Client().generic("BREW", "/healthz")
    after = read()

    def more(key):
        return after.get(key, 0) - before.get(key, 0)

    assert more(requests_of(entry)) == 2
    assert more(("a2a_http_request_seconds_count", ("method", "GET"), ("route", entry))) == 2
    assert more(requests_of(lost, status="404")) == 1
    assert more(requests_of(page, status="302")) == 1
    assert more(requests_of("/healthz", method="other", status="405")) == 1


def test_all_pages_of_the_admin_are_one_route(read):
    before = read()

    Client().get("/admin/mailbox/task/")
    Client().get("/admin/auth/user/")

    assert read()[requests_of("/admin/", status="302")] - before.get(requests_of("/admin/", status="302"), 0) == 2


@pytest.mark.parametrize("failure", [MemoryError, OSError(errno.ENOMEM, "no memory"), IndexError])
def test_a_request_that_cannot_be_counted_is_answered(alice, monkeypatch, failure):
    def fail(*_):
        raise failure

    monkeypatch.setattr(observation, "_series", fail)

    assert Api(alice).get("/a2a/queue").status_code == 200


def test_waits_are_counted_while_they_last(read, settings, monkeypatch):
    settings.WEB_THREADS = 2
    monkeypatch.setattr(waiting, "seats", waiting.Seats())
    observation.follow_waits()
    before = read()[("a2a_waits_refused_total",)]

    with waiting.seats.seat(), waiting.seats.seat() as is_free:
        during = read()
    after = read()

    assert not is_free
    assert (during[("a2a_waits",)], during[("a2a_wait_seats",)]) == (1, 1)
    assert (after[("a2a_waits",)], after[("a2a_waits_refused_total",)] - before) == (0, 1)


def test_without_the_database_the_other_metrics_are_told(read, monkeypatch):
    def fail(*_, **__):
        raise OperationalError("the server is gone")

    monkeypatch.setattr(gauges, "read", fail)

    told = read()

    assert told[("a2a_database_up",)] == 0
    assert ("a2a_tasks_queued",) not in told
    assert ("process_resident_memory_bytes",) in told


def test_a_read_takes_a_fixed_number_of_queries(client, alice, bob, django_assert_num_queries):
    for _ in range(3):
        factories.sent_task(alice, bob)
    client.get("/metrics", headers=BEARER)

    with django_assert_num_queries(gauges.QUERIES):
        client.get("/metrics", headers=BEARER)

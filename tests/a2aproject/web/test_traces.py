"""Traces: one for each tree of tasks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from a2aproject.errors import UnusableSettingError
from a2aproject.settings import extras
from a2aproject.web import observation, traces
from a2aproject.web.log import Answered
from a2aproject.web.traces import Spans
from mailbox.inspection import roots
from tests.support import factories
from tests.support.api import Api
from tests.support.hub import PATIENCE, ROOT

pytestmark = pytest.mark.django_db

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
LOAD = """
import sys
sys.modules["opentelemetry.sdk"] = None
from a2aproject import settings
"""
ANSWER = """
import sys, django
django.setup()
from django.test import Client
assert Client().get("/healthz").status_code == 200
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""


@pytest.fixture
def spans(monkeypatch):
    """Record spans; return a function that returns and forgets them."""
    exporter = InMemorySpanExporter()
    monkeypatch.setattr(observation, "_spans", lambda: Spans(SimpleSpanProcessor(exporter)))

    def take():
        found = exporter.get_finished_spans()
        exporter.clear()
        return found

    return take


def trace_of(span):
    return UUID(int=span.context.trace_id)


def send(sender, recipient, **fields):
    body = {"recipient": recipient.name, "intent_text": "x", **fields}
    return UUID(Api(sender).post("/a2a/tasks", body).json()["task_id"])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("batch", [False, True])
def test_the_send_the_lease_the_result_and_the_drain_of_a_tree_are_in_one_trace(alice, bob, spans, batch):
    root = send(alice, bob)
    child = send(alice, bob, parent=str(root))
    grandchild = send(alice, bob, parent=str(child))
    assert {trace_of(span) for span in spans()} == {root}

    leased = []
    if batch:
        answer = Api(bob).post("/a2a/tasks/lease", {"max": 9, "attempt_id": str(uuid4())}).json()
        leased = [one["task"]["id"] for one in answer["leases"]]
    else:
        leased = [Api(bob).post("/a2a/tasks/next", {}).json()["task"]["id"] for _ in range(3)]
    results = [{"task_id": one, "status": "ok"} for one in leased]
    if batch:
        Api(bob).post("/a2a/results/batch", {"results": results})
        Api(alice).post("/a2a/results/drain", {"max": 9, "attempt_id": str(uuid4())})
    else:
        for result in results:
            Api(bob).post("/a2a/results", result)
            Api(alice).get("/a2a/results/next")

    found = spans()
    told = {task for span in found for task in span.attributes["a2a.tasks"]}
    assert {trace_of(span) for span in found} == {root}
    assert len(found) == (3 if batch else 9)
    assert told == {str(root), str(child), str(grandchild)}


def test_a_request_for_several_trees_has_a_span_in_each(alice, bob, spans):
    first, second = (send(alice, bob) for _ in range(2))
    spans()

    Api(bob).post("/a2a/tasks/lease", {"max": 9, "attempt_id": str(uuid4())})

    assert {trace_of(span) for span in spans()} == {first, second}


def test_a_span_tells_of_its_request(alice, bob, spans):
    task = send(alice, bob)

    (span,) = spans()
    told = dict(span.attributes)
    assert span.name == "POST /a2a/tasks"
    assert len(told.pop("a2a.request_id")) == 32
    assert told == {
        "http.request.method": "POST",
        "http.route": "/a2a/tasks",
        "http.response.status_code": 200,
        "a2a.agent": "alice@local",
        "a2a.tasks": (str(task),),
    }
    assert 0 < span.end_time - span.start_time < 60e9
    assert span.status.status_code is StatusCode.UNSET


def test_the_client_s_trace_is_linked_or_continued(alice, bob, spans):
    headers = {"traceparent": TRACEPARENT}
    Api(alice).post("/a2a/tasks", {"recipient": "bob@local", "intent_text": "x"}, headers=headers)
    (changing,) = spans()
    Client().get("/healthz", headers=headers)
    (reading,) = spans()

    (link,) = changing.links
    assert f"{link.context.trace_id:032x}" == TRACEPARENT.split("-")[1]
    assert changing.parent is None
    assert f"{reading.context.trace_id:032x}" == TRACEPARENT.split("-")[1]
    assert f"{reading.parent.span_id:016x}" == TRACEPARENT.split("-")[2]


def test_a_request_without_tasks_and_without_a_parent_has_a_trace_of_its_own(spans):
    for _ in range(2):
        Client().get("/healthz", headers={"traceparent": "nonsense"})

    one, other = spans()
    assert trace_of(one) != trace_of(other)
    assert one.links == one.attributes["a2a.tasks"] == ()


def test_a_failure_of_the_hub_is_an_error(spans):
    traces_of = Spans(SimpleSpanProcessor(exporter := InMemorySpanExporter()))
    failed = Answered(request_id="r", route="/x", method="GET", status=503, seconds=0.1, caller="")

    traces_of.record(failed, {}, ())

    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR


def test_the_root_is_found_through_any_parents(alice, bob):
    absent = uuid4()
    top = factories.sent_task(alice, bob).uuid
    child = factories.sent_task(alice, bob, parent=top).uuid
    orphan = factories.sent_task(alice, bob, parent=absent).uuid
    own = uuid4()
    factories.sent_task(alice, bob, id=own, parent=own)

    assert roots.of([child]) == roots.of([top, child]) == [top]
    assert roots.of([orphan]) == [absent]
    assert roots.of([own]) == [own]
    assert roots.of([child, orphan]) == sorted([top, absent])
    assert roots.of([]) == []
    assert roots.of([uuid4()]) == []


def test_only_a_hub_with_traces_asks_for_the_tree(alice, bob, spans, monkeypatch):
    def queries():
        with CaptureQueriesContext(connection) as made:
            send(alice, bob)
        return [query["sql"] for query in made if "RECURSIVE up" in (query["sql"] or "")]

    traced = queries()
    monkeypatch.setattr(observation, "_spans", lambda: None)

    assert (len(traced), len(queries())) == (1, 0)


@contextmanager
def collector():
    """Yield the URL of a collector on loopback, and the spans that it receives."""
    received = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.path, ExportTraceServiceRequest.FromString(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", received
        finally:
            server.shutdown()
            serving.join(PATIENCE)


def test_spans_reach_the_collector_by_http(alice, bob, settings):
    with collector() as (url, received):
        settings.OTEL_EXPORTER_OTLP_ENDPOINT = url
        sender = Spans()
        task = factories.sent_task(alice, bob)
        answered = Answered(
            request_id="r", route="/a2a/tasks", method="POST", status=200, seconds=0.1, caller="alice@local"
        )

        sender.record(answered, {}, [task.uuid])
        sender._provider.force_flush(int(PATIENCE * 1000))
        sender._provider.shutdown()

    ((path, request),) = received
    (resource,) = request.resource_spans
    (span,) = resource.scope_spans[0].spans
    named = {one.key: one.value.string_value for one in resource.resource.attributes}
    assert (path, span.name, span.trace_id) == ("/v1/traces", "POST /a2a/tasks", task.uuid.bytes)
    assert (named["service.name"], named["service.version"]) == ("a2a-hub", settings.A2A_VERSION)


def test_a_missing_extra_is_named(monkeypatch):
    for module in ("opentelemetry.sdk", "opentelemetry"):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(UnusableSettingError, match="OTEL needs the packages of the extra otel: run `make extras`"):
            extras.require("OTEL", "otel", "opentelemetry.sdk")
    extras.require("OTEL", "otel", "json")


def run(tmp_path, code, **environment):
    env = os.environ | {"A2A_VAR": str(tmp_path), "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "a2aproject.settings"}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env | environment, capture_output=True, text=True, timeout=PATIENCE
    )


def test_a_hub_with_traces_does_not_start_without_the_extra(tmp_path):
    refused = run(tmp_path, LOAD, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:4318")

    assert "OTEL_EXPORTER_OTLP_ENDPOINT needs the packages of the extra otel: run `make extras`." in refused.stderr
    assert run(tmp_path, LOAD).returncode == 0


def test_a_hub_without_traces_loads_no_opentelemetry(tmp_path):
    assert json.loads(run(tmp_path, ANSWER, ALLOWED_HOSTS="testserver").stdout) == []


def test_the_collector_s_url_may_have_a_path(settings):
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = "https://collector.example.org/otlp"

    assert traces.endpoint() == "https://collector.example.org/otlp/v1/traces"

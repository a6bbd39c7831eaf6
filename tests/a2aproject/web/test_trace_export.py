"""The way of spans to a collector, and the extra that it needs."""

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from a2aproject.errors import UnusableSettingError
from a2aproject.settings import environment
from a2aproject.web import traces
from a2aproject.web.log import Answered
from a2aproject.web.traces import Spans
from tests.support import factories
from tests.support.hub import PATIENCE, ROOT
from tests.support.settings import settings_of

pytestmark = pytest.mark.django_db

ANSWER = """
import sys, django
django.setup()
from django.test import Client
assert Client().get("/healthz").status_code == 200
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""


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


@pytest.mark.processes
def test_spans_reach_the_collector_by_http(alice, bob, settings):
    with collector() as (url, received):
        settings.OTEL_EXPORTER_OTLP_ENDPOINT = url
        sender = Spans()
        task = factories.sent_task(alice, bob)
        answered = Answered(
            request_id="r",
            route="/a2a/tasks",
            method="POST",
            status=200,
            seconds=0.1,
            caller="alice@local",
            is_known=True,
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
            environment.require("OTEL", "otel", "opentelemetry.sdk")
    environment.require("OTEL", "otel", "json")


def test_a_hub_with_traces_does_not_start_without_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    settings_of(A2A_VAR=str(tmp_path))

    with pytest.raises(UnusableSettingError, match="_ENDPOINT needs the packages of the extra otel: run `make extras`"):
        settings_of(A2A_VAR=str(tmp_path), OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:4318")


@pytest.mark.processes
def test_a_hub_without_traces_loads_no_opentelemetry(tmp_path):
    own = {"DJANGO_SETTINGS_MODULE": "a2aproject.settings", "ALLOWED_HOSTS": "testserver"}
    env = os.environ | {"A2A_VAR": str(tmp_path), "DATABASE_URL": ""} | own

    assert json.loads(subprocess.check_output([sys.executable, "-c", ANSWER], cwd=ROOT, env=env)) == []


def test_the_collector_s_url_may_have_a_path(settings):
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = "https://collector.example.org/otlp"

    assert traces.endpoint() == "https://collector.example.org/otlp/v1/traces"

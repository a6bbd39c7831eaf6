"""Traces: one for each tree of tasks."""

import re
from functools import partial
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from a2aproject.web import observation
from a2aproject.web.log import Answered
from a2aproject.web.traces import Spans
from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.access.credentials import public_routes
from mailbox.inspection import trees
from tests.authorisation import routes
from tests.support import factories
from tests.support.a2a import OfficialClient
from tests.support.api import Api

pytestmark = pytest.mark.django_db

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
UNSAMPLED = f"{TRACEPARENT[:-2]}00"


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


def given_by(parent):
    _, trace_id, span_id, _ = parent.split("-")
    return int(trace_id, 16), int(span_id, 16)


def test_a_tree_has_a_link_to_the_client_s_span(alice, spans, bob):
    body = {"recipient": "bob@local", "intent_text": "x"}
    for parent in (TRACEPARENT, UNSAMPLED):
        task = Api(alice).post("/a2a/tasks", body, headers={"traceparent": parent}).json()["task_id"]
        (span,) = spans()
        (link,) = span.links

        assert (link.context.trace_id, link.context.span_id) == given_by(parent)
        assert span.parent is None
        assert trace_of(span) == UUID(task)


def test_an_agent_s_trace_is_continued_as_it_is_sampled(alice, spans):
    read = partial(Api(alice).get, "/a2a/results/next")
    assert read(headers={"traceparent": UNSAMPLED}).status_code == 200
    assert spans() == ()

    read(headers={"traceparent": TRACEPARENT})

    (span,) = spans()
    assert (span.context.trace_id, span.parent.span_id) == given_by(TRACEPARENT)
    assert span.links == ()


@pytest.mark.parametrize("parent", [TRACEPARENT, UNSAMPLED])
@pytest.mark.parametrize("path", ["/healthz", "/a2a/tasks/sent", "/nowhere"])
def test_a_stranger_chooses_neither_the_trace_nor_whether_it_is_sampled(spans, parent, path):
    Client().get(path, headers={"traceparent": parent})

    (span,) = spans()
    (link,) = span.links
    assert span.parent is None
    assert span.context.trace_id != given_by(parent)[0]
    assert (link.context.trace_id, link.context.span_id) == given_by(parent)


def test_a_caller_by_a_public_route_is_a_stranger(spans, alice, olga):
    route = public_routes.add(olga, alice.agent, rate_limit=100)

    Client().get(f"/p/{route.token}/a2a/tasks/{uuid4()}", headers={"traceparent": UNSAMPLED})

    (span,) = spans()
    assert span.parent is None
    assert len(span.links) == 1
    assert span.attributes["a2a.agent"].startswith("alice@local (route")


@pytest.mark.parametrize("parent", [TRACEPARENT, UNSAMPLED])
def test_a_caller_without_credentials_at_an_open_agent_is_a_stranger(spans, bob, parent):
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    client = OfficialClient(None, bob)
    assert client.response("ListTasks", traceparent=parent).status_code == 200
    assert client.api.get(f"{client.base}/rest/tasks", headers={"traceparent": parent}).status_code == 200

    found = spans()
    assert [span.attributes["a2a.agent"] for span in found] == ["anonymous@public"] * 2
    assert [span.parent for span in found] == [None] * 2
    assert [(link.context.trace_id, link.context.span_id) for span in found for link in span.links] == [
        given_by(parent)
    ] * 2


@pytest.mark.deep
def test_no_route_knows_a_caller_without_credentials(spans, bob):
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    headers = {"traceparent": UNSAMPLED, "A2A-Version": "1.0"}
    unlike = []
    for route in routes.served():
        path = re.sub(r"<(\w+)>", lambda name: "bob" if name[1] in {"agent", "name"} else str(uuid4()), route)
        for method in ("GET", "POST"):
            Client().generic(method, path, "{}", "application/json", headers=headers)
            if [(span.parent, len(span.links)) for span in spans()] != [(None, 1)]:
                unlike.append(f"{method} {route}")

    assert unlike == []


def test_the_names_of_spans_are_bounded(spans):
    for method, path in (("GET", "/nowhere/1"), ("GET", "/healthz"), ("BREW", "/healthz"), ("X" * 99, "/nowhere/2")):
        Client().generic(method, path)

    found = spans()
    assert [span.name for span in found] == ["GET", "GET /healthz", "HTTP /healthz", "HTTP"]
    assert [span.attributes.get("http.route") for span in found] == [None, "/healthz", "/healthz", None]
    assert [span.attributes["http.request.method"] for span in found] == ["GET", "GET", "_OTHER", "_OTHER"]
    originals = [span.attributes.get("http.request.method_original") for span in found]
    assert originals == [None, None, "BREW", "X" * 32]


def test_a_request_without_tasks_and_without_a_parent_has_a_trace_of_its_own(spans):
    for _ in range(2):
        Client().get("/healthz", headers={"traceparent": "nonsense"})

    one, other = spans()
    assert trace_of(one) != trace_of(other)
    assert one.links == one.attributes["a2a.tasks"] == ()


def test_a_failure_of_the_hub_is_an_error(spans):
    traces_of = Spans(SimpleSpanProcessor(exporter := InMemorySpanExporter()))
    failed = Answered(request_id="r", route="/x", method="GET", status=503, seconds=0.1, caller="", is_known=False)

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

    assert trees.of([child]) == trees.of([top, child]) == [top]
    assert trees.of([orphan]) == [absent]
    assert trees.of([own]) == [own]
    assert trees.of([child, orphan]) == sorted([top, absent])
    assert trees.of([]) == []
    assert trees.of([uuid4()]) == []


def test_only_a_hub_with_traces_asks_for_the_tree(alice, bob, spans, monkeypatch):
    def queries():
        with CaptureQueriesContext(connection) as made:
            send(alice, bob)
        return [query["sql"] for query in made if "RECURSIVE up" in (query["sql"] or "")]

    traced = queries()
    monkeypatch.setattr(observation, "_spans", lambda: None)

    assert (len(traced), len(queries())) == (1, 0)

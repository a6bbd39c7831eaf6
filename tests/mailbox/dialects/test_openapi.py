"""The OpenAPI document says what the routes do: every route is in it, and no request it allows surprises one."""

import gzip
import re
from io import StringIO

import jsonschema_rs
import pytest
import schemathesis
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.urls import URLPattern, get_resolver
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mailbox.access.callers import Role
from mailbox.dialects.base.view import DialectView
from tests.support import factories
from tests.support.api import schema

CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance, content_type_conformance]
OPERATIONS = [(method, path) for path, operations in schema()["paths"].items() for method in operations]


def routes(patterns, prefix=""):
    for entry in patterns:
        if isinstance(entry, URLPattern):
            view = getattr(entry.callback, "cls", None)
            is_described = getattr(entry.callback, "initkwargs", {}).get("schema", view) is not None
            yield prefix + str(entry.pattern), view if is_described else None
        else:
            yield from routes(entry.url_patterns, prefix + str(entry.pattern))


def test_the_document_is_valid_openapi():
    document = schema()

    assert document["openapi"] == "3.1.0"
    for component in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate(component)


def test_every_route_of_the_api_is_in_the_document():
    spelled = {
        re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", f"/{route}")
        for route, view in routes(get_resolver().url_patterns)
        if view is not None and issubclass(view, DialectView) and view.schema is not None
    }

    assert spelled == set(schema()["paths"])


def test_every_operation_has_an_id_of_its_own_and_a_summary():
    operations = [operation for path in schema()["paths"].values() for operation in path.values()]

    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert [operation for operation in operations if not operation["summary"]] == []
    assert not any("A view of some dialect" in operation.get("description", "") for operation in operations)


def test_every_request_body_is_described():
    bodies = {
        media["schema"]["$ref"].rpartition("/")[2]
        for operations in schema()["paths"].values()
        for operation in operations.values()
        for media in operation.get("requestBody", {"content": {}})["content"].values()
    }
    components = schema()["components"]["schemas"]

    assert len(bodies) > 20
    assert [name for name in sorted(bodies) if not components[name].get("description")] == []


def test_the_document_speaks_to_its_users():
    to_authors = re.compile(
        r"\b(seed|ours|source: |A2A[A-Z]\w+|TaskSubmitRequest|TaskStatusResponse|whoever|FastAPI)", re.IGNORECASE
    )
    texts = [component.get("description", "") for component in schema()["components"]["schemas"].values()]
    texts += [operation["summary"] for path in schema()["paths"].values() for operation in path.values()]

    assert [text for text in texts if to_authors.search(text)] == []


@pytest.mark.deep
def test_the_document_is_made_without_a_warning(capsys):
    call_command("spectacular", fail_on_warn=True, validate=True, stdout=StringIO())

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("path", ["/a2a/tasks/next", "/a2a/results/next"])
def test_a_receive_is_described_by_query_and_for_post_by_body(path):
    asked = schema()["paths"][path]

    assert {"wait_ms", "attempt_id"} <= {parameter["name"] for parameter in asked["get"]["parameters"]}
    assert "requestBody" not in asked["get"]
    assert {"wait_ms", "attempt_id"} <= {parameter["name"] for parameter in asked["post"]["parameters"]}
    assert "requestBody" in asked["post"]


def test_the_document_is_served_to_anyone(client):
    served = client.get("/api/schema/?format=json")

    assert served.status_code == 200
    assert served.json()["paths"].keys() == schema()["paths"].keys()


def test_public_routes_alone_are_described_without_a_key():
    operations = [(path, operation) for path, methods in schema()["paths"].items() for operation in methods.values()]
    open_paths = {path for path, operation in operations if operation.get("security") == []}

    assert open_paths == {
        "/.well-known/agent-card.json",
        "/.well-known/agents/{name}",
        "/.well-known/a2a-agent",
        "/api/v1/a2a/capabilities",
        "/agents/{agent}/.well-known/agent-card.json",
        "/.well-known/jwks.json",
    }
    closed_by_a_setting = {"/agents/{agent}/.well-known/agent-card.json"}
    free = open_paths - closed_by_a_setting
    assert all("401" not in operation["responses"] for path, operation in operations if path in free)


def test_the_document_is_built_once_and_kept_by_caches(client, monkeypatch):
    first = client.get("/api/schema/?format=json")
    monkeypatch.setattr(SchemaGenerator, "get_schema", None)  # it is not built again
    compressed = client.get("/api/schema/?format=json", headers={"Accept-Encoding": "gzip"})
    monkeypatch.setattr(gzip, "compress", None)  # nor compressed
    second = client.get("/api/schema/?format=json&version=2")
    once_more = client.get("/api/schema/?format=json", headers={"Accept-Encoding": "gzip"})
    again = client.get("/api/schema/?format=json", headers={"If-None-Match": first["ETag"]})

    assert second.content == first.content == gzip.decompress(compressed.content)
    assert once_more.content == compressed.content
    assert (again.status_code, again.content) == (304, b"")
    assert first["Cache-Control"] == "public, max-age=300"
    assert first["Vary"] == compressed["Vary"] == "Accept-Encoding, Accept"


def test_the_document_is_yaml_for_a_client_that_accepts_it(client):
    served = client.get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi"})

    assert served.status_code == 200
    assert served.content.startswith(b"openapi: 3.1.0")


@pytest.fixture(scope="module")
def document():
    loaded = schemathesis.openapi.from_dict(schema())
    loaded.app = get_wsgi_application()
    return loaded


@pytest.fixture(autouse=True)
def the_connection_stays():
    """Serve within the test's transaction, as Django's own client does."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def tasks(alice, bob):
    """The ids of tasks in every state, which half of the requests that name one will name."""
    queued = factories.sent_task(alice, factories.agent("carol"))
    leased = factories.leased_task(alice, bob).task
    return [str(task.uuid) for task in (queued, leased, factories.drained_task(alice, bob).task)]


@pytest.mark.django_db
@pytest.mark.parametrize("party", [pytest.param("agent", marks=pytest.mark.one_database), "admin"])
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_a_documented_request_gets_a_documented_answer(document, tasks, bob, party, method, path):
    key = factories.key_of(bob if party == "agent" else factories.person("ada", Role.ADMIN))
    named = st.one_of(st.none(), st.sampled_from(tasks))

    @settings(max_examples=10, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(case=document[path][method].as_strategy(), task_id=named)
    def answers(case, task_id):
        if task_id and "task_id" in (case.path_parameters or {}):
            case.path_parameters["task_id"] = task_id
        for part in (case.query, case.body):
            if isinstance(part, dict) and "wait_ms" in part:
                part["wait_ms"] = 0
            if isinstance(part, dict) and "task_id" in part and task_id:
                part["task_id"] = task_id
        case.call_and_validate(headers={"Authorization": f"Bearer {key}"}, checks=CHECKS)

    answers()

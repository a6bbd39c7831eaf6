"""The envelope of JSON-RPC, the routes of HTTP+JSON, versions, media types, callers and tenants."""

import json

import pytest
from django.test import Client

from tests.support.a2a import OfficialClient, frames, hang_up, message, state
from tests.support.api import Api

pytestmark = pytest.mark.django_db

NOW = {"returnImmediately": True}


def post(client, body, **headers):
    return client.api.call("POST", f"{client.base}/a2a", body, headers=headers or None)


# ---- JSON-RPC


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{", -32700),
        ('{"a":1,"a":2}', -32700),
        ([], -32600),
        ([{"jsonrpc": "2.0", "id": 1, "method": "GetTask"}], -32600),
        ("1", -32600),
        ({}, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "GetTask"}, -32600),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "GetTask"}, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "GetTask"}, -32600),
        ({"jsonrpc": "2.0", "id": {}, "method": "GetTask"}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 1}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": []}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "NoSuch"}, -32601),
        ({"jsonrpc": "2.0", "id": 1, "method": "GetTask"}, -32602),
        ({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": 7}}, -32602),
    ],
)
def test_malformed_calls_are_answered_with_their_code(client, body, code):
    response = post(client, body)

    assert response.status_code == 200
    assert response.json()["error"]["code"] == code


@pytest.mark.parametrize("rpc_id", ["", "abc", 0, -3, 2**60, None])
def test_the_id_is_echoed_with_its_type(client, rpc_id):
    for method in ("ListTasks", "NoSuch"):
        answer = client.response(method, rpc_id=rpc_id).json()
        assert (answer["id"], type(answer["id"])) == (rpc_id, type(rpc_id))


def test_the_url_is_answered_with_a_slash_at_its_end(client):
    body = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks"}

    assert client.api.post(f"{client.base}/a2a/", body).json()["result"]["tasks"] == []


def test_invalid_fields_are_named_in_camel_case(client):
    bad = {"message": {"role": "ROLE_NO", "parts": [{"text": "a", "url": "b"}, {}]}}
    error = client.response("SendMessage", bad).json()["error"]
    info, request = error["data"]

    assert info == {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "INVALID_PARAMS",
        "domain": "a2a-protocol.org",
        "metadata": {},
    }
    fields = {violation["field"] for violation in request["fieldViolations"]}
    assert fields == {"message.messageId", "message.role", "message.parts.0", "message.parts.1"}


@pytest.mark.parametrize(
    ("version", "method", "code"),
    [
        ("1.0", "ListTasks", None),
        ("1.0.7", "ListTasks", None),
        ("1.0", "tasks/get", -32601),
        (None, "ListTasks", -32009),
        ("", "ListTasks", -32009),
        ("0.3", "ListTasks", -32009),
        ("0.3.0", "tasks/get", -32001),
        ("", "tasks/get", -32001),
        ("2.0", "ListTasks", -32009),
        ("0.2", "tasks/get", -32009),
        ("x", "ListTasks", -32009),
        ("1.0", "nope", -32601),
        ("", "nope", -32601),
    ],
)
def test_versions_and_methods(alice, bob, version, method, code):
    client = OfficialClient(alice, bob, version=version)
    answer = client.response(method, {"id": "x"} if method == "tasks/get" else {}).json()

    assert answer.get("error", {}).get("code") == code


def test_the_version_may_stand_in_the_query(alice, bob):
    client = OfficialClient(alice, bob, version=None)
    body = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks"}

    assert "result" in client.api.post(f"{client.base}/a2a?A2A-Version=1.0", body).json()


# ---- HTTP+JSON


def test_the_life_of_a_task_over_rest(rest, holder):
    sent = rest.post("/message:send", {"message": message(), "configuration": NOW}).json()["task"]
    path = f"/tasks/{sent['id']}"
    assert state(rest.get(path, historyLength="0").json()) == "SUBMITTED"
    assert rest.get("/tasks", pageSize="1", includeArtifacts="true").json()["totalSize"] == 1
    for _ in range(2):
        assert state(rest.post(f"{path}:cancel").json()) == "CANCELED"

    done = rest.post("/message:send", {"message": message(), "configuration": NOW}).json()["task"]
    holder.take()
    holder.answer()
    response = rest.post(f"/tasks/{done['id']}:cancel")
    assert response.status_code == 400
    error = response.json()["error"]
    assert (error["code"], error["status"]) == (400, "FAILED_PRECONDITION")
    assert error["details"][0]["reason"] == "TASK_NOT_CANCELABLE"


def test_streams_over_rest_have_no_envelope(rest, holder, settings):
    settings.A2A_FIRST_WORD_MS = 1
    settings.A2A_KEEPALIVE_MS = 10
    response = rest.post("/message:stream", {"message": message()})
    assert response.headers["Content-Type"] == "text/event-stream"
    first = next(frame for frame in frames(response) if "data" in frame)
    task = json.loads(first["data"])["task"]
    hang_up(response)

    for method in ("GET", "POST"):
        again = rest.call(method, f"/tasks/{task['id']}:subscribe")
        assert again.headers["Content-Type"] == "text/event-stream"
        hang_up(again)


UNKNOWN = [
    *("/agents/bob/rest", "/agents/bob/rest/", "/agents/bob/rest/nowhere", "/agents/bob@local/rest/tasks/1/2"),
    *("/agents/nobody/rest/nowhere", "/agents/bob/rest/a%0Ab", "/tenants/rest/bob", "/tenants/rest/bob/"),
    *("/tenants/rest/bob/message:say", "/tenants/rest/bob/tasks/"),
]


@pytest.mark.parametrize("media_type", ["application/json", "application/a2a+json"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS", "PURGE"])
def test_an_unknown_route_below_an_agent_gets_the_error_of_the_protocol(method, media_type):
    for path in UNKNOWN:
        response = Client().generic(method, path, "{}", content_type=media_type)

        error = json.loads(response.content)["error"]
        assert response.headers["Content-Type"] == media_type
        assert (response.status_code, error["code"], error["status"]) == (404, 404, "NOT_FOUND"), path
        assert error["details"][0]["reason"] == "METHOD_NOT_FOUND"


@pytest.mark.parametrize("path", ["/agents/bob", "/agents/bob/restless", "/tenants/rest", "/tenants/bob"])
def test_an_unknown_route_elsewhere_gets_the_hub_s_own_error(path):
    assert Client().get(path).json()["code"] == "not_found"


@pytest.mark.parametrize("version", [None, "", "0.3", "2.0"])
def test_rest_serves_version_1_0_alone(alice, bob, version):
    headers = {} if version is None else {"A2A-Version": version}
    api = Api(alice, headers=headers, prefix=f"/agents/{bob.agent.display}/rest")
    response = api.get("/tasks")

    assert response.status_code == 400
    assert response.json()["error"]["details"][0]["reason"] == "VERSION_NOT_SUPPORTED"


@pytest.mark.parametrize(
    ("sent", "accept", "answered"),
    [
        ("application/json", "", "application/json"),
        ("application/a2a+json", "", "application/a2a+json"),
        ("application/json", "application/a2a+json, application/json", "application/a2a+json"),
        ("application/json", "*/*", "application/json"),
    ],
)
def test_the_media_type_is_that_of_the_request(rest, sent, accept, answered):
    headers = {"Accept": accept} if accept else None
    body = {"message": message(), "configuration": NOW}
    good = rest.call("POST", "/message:send", body, headers=headers, content_type=sent)
    bad = rest.call("POST", "/message:send", {}, headers=headers, content_type=sent)

    assert (good.status_code, bad.status_code) == (200, 400)
    assert good.headers["Content-Type"] == bad.headers["Content-Type"] == answered


def test_pages_of_the_set_origins_alone_may_call(rest, settings):
    unset = rest.call("OPTIONS", "/tasks", headers={"Origin": "https://app.example"})
    assert "Access-Control-Allow-Origin" not in unset.headers

    settings.A2A_CORS_ORIGINS = ["https://app.example"]
    for origin, expected in (("https://app.example", "https://app.example"), ("https://other.example", None)):
        response = rest.call("OPTIONS", "/tasks", headers={"Origin": origin})
        assert response.headers.get("Access-Control-Allow-Origin") == expected
        assert response.headers["Vary"] == "Origin"

"""The envelope of messages: versions, headers, notifications, batches, and who may call."""

import base64

import pytest
from django.test import Client

from mailbox.access.callers import Role
from mailbox.access.limits import waits
from mailbox.dialects.mcp.messages import BY_HANDSHAKE, CLIENT_KEY, VERSION_KEY, VERSIONS
from tests.support import factories
from tests.support.api import Api
from tests.support.mcp import BOTH, BY_ENVELOPE, McpClient

pytestmark = pytest.mark.django_db

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ENVELOPE = {VERSION_KEY: BY_ENVELOPE, CLIENT_KEY: {}}
PARAMS = {"name": "whoami", "arguments": {}, "_meta": ENVELOPE}
CALL = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "tools/call",
    "params": PARAMS,
}


def posted(caller, body, **headers):
    response = Api(caller, headers={"Accept": BOTH}).post("/mcp", body, headers=headers)
    return response.status_code, response.json() if response.content else None


def error(caller, body, **headers):
    status, answer = posted(caller, body, **headers)
    return status, answer["id"], answer["error"]["code"]


@pytest.mark.parametrize(
    ("asked", "agreed"), [*((one, one) for one in BY_HANDSHAKE), (BY_ENVELOPE, "2025-11-25"), ("1999", "2025-11-25")]
)
def test_a_handshake_agrees_on_the_version_that_both_speak(alice, asked, agreed):
    params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}

    status, answer = posted(alice, {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params})

    assert (status, answer["id"]) == (200, "a")
    result = answer["result"]
    assert result["protocolVersion"] == agreed
    assert result["capabilities"] == {"tools": {}, "resources": {}}
    assert result["serverInfo"]["name"] == "a2a-hub"
    assert "receive_task" in result["instructions"]


def test_a_request_in_an_envelope_needs_no_handshake(alice):
    found = McpClient(alice, version=BY_ENVELOPE).call("server/discover")

    assert found["supportedVersions"] == list(VERSIONS)
    assert found["resultType"] == "complete"
    assert (found["cacheScope"], found["ttlMs"]) == ("private", 300_000)
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "a2a-hub"


def test_a_request_without_a_version_is_answered_so_that_a_program_can_pass_it_on(alice):
    assert posted(alice, PING) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})
    status, answer = posted(alice, CALL)
    assert (status, answer["result"]["structuredContent"]["agent"]) == (200, "alice@local")


@pytest.mark.parametrize("method", ["ping", "initialize"])
def test_the_methods_of_a_handshake_end_with_it(alice, method):
    assert McpClient(alice, version=BY_ENVELOPE).error(method) == (404, -32601)


@pytest.mark.parametrize("method", ["server/discover", "prompts/list", "resources/subscribe", "x"])
def test_another_method_is_unknown(alice, method):
    assert McpClient(alice).error(method) == (200, -32601)


@pytest.mark.parametrize(
    "body", ['"x"', 7, {}, {"jsonrpc": "1.0"}, {**PING, "id": None}, {**PING, "id": 1.5}, {**PING, "id": True}]
)
def test_what_is_no_message_is_refused(alice, body):
    assert error(alice, body) == (400, None, -32600)


@pytest.mark.parametrize("change", [{"method": 5}, {"params": []}])
def test_a_request_with_wrong_members_is_refused(alice, change):
    assert error(alice, PING | change)[::2] == (400, -32600)


def test_text_that_is_no_json_is_refused(alice):
    assert error(alice, b"{") == (400, None, -32700)


@pytest.mark.parametrize(
    "body", [{"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 5, "result": {}}]
)
def test_notifications_and_answers_are_accepted_without_an_answer(alice, body):
    assert posted(alice, body) == (202, None)


@pytest.mark.parametrize("version", ["1999-01-01", "", "2025-06-18, 2025-06-18"])
def test_a_header_with_an_unknown_version_is_refused_with_all_versions(alice, version):
    status, answer = posted(alice, PING, **{"MCP-Protocol-Version": version})

    assert (status, answer["error"]["code"]) == (400, -32022)
    assert answer["error"]["data"] == {"supported": list(VERSIONS), "requested": version}


@pytest.mark.parametrize("version", ["2025-11-25", "2099-01-01"])
def test_an_envelope_with_another_version_is_refused(alice, version):
    params = {**PARAMS, "_meta": {**ENVELOPE, VERSION_KEY: version}}

    assert error(alice, {**CALL, "params": params}) == (400, 7, -32022)


@pytest.mark.parametrize("meta", [None, {}, {VERSION_KEY: BY_ENVELOPE}, {CLIENT_KEY: {}}])
def test_an_envelope_that_is_not_whole_is_refused(alice, meta):
    params = {**PARAMS, "_meta": meta}

    assert error(alice, {**CALL, "params": params}, **{"MCP-Protocol-Version": BY_ENVELOPE}) == (400, 7, -32602)


WRAPPED = base64.b64encode(b"whoami").decode()
RIGHT = {"MCP-Protocol-Version": BY_ENVELOPE, "Mcp-Method": "tools/call", "Mcp-Name": "whoami"}


@pytest.mark.parametrize("change", [{}, {"Mcp-Name": f"=?base64?{WRAPPED}?="}])
def test_headers_that_repeat_the_message_are_accepted(alice, change):
    assert posted(alice, CALL, **RIGHT | change)[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {**RIGHT, "MCP-Protocol-Version": "2025-11-25"},
        {**RIGHT, "Mcp-Method": "tools/list"},
        {**RIGHT, "Mcp-Name": "say"},
        {**RIGHT, "Mcp-Name": "=?base64?###?="},
        {"MCP-Protocol-Version": BY_ENVELOPE},
        {"MCP-Protocol-Version": BY_ENVELOPE, "Mcp-Method": "tools/call"},
        {"Mcp-Method": "tools/list"},
    ],
)
def test_headers_that_differ_or_are_missing_are_refused(alice, headers):
    assert error(alice, CALL, **headers) == (400, 7, -32020)


def test_a_batch_of_2025_03_26_gets_the_answers_to_its_requests_in_their_order(alice):
    batch = [{**PING, "id": "a"}, {"jsonrpc": "2.0", "method": "notifications/x"}, {**PING, "id": 2, "method": "x"}, 5]

    for headers in ({}, {"MCP-Protocol-Version": "2025-03-26"}):
        status, answers = posted(alice, batch, **headers)
        assert status == 200
        assert [(one["id"], one.get("error", {}).get("code")) for one in answers] == [
            ("a", None),
            (2, -32601),
            (None, -32600),
        ]


def test_a_batch_of_notifications_is_accepted(alice):
    assert posted(alice, [{"jsonrpc": "2.0", "method": "notifications/x"}]) == (202, None)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25", BY_ENVELOPE])
def test_other_versions_have_no_batches(alice, version):
    assert error(alice, [PING], **{"MCP-Protocol-Version": version}) == (400, None, -32600)


@pytest.mark.parametrize("size", [0, 101])
def test_a_batch_has_bounds(alice, size):
    assert error(alice, [PING] * size) == (400, None, -32600)


def test_a_handshake_is_no_part_of_a_batch(alice):
    params = {"protocolVersion": "2025-03-26"}

    _, [answer] = posted(alice, [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}])

    assert answer["error"]["code"] == -32600


def test_a_batch_reads_no_contents(alice, bob):
    task = factories.sent_task(alice, bob)
    read = {"jsonrpc": "2.0", "method": "resources/read", "params": {"uri": f"a2a://tasks/{task.uuid}"}}

    _, answers = posted(alice, [{**read, "id": 1}, {**PING, "id": 2}])

    assert [answer.get("error", {}).get("code") for answer in answers] == [-32600, None]


def test_a_call_of_a_batch_does_not_wait(bob, monkeypatch):
    monkeypatch.setattr(waits, "vigil", None)  # a call that waits would fail
    call = {"name": "receive_task", "arguments": {"wait_ms": 60_000}}

    _, answers = posted(bob, [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": call} for n in (1, 2)])

    assert [one["result"]["structuredContent"]["task"] for one in answers] == [None, None]


def test_a_page_of_another_origin_is_refused_unless_the_operator_allows_it(alice, settings):
    origin = {"Origin": "https://app.example"}
    assert posted(alice, PING, **origin)[0] == 403
    assert posted(alice, PING, Origin="null")[0] == 403
    assert posted(alice, PING, Origin=settings.PUBLIC_URL)[0] == 200

    settings.A2A_CORS_ORIGINS = ["https://app.example"]
    response = Api(alice).post("/mcp", PING, headers=origin)
    asked = Api().call("OPTIONS", "/mcp", headers=origin)

    assert response.json()["result"] == {}
    assert response["Access-Control-Allow-Origin"] == origin["Origin"]
    assert "Mcp-Method" in asked["Access-Control-Allow-Headers"]
    assert asked.status_code == 204


def test_a_bug_is_answered_as_an_internal_error(alice, monkeypatch):
    monkeypatch.setattr("agentcards.tools.registered", lambda: 1 / 0)
    call = {**PING, "method": "tools/call", "params": {"name": "list_agents"}}
    key = {"Authorization": f"Bearer {factories.key_of(alice)}"}

    response = Client().post("/mcp", call, "application/json", headers=key)

    assert (response.status_code, response.json()["error"]["code"]) == (500, -32603)


def test_a_person_s_key_reads_as_elsewhere_and_works_for_nobody():
    client = McpClient(factories.person("ada", Role.OPERATOR))

    assert client.tool("whoami")["person"] == "ada"
    assert client.refused("receive_task").startswith("not_an_agent: ")

"""Requests of real YEOMAN peers, byte for byte as they serialise them, and the answers that they must get.

Source: Agnostic at ADR-019 and its client; SecureYeoman's core, Go edge, MCP tools and workflows.
"""

import uuid
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import ANY

RECEIVE = "/api/v1/a2a/receive"
JSON = {"Content-Type": "application/json"}
CORE = JSON | {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
GO = JSON | {"User-Agent": "Go-http-client/1.1"}
HTTPX = JSON | {"Accept": "*/*", "User-Agent": "python-httpx/0.28.1"}
# The capabilities that ADR-019's peer names, as an operator would set them.
STATIC = [
    {
        "name": "qa",
        "description": "6-agent QA pipeline (security, performance, regression, compliance)",
        "version": "1.0",
    },
    {"name": "security-audit", "description": "OWASP, GDPR, PCI DSS, SOC 2 compliance scanning", "version": "1.0"},
    {"name": "performance-test", "description": "Load testing and P95/P99 latency profiling", "version": "1.0"},
]
UNKNOWN = {"task_id": "gone", "status": None, "result": None, "data": None, "warning": "Task not found"}
PENDING = {
    "task_id": ANY,
    "session_id": ANY,
    "status": "pending",
    "created_at": ANY,
    "updated_at": ANY,
    "result": None,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One request and its answer. ``answer`` None: the sender ignores the body."""

    name: str
    body: str | None = None
    path: str = RECEIVE
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))
    status: int = 200
    answer: Any = None


def envelope(kind: str, payload: str, *, to: str = "agnostic", sender: str = "yeoman", message_id: str = "m-1") -> str:
    """Return an envelope as clients serialise it. ``payload`` is JSON text."""
    return (
        f'{{"id":"{message_id}","type":"{kind}","fromPeerId":"{sender}","toPeerId":"{to}",'
        f'"payload":{payload},"timestamp":1708516800000}}'
    )


def accepted(message_id: str = "m-1", **more: Any) -> dict[str, Any]:
    return {"accepted": True, "message_id": message_id, **more}


def _core(name: str, kind: str, payload: str, answer: Any, *, to: str = "bob@local") -> Row:
    message_id = str(uuid.uuid5(uuid.NAMESPACE_URL, name))
    body = envelope(kind, payload, to=to, sender="self", message_id=message_id)
    return Row(name=name, body=body, headers=CORE, answer=accepted(message_id, **answer))


def _agnostic(kind: str, payload: str, answer: Any) -> Row:
    message_id = "9b2c1f0e4d7a4f6b8c3d2e1f0a9b8c7d"
    body = envelope(kind, payload, to="secureyeoman", sender="agnostic-qa", message_id=message_id)
    return Row(name=f"Agnostic's client: {kind}", body=body, headers=HTTPX, answer=accepted(message_id, **answer))


def _tool(name: str, kind: str, payload: str, answer: Any) -> Row:
    return Row(name=f"MCP tool: {name}", body=envelope(kind, payload), answer=accepted(**answer))


def _nothing_done(kind: str) -> dict[str, str]:
    nothing = "Nothing was done: this hub keeps no credentials and passes none on. It has discarded the payload."
    return {"warning": f"Unhandled type: {kind}. {nothing}"}


def _unfit(name: str, body: str, kind: str, *loc: str | int) -> Row:
    error = {"type": kind, "loc": ["body", *loc], "msg": ANY, "input": ANY}
    if kind == "json_invalid":
        error["ctx"] = ANY
    return Row(name=f"does not fit: {name}", body=body, status=422, answer={"detail": [error]})


_PING = '{"id":"hb-1","type":"a2a:heartbeat","fromPeerId":"y","toPeerId":"a","payload":{},"timestamp":17}'
_SCAN = (
    '{"title":"Scan","description":"Run OWASP checks","priority":"high","agents":["security"],"standards":["OWASP"]}'
)
_QA = '{"title":"Login","description":"Check it","priority":"high","agents":[],"standards":[],"callback_secret":null}'
_NODE = '{"nodeId":"n1","hostname":"edge-7","arch":"arm64","totalMemoryMb":2048,"hasGpu":false,"tags":["lab"]}'

ENVELOPES = [
    Row(
        name="ADR-019: heartbeat",
        body=_PING,
        answer={"accepted": True, "message_id": "hb-1", "timestamp": 17},
    ),
    Row(name="ADR-019: delegate", body=envelope("a2a:delegate", _SCAN), answer=accepted(task_id=ANY)),
    Row(name="ADR-019: another type", body=envelope("foo", "{}"), answer=accepted(warning="Unhandled type: foo")),
    Row(name="ADR-019: the empty type", body=envelope("", "{}"), answer=accepted(warning="Unhandled type: ")),
    Row(
        name="ADR-019: a timestamp as text",
        body=_PING.replace("17", '"17"'),
        answer={"accepted": True, "message_id": "hb-1", "timestamp": 17},
    ),
    Row(name="ADR-019: unknown fields", body=_PING.replace('"payload"', '"hop":1,"payload"')),
    Row(name="wrong method", method="GET", status=405, answer={"detail": "Method Not Allowed"}),
    *(
        _unfit(f"no {name}", _PING.replace(f'"{name}"', '"other"'), "missing", name)
        for name in ("id", "type", "fromPeerId", "toPeerId", "timestamp")
    ),
    _unfit("a fraction of a millisecond", _PING.replace("17", "1.5"), "int_from_float", "timestamp"),
    _unfit("a number as id", _PING.replace('"hb-1"', "7"), "string_type", "id"),
    _unfit("a list as payload", _PING.replace("{}", "[]", 1), "dict_type", "payload"),
    _unfit("no JSON", "{", "json_invalid", 1),
    _core("core: delegate", "a2a:delegate", '{"task":"Summarise the incident"}', {"task_id": ANY}),
    _core(
        "core: delegate to a peer id of its own making",
        "a2a:delegate",
        '{"task":"Summarise the incident"}',
        {"task_id": ANY},
        to="01945e9c-0000-7cc1-8f3e-2a6b7b1f9d10",
    ),
    _core(
        "core: capability query",
        "a2a:capability-query",
        "{}",
        {"type": "a2a:capability-response", "capabilities": STATIC},
    ),
    _core("core: heartbeat", "a2a:heartbeat", '{"timestamp":1708516800000}', {"timestamp": 1708516800000}),
    Row(
        name="Go edge: heartbeat",
        body='{"id":"","type":"a2a:heartbeat","fromPeerId":"self","toPeerId":"","payload":null,"timestamp":1708516800000}',
        headers=GO,
        answer={"accepted": True, "message_id": "", "timestamp": 1708516800000},
    ),
    Row(
        name="Rust edge: a heartbeat without prefix",
        body=envelope("heartbeat", "{}"),
        answer=accepted(timestamp=1708516800000),
    ),
    _agnostic("a2a:heartbeat", '{"status":"healthy"}', {"timestamp": 1708516800000}),
    _agnostic("a2a:delegate", '{"description":"Check","task_type":"qa","params":{"n":1}}', {"task_id": ANY}),
    _agnostic("a2a:status_query", '{"task_id":"gone"}', {"type": "status_response", **UNKNOWN}),
    _agnostic("a2a:result_query", '{"task_id":"gone"}', {"type": "result_response", **UNKNOWN}),
    _agnostic("a2a:delegate_batch", '{"tasks":[{"description":"a"},{"description":"b"}]}', {"task_ids": [ANY, ANY]}),
    _agnostic("a2a:status_query_batch", '{"task_ids":["gone"]}', {"statuses": {"gone": None}}),
    _agnostic(
        "a2a:discover",
        "{}",
        {"type": "a2a:announce", "id": "bob@local", "name": ANY, "publicKey": ANY, "capabilities": STATIC},
    ),
    _agnostic("a2a:announce", '{"name":"n","url":"http://n","capabilities":[]}', {}),
    _agnostic("a2a:disconnect", "{}", {}),
    _agnostic("a2a:result", '{"task_id":"gone","result":{"ok":true}}', {"type": "result_cached", "warning": ANY}),
    _tool("agnostic_delegate_a2a", "a2a:delegate", _SCAN, {"task_id": ANY}),
    _tool(
        "agnostic_create_agent",
        "a2a:create_agent",
        '{"agent_key":"k","name":"n","role":"r","goal":"g","backstory":"b","tools":[]}',
        {"warning": "Unhandled type: a2a:create_agent"},
    ),
    _tool(
        "agnostic_provision_credentials",
        "a2a:provision_credentials",
        '{"provider":"openai","api_key":"sk-recorded-secret","metadata":{}}',
        _nothing_done("a2a:provision_credentials"),
    ),
    _tool(
        "agnostic_revoke_credentials",
        "a2a:revoke_credentials",
        '{"provider":"*","reason":"rotation"}',
        _nothing_done("a2a:revoke_credentials"),
    ),
]
AROUND = [
    Row(
        name="core: discover",
        method="GET",
        path="/.well-known/a2a-agent",
        headers={"Accept": "application/json"},
        answer={"id": "bob@local", "name": ANY, "publicKey": ANY, "capabilities": STATIC},
    ),
    Row(
        name="Agnostic's client: capabilities",
        method="GET",
        path="/api/v1/a2a/capabilities",
        headers=HTTPX,
        answer={"capabilities": STATIC},
    ),
    Row(
        name="Go edge: register",
        path="/api/v1/a2a/peers/local",
        headers=GO,
        body=f'{{"url":"http://0.0.0.0:18790","name":"edge-7","capabilities":{_NODE},"mode":"edge"}}',
        status=201,
    ),
    Row(name="MCP tool: agnostic_submit_qa", path="/api/tasks", body=_QA, answer=PENDING),
    Row(name="a client of the versioned path", path="/api/v1/tasks", body=_QA, status=201, answer=PENDING),
    Row(
        name="MCP tool: agnostic_task_status of no task",
        method="GET",
        path="/api/tasks/gone%20task",
        status=404,
        answer={"detail": "Task not found"},
    ),
    Row(
        name="workflow step a2a_delegate",
        path="/api/v1/a2a/tasks",
        body='{"task":"Summarise","context":{"run":1}}',
        answer=PENDING | {"taskId": ANY},
    ),
]
REFUSED = [
    ("no credentials", {}, "Missing or invalid authorization header"),
    ("Basic", {"Authorization": "Basic Og=="}, "Missing or invalid authorization header"),
    ("a bad key", {"X-API-Key": "wrong"}, "Invalid API key"),
    ("an empty key", {"X-API-Key": ""}, "Invalid API key"),
    ("a bad token", {"Authorization": "Bearer wrong"}, "Invalid or expired token"),
]

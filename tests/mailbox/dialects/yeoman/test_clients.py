"""Every request that real clients send us, as recorded, with the credentials they have: a key, or a route.

Source: Agnostic, YeomanA2AClient; SecureYeoman, core, Go edge, MCP tools, workflows.
"""

from __future__ import annotations

import pytest

from mailbox.models import Task
from mailbox.verbs.life import leasing, results
from tests.support import factories, yeoman
from tests.support.yeoman import TIMESTAMP

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent"), pytest.mark.one_database]

HEX_ID = "9b2c1f0e4d7a4f6b8c3d2e1f0a9b8c7d"  # Agnostic's ids have no dashes


@pytest.fixture(params=["X-API-Key", "Bearer", "route"])
def peer(request, alice, bob):
    if request.param == "route":
        return yeoman.Peer(prefix=factories.route(alice))
    if request.param == "Bearer":
        return yeoman.Peer(headers={"Authorization": f"Bearer {factories.key_of(alice)}"})
    return yeoman.Peer(alice)


def message(kind, payload, **fields):
    return {
        "id": HEX_ID,
        "type": kind,
        "fromPeerId": "agnostic-qa",
        "toPeerId": "secureyeoman",
        "payload": payload,
        "timestamp": TIMESTAMP,
        **fields,
    }


def test_the_go_edge_s_heartbeat_gets_exactly_200(peer):
    recorded = (
        '{"id":"","type":"a2a:heartbeat","fromPeerId":"self","toPeerId":"","payload":null,"timestamp":1708516800000}'
    )

    response = peer.receive(recorded)

    assert response.status_code == 200
    assert response.json() == {"accepted": True, "message_id": "", "timestamp": TIMESTAMP}


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("a2a:heartbeat", {"timestamp": TIMESTAMP}),
        ("a2a:heartbeat", {"status": "healthy"}),
        ("a2a:capability-query", {}),
        ("a2a:delegate", {"task": "Summarise the incident"}),
        ("a2a:create_agent", {"agent_key": "k", "name": "n", "role": "r", "goal": "g", "backstory": "b", "tools": []}),
        ("a2a:provision_credentials", {"provider": "openai", "api_key": "sk-1", "metadata": {}}),
        ("a2a:revoke_credentials", {"provider": "*", "reason": "rotation"}),
        ("a2a:discover", {}),
        ("a2a:announce", {"name": "n", "url": "http://n", "capabilities": []}),
        ("a2a:disconnect", {}),
        ("a2a:result", {"task_id": "t-1", "result": {"ok": True}}),
        ("a2a:status_query", {"task_id": "t-1"}),
        ("a2a:result_query", {"task_id": "t-1"}),
        ("a2a:status_query_batch", {"task_ids": ["t-1"]}),
        ("a2a:delegate_batch", {"tasks": [{"description": "d", "task_type": "qa"}]}),
    ],
)
def test_every_message_that_peers_send_is_accepted(peer, kind, payload):
    response = peer.receive(message(kind, payload))

    assert response.status_code == 200
    assert response.json()["accepted"] is True
    assert response.json()["message_id"] == HEX_ID


def test_core_s_delegate_keeps_all_its_text(peer, bob):
    core = message("a2a:delegate", {"task": "Summarise the incident"}, fromPeerId="self", toPeerId="bob@local")

    assert peer.receive(core).status_code == 200
    assert leasing.lease_tasks(bob)[0].task.intent_text == "Summarise the incident"


def test_agnostic_s_client_reads_the_keys_that_it_needs(peer, bob):
    factories.tool("paint", description="paints", is_default=True)
    delegated = peer.receive(message("a2a:delegate", {"description": "d", "task_type": "qa"})).json()["task_id"]
    batch = message("a2a:delegate_batch", {"tasks": [{"description": "e"}]}, id="f" * 32)
    [batched] = peer.receive(batch).json()["task_ids"]
    [lease, _] = leasing.lease_tasks(bob, limit=2)
    results.post_result(bob, factories.result_envelope(lease.task))

    asked = message("a2a:status_query_batch", {"task_ids": [delegated, batched]})
    statuses = peer.receive(asked).json()["statuses"]
    result = peer.receive(message("a2a:result_query", {"task_id": delegated})).json()
    capabilities = peer.get("/api/v1/a2a/capabilities").json()["capabilities"]

    assert (statuses[delegated]["status"], statuses[batched]["status"]) == ("completed", "running")
    assert result["result"] == {"content": factories.SOME_TEXT}
    assert capabilities == [{"name": "paint", "description": "paints", "version": "1.0", "agent": "bob@local"}]


def test_an_mcp_tool_delegates_submits_and_polls(peer):
    payload = {"title": "T", "description": "D", "priority": "high", "agents": [], "standards": []}
    sent = peer.receive(message("a2a:delegate", payload, fromPeerId="yeoman", toPeerId="agnostic"))
    submitted = peer.post("/api/tasks", {"title": "T", "description": "D", "priority": "high"})

    assert (sent.status_code, submitted.status_code) == (200, 200)
    for task_id in (sent.json()["task_id"], submitted.json()["task_id"]):
        assert peer.get(f"/api/tasks/{task_id}").json()["status"] == "pending"


def test_an_edge_registers_and_core_discovers(peer):
    body = {"url": "http://0.0.0.0:1", "name": "edge", "capabilities": {"nodeId": "n"}, "mode": "agent"}

    registered = peer.post("/api/v1/a2a/peers/local", body)
    discovered = peer.get("/.well-known/a2a-agent")

    assert registered.json()["peer"]["id"]
    assert {"id", "name", "publicKey", "capabilities"} <= discovered.json().keys()


def test_a_workflow_s_step_posts_its_task(peer):
    answer = peer.post("/api/v1/a2a/tasks", {"task": "t", "context": {}}).json()

    assert Task.objects.get().uuid.hex == answer["taskId"].replace("-", "")

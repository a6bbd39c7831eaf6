"""Real clients' requests against a served hub, with both kinds of credentials and through a route."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid

import httpx
import pytest

from tests.hub import PATIENCE, ROOT, database_of_its_own, served

GO_HEARTBEAT = (
    '{"id":"","type":"a2a:heartbeat","fromPeerId":"self","toPeerId":"","payload":null,"timestamp":1708516800000}'
)
SETUP = """
from agentcards.models import AgentProfile
from mailbox.models import Agent
AgentProfile.objects.create(agent=Agent.objects.get(display="bob@local"), default_project="main")
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with (
        database_of_its_own() as database_url,
        served(tmp_path_factory.mktemp("hub"), database_url=database_url, LOG_LEVEL="DEBUG") as running,
    ):
        yield running, {"A2A_VAR": str(running.log.parent), "DATABASE_URL": database_url, "PUBLIC_URL": running.url}


@pytest.fixture(scope="module")
def manage(hub):
    _, own = hub

    def run(*words):
        command = [sys.executable, "manage.py", *words]
        environment = os.environ | own
        return subprocess.run(
            command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True, timeout=PATIENCE
        ).stdout

    return run


@pytest.fixture(scope="module")
def cast(manage):
    keys = {name: json.loads(manage("a2a", "agents", "add", name, "--json"))["api_key"] for name in ("alice", "bob")}
    manage("a2a", "grant", "alice", "a2a.send.*")
    manage("shell", "--no-imports", "-c", SETUP)
    return keys | {"route": json.loads(manage("a2a", "route", "add", "alice", "--json"))}


@pytest.fixture(params=["X-API-Key", "Bearer", "route"])
def client(request, hub, cast):
    running, _ = hub
    headers = {"X-API-Key": {"X-API-Key": cast["alice"]}, "Bearer": {"Authorization": f"Bearer {cast['alice']}"}}
    base = cast["route"]["url"] if request.param == "route" else running.url
    with httpx.Client(base_url=base, headers=headers.get(request.param, {}), timeout=PATIENCE) as made:
        yield made


def test_the_go_edge_s_heartbeat_gets_exactly_200(client):
    headers = {"Content-Type": "application/json", "User-Agent": "Go-http-client/1.1"}

    assert client.post("/api/v1/a2a/receive", content=GO_HEARTBEAT, headers=headers).status_code == 200


def test_a_delegated_task_comes_back_answered(client, hub, cast):
    running, _ = hub
    envelope = {
        "id": str(uuid.uuid4()),
        "type": "a2a:delegate",
        "fromPeerId": "self",
        "toPeerId": "bob@local",
        "payload": {"task": "count the words"},
        "timestamp": 1708516800000,
    }

    sent, again = (client.post("/api/v1/a2a/receive", json=envelope) for _ in range(2))
    with httpx.Client(base_url=running.url, headers={"X-API-Key": cast["bob"]}) as worker:
        leased = worker.get("/a2a/tasks/next").json()["task"]
    pending = client.get(f"/api/tasks/{sent.json()['task_id']}").json()

    assert (sent.status_code, sent.json()) == (again.status_code, again.json())
    assert leased["id"] == sent.json()["task_id"]
    assert leased["intent_text"] == "count the words"
    assert pending["status"] == "running"


def test_what_the_hub_says_of_itself_is_public(client):
    assert client.get("/.well-known/a2a-agent").json()["id"] == "bob@local"
    assert len(client.get("/api/v1/a2a/capabilities").json()["capabilities"]) == 3


def test_a_served_route_logs_no_token_and_closes_at_once(hub, cast, manage):
    running, _ = hub
    route = json.loads(manage("a2a", "route", "add", "alice", "--json"))
    before = httpx.get(f"{route['url']}/.well-known/a2a-agent").status_code
    httpx.get(f"{route['url']}/nowhere")

    manage("a2a", "route", "revoke", route["public_id"])

    assert before == 200
    assert httpx.get(f"{route['url']}/.well-known/a2a-agent").status_code == 404
    assert route["url"].split("_")[-2] not in running.printed

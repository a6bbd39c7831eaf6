"""Real clients' requests against a served hub, with both kinds of credentials and through a route."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid

import httpx
import pytest

from tests.support import yeoman_recorded as recorded
from tests.support.hub import PATIENCE, ROOT, served

pytestmark = pytest.mark.one_database

SETUP = """
from agentcards.models import AgentProfile
from mailbox.models import Agent
AgentProfile.objects.create(agent=Agent.objects.get(display="bob@local"), default_project="main")
"""


@pytest.fixture(scope="module")
def recorded_hub(tmp_path_factory, migrated_database):
    with (
        migrated_database() as database_url,
        served(
            tmp_path_factory.mktemp("hub"),
            "--only",
            "web",
            database_url=database_url,
            LOG_LEVEL="DEBUG",
            A2A_CAPABILITIES=json.dumps(recorded.STATIC),
        ) as running,
    ):
        yield running, {"A2A_VAR": str(running.log.parent), "DATABASE_URL": database_url, "PUBLIC_URL": running.url}


@pytest.fixture(scope="module")
def manage(recorded_hub):
    _, own = recorded_hub

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
    manage("a2a", "grant", "bob", "a2a.respond.*")
    manage("shell", "--no-imports", "-c", SETUP)
    return keys | {"route": json.loads(manage("a2a", "route", "add", "alice", "--json"))}


@pytest.fixture(scope="module", params=["X-API-Key", "Bearer", "route"])
def client(request, recorded_hub, cast):
    running, _ = recorded_hub
    headers = {"X-API-Key": {"X-API-Key": cast["alice"]}, "Bearer": {"Authorization": f"Bearer {cast['alice']}"}}
    base = cast["route"]["url"] if request.param == "route" else running.url
    with httpx.Client(base_url=base, headers=headers.get(request.param, {}), timeout=PATIENCE) as made:
        yield made


@pytest.mark.parametrize("row", [*recorded.ENVELOPES, *recorded.AROUND], ids=lambda row: row.name)
def test_a_recorded_request_is_answered_as_its_sender_needs_it(client, row):
    response = client.request(row.method, row.path, content=row.body, headers=row.headers)

    assert response.status_code == row.status, response.text
    if row.answer is not None:
        assert response.json() == row.answer


@pytest.mark.parametrize(("name", "headers", "detail"), recorded.REFUSED)
@pytest.mark.parametrize("body", ["{", "{}"])
def test_bad_credentials_are_refused_before_the_body_is_read(recorded_hub, name, headers, detail, body):
    running, _ = recorded_hub
    response = httpx.post(f"{running.url}{recorded.RECEIVE}", content=body, headers=recorded.JSON | headers)

    assert (response.status_code, response.json()) == (401, {"detail": detail}), name


def test_a_sent_secret_is_in_no_log_and_no_row(client, recorded_hub, manage):
    running, _ = recorded_hub
    secret = f"sk-{uuid.uuid4().hex}"
    payload = json.dumps({"provider": "openai", "api_key": secret, "metadata": {}})

    answered = client.post(
        recorded.RECEIVE, content=recorded.envelope("a2a:provision_credentials", payload), headers=recorded.JSON
    )

    assert answered.status_code == 200
    assert secret not in running.printed
    assert secret not in manage("dumpdata", "--all")


def test_an_edge_s_registration_gives_it_its_id(client):
    row = next(row for row in recorded.AROUND if row.name == "Go edge: register")

    assert client.post(row.path, content=row.body, headers=row.headers).json()["peer"]["id"] == "alice@local"


def test_a_workflow_s_step_reads_the_id_of_its_task(client):
    answer = client.post("/api/v1/a2a/tasks", json={"task": "Summarise", "context": {}}).json()

    assert client.get(f"/api/tasks/{answer['taskId']}").json()["status"] == "pending"


def test_a_delegated_task_comes_back_answered(client, recorded_hub, cast):
    running, _ = recorded_hub
    envelope = json.loads(recorded.envelope("a2a:delegate", '{"task":"count the words"}', message_id=str(uuid.uuid4())))
    asking = recorded.envelope("a2a:result_query", '{"task_id":"%s"}')

    sent, again = (client.post(recorded.RECEIVE, json=envelope) for _ in range(2))
    task_id = sent.json()["task_id"]
    with httpx.Client(
        base_url=running.url, headers=recorded.JSON | {"X-API-Key": cast["bob"]}, timeout=PATIENCE
    ) as worker:
        leased = next(task for task in leases(worker) if task["id"] == task_id)
        pending = client.get(f"/api/tasks/{task_id}").json()
        answer = {"task_id": task_id, "result": {"words": 3}}
        posted = worker.post(recorded.RECEIVE, content=recorded.envelope("a2a:result", json.dumps(answer)))
    asked = client.post(recorded.RECEIVE, content=asking % task_id, headers=recorded.JSON).json()

    assert (sent.status_code, sent.json()) == (again.status_code, again.json())
    assert (leased["intent_text"], pending["status"]) == ("count the words", "running")
    assert posted.json() == recorded.accepted(type="result_cached", task_id=task_id)
    assert (asked["status"], asked["result"]) == ("completed", {"content": [{"type": "json", "value": {"words": 3}}]})


def leases(worker):
    """Lease the worker's tasks one after the other, for as long as there are any."""
    while task := worker.get("/a2a/tasks/next").json()["task"]:
        yield task


@pytest.mark.parametrize("slash", ["/", "//"])
def test_a_base_url_that_ends_in_slashes_reaches_the_hub(recorded_hub, cast, slash):
    running, _ = recorded_hub
    message = recorded.envelope("a2a:heartbeat", "{}")

    answers = [
        httpx.post(f"{base}{slash}{recorded.RECEIVE}", content=message, headers=headers | recorded.JSON)
        for base, headers in ((running.url, {"X-API-Key": cast["alice"]}), (cast["route"]["url"], {}))
    ]

    assert [(answer.status_code, answer.json()["accepted"]) for answer in answers] == [(200, True)] * 2


def test_the_hub_s_description_of_itself_is_public(client):
    assert client.get("/.well-known/a2a-agent").json()["id"] == "bob@local"
    assert len(client.get("/api/v1/a2a/capabilities").json()["capabilities"]) == 3


def test_a_served_route_logs_no_token_and_closes_at_once(recorded_hub, cast, manage):
    running, _ = recorded_hub
    route = json.loads(manage("a2a", "route", "add", "alice", "--json"))
    before = httpx.get(f"{route['url']}/.well-known/a2a-agent").status_code
    card = httpx.get(f"{route['url']}/.well-known/agent-card.json").json()
    httpx.get(f"{route['url']}/nowhere")

    manage("a2a", "route", "revoke", route["public_id"])

    assert (before, card["url"]) == (200, route["url"])
    assert httpx.get(f"{route['url']}/.well-known/a2a-agent").status_code == 404
    assert route["url"].split("_")[-2] not in running.printed

"""Real clients' requests, with both kinds of credentials and through a route."""

import io
import json
import logging
import uuid

import pytest
from django.core.management import call_command

from mailbox.life import leasing, results
from mailbox.models import Task
from tests.support import factories
from tests.support import yeoman_recorded as recorded
from tests.support.api import Api
from tests.support.yeoman import Peer

pytestmark = [pytest.mark.one_database, pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]


@pytest.fixture(autouse=True)
def _the_capabilities_of_the_recorded_peer(settings):
    settings.A2A_CAPABILITIES = recorded.STATIC


@pytest.fixture(params=["X-API-Key", "Bearer", "route"])
def client(request, alice):
    """Return a client that shows alice's credentials."""
    if request.param == "route":
        return Api(prefix=factories.route(alice))
    return Peer(alice) if request.param == "X-API-Key" else Api(alice)


@pytest.mark.every_case
@pytest.mark.parametrize("row", [*recorded.ENVELOPES, *recorded.AROUND], ids=lambda row: row.name)
def test_a_recorded_request_is_answered_as_its_sender_needs_it(client, row):
    response = client.call(row.method, row.path, row.body, headers=row.headers)

    assert response.status_code == row.status, response.content
    if row.answer is not None:
        assert response.json() == row.answer


@pytest.mark.parametrize(("name", "headers", "detail"), recorded.REFUSED)
@pytest.mark.parametrize("body", ["{", "{}"])
def test_bad_credentials_are_refused_before_the_body_is_read(name, headers, detail, body):
    response = Api().call("POST", recorded.RECEIVE, body, headers=headers)

    assert (response.status_code, response.json()) == (401, {"detail": detail}), name


@pytest.mark.parametrize("kind", ["a2a:provision_credentials", "a2a:revoke_credentials"])
def test_a_sent_secret_is_in_no_answer_no_log_and_no_row(client, kind, caplog, capfd):
    secret, rows = f"sk-{uuid.uuid4().hex}", io.StringIO()
    payload = json.dumps({"provider": "openai", "api_key": secret, "metadata": {}})

    with caplog.at_level(logging.DEBUG):
        answered = client.post(recorded.RECEIVE, recorded.envelope(kind, payload))
    printed = "".join(capfd.readouterr())
    call_command("dumpdata", use_base_manager=True, stdout=rows)

    assert answered.status_code == 200
    assert secret not in answered.text + caplog.text + printed
    assert not Task.objects.exists()
    assert "alice@local" in rows.getvalue()
    assert secret not in rows.getvalue()


def test_an_edge_s_registration_gives_it_its_id(client):
    row = next(row for row in recorded.AROUND if row.name == "Go edge: register")

    assert client.post(row.path, row.body).json()["peer"]["id"] == "alice@local"


def test_a_workflow_s_step_reads_the_id_of_its_task(client):
    answer = client.post("/api/v1/a2a/tasks", {"task": "Summarise", "context": {}}).json()

    assert client.get(f"/api/tasks/{answer['taskId']}").json()["status"] == "pending"


def test_agnostic_s_client_reads_the_keys_that_it_needs(client, bob):
    delegate = recorded.envelope("a2a:delegate", '{"description":"d","task_type":"qa"}')
    batch = recorded.envelope("a2a:delegate_batch", '{"tasks":[{"description":"e"}]}', message_id="f" * 32)
    task_id = client.post(recorded.RECEIVE, delegate).json()["task_id"]
    [batched] = client.post(recorded.RECEIVE, batch).json()["task_ids"]
    [lease, _] = leasing.lease_tasks(bob, limit=2)
    results.post_result(bob, factories.result_envelope(lease.task))

    query = recorded.envelope("a2a:status_query_batch", json.dumps({"task_ids": [task_id, batched]}))
    statuses = client.post(recorded.RECEIVE, query).json()["statuses"]

    assert (statuses[task_id]["status"], statuses[batched]["status"]) == ("completed", "running")
    assert statuses[task_id]["result"] == {"content": factories.SOME_TEXT}


def test_a_delegated_task_comes_back_answered(client, bob):
    envelope = recorded.envelope("a2a:delegate", '{"task":"count the words"}', message_id=str(uuid.uuid4()))

    sent, again = (client.post(recorded.RECEIVE, envelope) for _ in range(2))
    task_id = sent.json()["task_id"]
    (lease,) = leasing.lease_tasks(bob)
    pending = client.get(f"/api/tasks/{task_id}").json()
    answer = json.dumps({"task_id": task_id, "result": {"words": 3}})
    posted = Peer(bob).post(recorded.RECEIVE, recorded.envelope("a2a:result", answer))
    asked = client.post(recorded.RECEIVE, recorded.envelope("a2a:result_query", f'{{"task_id":"{task_id}"}}')).json()

    assert (sent.status_code, sent.json()) == (again.status_code, again.json())
    assert (str(lease.task.uuid), lease.task.intent_text) == (task_id, "count the words")
    assert pending["status"] == "running"
    assert posted.json() == recorded.accepted(type="result_cached", task_id=task_id)
    assert (asked["status"], asked["result"]) == ("completed", {"content": [{"type": "json", "value": {"words": 3}}]})

"""The receive endpoint as ADR-019 describes it and as its first server answered."""

import json

import pytest

from mailbox.life import leasing
from mailbox.models import Task
from tests.support import factories, yeoman
from tests.support.yeoman import RECEIVE, envelope

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]

MISSING = {"type": "missing", "msg": "Field required"}


def test_a_delegate_becomes_a_task_of_the_default_agent(peer, alice, bob):
    payload = {
        "title": "Security scan via A2A",
        "description": "Run OWASP checks on staging",
        "target_url": "https://staging.example",
        "priority": "high",
        "agents": ["security-compliance"],
        "standards": ["OWASP"],
    }

    response = peer.receive(envelope("a2a:delegate", payload, id="msg-001", toPeerId="agnostic"))

    [lease] = leasing.lease_tasks(bob)
    assert response.status_code == 200
    assert response.json() == {"accepted": True, "task_id": str(lease.task.uuid), "message_id": "msg-001"}
    assert lease.task.intent_text == "Run OWASP checks on staging"
    assert lease.task.sender == alice.agent
    assert lease.task.dialect == "yeoman"
    assert json.loads(lease.task.metadata) == {
        "title": "Security scan via A2A",
        "target_url": "https://staging.example",
        "priority": "high",
        "agents": ["security-compliance"],
        "standards": ["OWASP"],
        "envelope": {"message_id": "msg-001", "from_peer": "self", "to_peer": "agnostic"},
    }


@pytest.mark.parametrize(
    ("payload", "intent"),
    [
        ({"task": "count the words"}, "count the words"),
        ({"task": "count", "description": "other", "title": "t"}, "count"),
        ({"title": "Quick QA", "description": "Full pipeline"}, "Full pipeline"),
        ({"title": "Quick QA", "description": " "}, "Quick QA"),
        ({"title": "Quick QA", "task": None}, "Quick QA"),
        ({"title": None}, "A2A QA Task"),
        ({}, "A2A QA Task"),
        ({"description": "hi", "agents": "not a list", "priority": 7}, "hi"),
    ],
)
def test_the_text_of_a_delegate_is_its_intent(peer, payload, intent):
    answer = peer.send("a2a:delegate", payload)

    assert Task.objects.get(uuid=answer["task_id"]).intent_text == intent


@pytest.mark.parametrize("kind", ["foo", "", "a2a:create_agent", "a2a:delegate-response", "delegate", "A2A:DELEGATE"])
def test_any_other_type_is_accepted_with_a_warning(peer, kind):
    answer = peer.send(kind, {"anything": [1]}, id="m")

    assert answer == {"accepted": True, "message_id": "m", "warning": f"Unhandled type: {kind}"}
    assert not Task.objects.exists()


def test_credentials_in_a_bad_envelope_are_not_repeated(peer):
    body = envelope("a2a:provision_credentials", {"api_key": "sk-very-secret"})
    del body["timestamp"]

    assert "sk-very-secret" not in peer.receive(body).text
    assert "sk-very-secret" not in peer.receive(body | {"timestamp": 1, "payload": ["sk-very-secret"]}).text


@pytest.mark.parametrize("name", ["id", "type", "fromPeerId", "toPeerId", "timestamp"])
def test_a_missing_field_is_unprocessable(peer, name):
    body = envelope()
    del body[name]

    response = peer.receive(body)

    given = {key: value for key, value in body.items() if key != "payload"}
    assert response.status_code == 422
    assert response.json() == {"detail": [{**MISSING, "loc": ["body", name], "input": given}]}


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("id", 7, "string_type"),
        ("type", None, "string_type"),
        ("timestamp", 1.5, "int_from_float"),
        ("timestamp", "soon", "int_parsing"),
        ("timestamp", None, "int_type"),
        ("payload", [], "dict_type"),
        ("payload", "text", "dict_type"),
    ],
)
def test_a_field_of_the_wrong_type_is_unprocessable(peer, field, value, kind):
    response = peer.receive(envelope(**{field: value}))

    [problem] = response.json()["detail"]
    assert response.status_code == 422
    assert (problem["type"], problem["loc"]) == (kind, ["body", field])
    assert problem["input"] == (None if field == "payload" else value)


@pytest.mark.parametrize(("given", "echoed"), [("17", 17), (1.0, 1), (0, 0), (-5, -5), (10**30, 10**30)])
def test_a_timestamp_is_read_as_leniently_as_the_original_does(peer, given, echoed):
    assert peer.send("a2a:heartbeat", timestamp=given)["timestamp"] == echoed


@pytest.mark.parametrize(
    "change", [{"payload": None}, {"id": ""}, {"toPeerId": ""}, {"fromPeerId": ""}, {"extra": {"a": 1}}]
)
def test_a_field_that_real_senders_leave_empty_may_be_empty(peer, change):
    assert peer.receive(envelope() | change).status_code == 200


def test_the_payload_may_be_left_out(peer):
    body = envelope()
    del body["payload"]

    assert peer.receive(body).status_code == 200


def test_a_bad_api_key_does_not_fall_through_to_a_good_token(client, alice):
    headers = {"X-API-Key": "wrong", "Authorization": f"Bearer {factories.key_of(alice)}"}

    response = client.post(RECEIVE, "{}", content_type="application/json", headers=headers)

    assert response.json() == {"detail": "Invalid API key"}


@pytest.mark.parametrize("method", ["get", "put", "delete", "patch"])
def test_a_wrong_method_is_refused_before_a_missing_key(client, method):
    response = getattr(client, method)(RECEIVE)

    assert response.status_code == 405
    assert response.json() == {"detail": "Method Not Allowed"}


def test_the_limit_counts_messages_by_agent_and_not_by_key_or_peer_name(peer, alice, bob, settings):
    settings.A2A_RECEIVE_RATE_LIMIT_PER_MIN = 2
    other = yeoman.Peer(bob)

    senders = (peer, yeoman.Peer(alice), peer)
    statuses = [sender.receive(envelope(fromPeerId=f"peer-{at}")).status_code for at, sender in enumerate(senders)]
    refused = yeoman.Peer(alice).receive(envelope())

    assert statuses == [200, 200, 429]
    assert refused.json() == {"detail": "A2A rate limit exceeded"}
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert other.receive(envelope()).status_code == 200

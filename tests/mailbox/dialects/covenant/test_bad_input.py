"""Hostile input: a clear 4xx in the one error shape, the same on both databases, and nothing stored."""

import json
from uuid import uuid4

import pytest

from mailbox.models import AuditEvent, Lease, Result, Task
from tests.support import factories
from tests.support.api import Api, error_of

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def nothing_stored():
    """Fail when a test that has it leaves any row of work, or of a decision, behind."""
    yield
    assert not Task.objects.exists()
    assert not Result.objects.exists()
    assert not AuditEvent.objects.exists()


@pytest.mark.usefixtures("nothing_stored")
@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"intent_text": ""}, "intent_text"),
        ({"intent_text": "  "}, "intent_text"),
        ({"intent_text": None}, "intent_text"),
        ({"intent_text": 7}, "intent_text"),
        ({"task_kind": " "}, "task_kind"),
        ({"task_kind": "k" * 501}, "task_kind"),
        ({"id": "x"}, "id"),
        ({"id": 7}, "id"),
        ({"id": ""}, "id"),
        ({"parent": "x"}, "parent"),
        ({"deadline_ms": -1}, "deadline_ms"),
        ({"deadline_ms": 2**63}, "deadline_ms"),
        ({"deadline_ms": 10**400}, "deadline_ms"),
        ({"deadline_ms": 1.5}, "deadline_ms"),
        ({"deadline_ms": 1.0}, "deadline_ms"),
        ({"deadline_ms": "1"}, "deadline_ms"),
        ({"deadline_ms": True}, "deadline_ms"),
        ({"recipient": ""}, "recipient"),
        ({"recipient": "bob@"}, "recipient"),
        ({"recipient": {"display": "bob@local"}}, "recipient"),
        ({"recipient": {"display": "bob@local", "pubkey": "0"}}, "recipient"),
        ({"recipient": "b" * 201}, "recipient"),
        ({"sender": 7}, "sender"),
        ({"idempotency": {}}, "idempotency.duplicate_safety"),
        ({"idempotency": {"duplicate_safety": "Unsafe", "key": "k"}}, "idempotency.duplicate_safety"),
        ({"idempotency": {"duplicate_safety": "unsafe", "key": ""}}, "idempotency.key"),
        ({"idempotency": {"duplicate_safety": "idempotent", "key": " "}}, "idempotency.key"),
        ({"idempotency": {"duplicate_safety": "idempotent", "key": "k" * 501}}, "idempotency.key"),
        ({"idempotency": {"duplicate_safety": "idempotent", "key": 7}}, "idempotency.key"),
        ({"idempotency": "k"}, "idempotency"),
    ],
    ids=lambda value: json.dumps(value)[:80],
)
def test_a_wrong_field_of_a_task_is_named(alice, bob, fields, path):
    answer = Api(alice).post("/a2a/tasks", {"recipient": "bob", "intent_text": "x", **fields})

    assert error_of(answer) == (400, "invalid_request")
    assert path in answer.json()["fields"]


@pytest.mark.usefixtures("nothing_stored")
def test_every_missing_field_is_named_at_once(alice):
    answer = Api(alice).post("/a2a/tasks")

    assert error_of(answer) == (400, "invalid_request")
    assert set(answer.json()["fields"]) == {"recipient", "intent_text"}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"status": "OK"}, "status"),
        ({"status": "cancelled"}, "status"),
        ({"status": None}, "status"),
        ({"content": {}}, "content"),
        ({"content": ["x"]}, "content.0"),
        ({"content": [{}]}, "content.0.type"),
        ({"content": [{"type": "text", "text": "ok"}, {"type": "text", "text": 7}]}, "content.1.text"),
        ({"error_message": 7}, "error_message"),
        ({"lease_id": "x"}, "lease_id"),
        ({"task_id": "x"}, "task_id"),
    ],
    ids=lambda value: json.dumps(value)[:80],
)
def test_a_wrong_field_of_a_result_is_named(alice, bob, fields, path):
    lease = factories.leased_task(alice, bob)

    answer = Api(bob).post("/a2a/results", {"task_id": str(lease.task.uuid), "status": "ok", **fields})

    assert error_of(answer) == (400, "invalid_request")
    assert path in answer.json()["fields"]
    assert Lease.objects.get().ended_at is None
    assert not Result.objects.exists()


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ([], {"body": "must be a JSON object"}),
        ({"recipient": 7}, {"recipient": "expected an agent name or {display, pubkey}", "intent_text": "is required"}),
        (
            {"recipient": "bob", "intent_text": 7, "id": "x", "deadline_ms": -1, "idempotency": {"key": 1}},
            {
                "intent_text": "must be text",
                "id": "must be a UUID",
                "deadline_ms": "must be at least 0",
                "idempotency.duplicate_safety": "is required",
                "idempotency.key": "must be text",
            },
        ),
    ],
)
def test_errors_of_fields_are_worded_without_python(alice, body, fields):
    assert Api(alice).call("POST", "/a2a/tasks", json.dumps(body).encode()).json()["fields"] == fields


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ({}, "must have the field 'action'"),
        ({"action": "explode"}, "must have one of 'requeue', 'force_error' as its 'action'"),
        ({"action": 7}, "must have one of 'requeue', 'force_error' as its 'action'"),
    ],
)
def test_a_repair_without_a_known_action_is_worded_without_python(alice, command, problem):
    refused = Api(alice).post("/a2a/repair", {"task_id": str(uuid4()), "reason": "r", "command": command})

    assert error_of(refused) == (400, "invalid_request")
    assert refused.json()["fields"] == {"command": problem}


def test_unknown_and_invalid_query_parameters_are_named(alice):
    refused = Api(alice).call("GET", "/a2a/queue?colour=red&limit=x")

    assert refused.json()["fields"] == {"colour": "is not a field of this request", "limit": "must be a whole number"}


@pytest.mark.parametrize("what", ["entry", "result", "tree", "timeline"])
def test_an_unknown_query_parameter_of_one_task_is_named(alice, bob, what):
    path = f"/a2a/tasks/{factories.sent_task(alice, bob).uuid}/{what}"

    refused = Api(alice).call("GET", f"{path}?zzz=1")

    assert error_of(refused) == (400, "invalid_request")
    assert refused.json()["fields"] == {"zzz": "is not a field of this request"}
    assert Api(alice).get(path).status_code == 200


@pytest.mark.parametrize("text", ["1.0", "1e1", "1_0", "%2B1", "%201", "\u0661", "", "0x1"])
@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/a2a/queue", "limit"),
        ("/a2a/queue", "min_lease_age_ms"),
        ("/a2a/queue", "deadline_within_ms"),
        ("/a2a/tasks/recent", "limit"),
        ("/audit/recent", "limit"),
        ("/audit/recent", "since_ms"),
    ],
)
def test_a_whole_number_in_a_query_is_written_in_digits(alice, path, name, text):
    refused = Api(alice).call("GET", f"{path}?{name}={text}")

    assert error_of(refused) == (400, "invalid_request")
    assert refused.json()["fields"] == {name: "must be a whole number"}
    assert Api(alice).call("GET", f"{path}?{name}=1").status_code == 200


def test_the_error_of_too_many_parameters_gives_the_limit(alice):
    refused = Api(alice).call("GET", "/a2a/queue?" + "a=1&" * 5000)

    assert error_of(refused) == (400, "invalid_request")
    assert refused.json()["fields"] == {"query": "has more than 1000 parameters"}


@pytest.mark.parametrize("path", ["/a2a/tasks/x/y", "/a2a/tasks//entry", "/a2a/tasks/next/"])
def test_a_path_without_a_route_is_404(alice, path):
    assert error_of(Api(alice).call("GET", path)) == (404, "not_found")


def test_the_largest_deadline_and_deepest_content_are_kept(alice, bob):
    task_id = str(uuid4())
    Api(alice).post("/a2a/tasks", {"id": task_id, "recipient": "bob", "intent_text": "x", "deadline_ms": 2**63 - 1})
    deep = b"[" * 60 + b"]" * 60
    body = b'{"task_id": "%s", "status": "ok", "content": [{"type": "json", "value": %s}]}' % (task_id.encode(), deep)
    posted = Api(bob).call("POST", "/a2a/results", body)

    got = Api(alice).get("/a2a/results/next")

    assert posted.status_code == 200
    assert b'"value":' + deep in got.content

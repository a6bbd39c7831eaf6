"""Official clients meet each refusal as the error that their SDK has for it."""

from __future__ import annotations

import json

import pytest

from tests.support.clients.driven import RefusedError
from tests.support.clients.stage import PURIST
from tests.support.clients.talk import EVERY, NEW

UNKNOWN = "6f1c5a0e-0000-4000-8000-000000000000"
every = pytest.mark.parametrize("sdk", EVERY, ids=str)


def refusal(act, *arguments, **named):
    with pytest.raises(RefusedError) as refused:
        act(*arguments, **named)
    return refused.value.name


def refused_streams(talk, name):
    """Return the names that a client has for the refusal of a stream. Version 0.3 knows only that it is no stream."""
    return ("A2AClientHTTPError", "Error") if talk.client.is_old else (name,)


@every
@pytest.mark.parametrize("task_id", [UNKNOWN, "nope"])
def test_an_unknown_task_is_not_found(talk, task_id):
    acts = [talk.get, talk.cancel, lambda each: talk.config(each, "x")]

    assert {refusal(act, task_id) for act in acts} == {"TaskNotFoundError"}
    assert refusal(talk.subscribe(task_id).rest) in refused_streams(talk, "TaskNotFoundError")


@every
def test_a_finished_task_takes_no_message_and_no_subscription(talk):
    done = talk.task("complete")

    assert refusal(talk.send, "more", of=done) == "UnsupportedOperationError"
    assert refusal(talk.stream("more", of=done).rest) in refused_streams(talk, "UnsupportedOperationError")
    assert refusal(talk.subscribe(done.id).rest) in refused_streams(talk, "UnsupportedOperationError")


@pytest.mark.parametrize("sdk", NEW, ids=str)
def test_an_unknown_webhook_is_not_found(talk):
    assert refusal(talk.config, talk.task("ask").id, "nope") == "TaskNotFoundError"


@every
def test_a_context_that_is_not_the_task_s_is_refused(talk):
    asked = talk.task("ask")

    assert refusal(talk.send, "red", of=asked, context="another")


RPC = {"jsonrpc": "2.0", "id": "x", "method": "GetTask", "params": {"id": UNKNOWN}}
NO_PARTS = {"message": {"messageId": "m", "role": "ROLE_USER"}}
BARE = [
    ("unknown task", RPC, "1.0", -32001),
    ("wrong version", RPC, "0.5", -32009),
    ("no version", RPC, "", -32009),
    ("unknown method", {**RPC, "method": "Nope"}, "1.0", -32601),
    ("no parts", {**RPC, "method": "SendMessage", "params": NO_PARTS}, "1.0", -32602),
    ("unknown enum", {**RPC, "method": "ListTasks", "params": {"status": "TASK_STATE_RUNNING"}}, "1.0", -32602),
    ("batch", [RPC], "1.0", -32600),
    ("not 2.0", {**RPC, "jsonrpc": "1.0"}, "1.0", -32600),
    ("wrong id", {**RPC, "id": 1.5}, "1.0", -32600),
]


@pytest.mark.parametrize(("body", "version", "code"), [row[1:] for row in BARE], ids=[row[0] for row in BARE])
def test_a_bare_request_is_refused_in_the_shape_of_json_rpc(stage, body, version, code):
    with stage.http(**({"A2A_Version": version} if version else {})) as http:
        answer = http.post("a2a", json=body)

    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")
    error = answer.json()["error"]
    assert error["code"] == code
    assert error["data"][0]["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"


REST = [
    ("unknown task", "GET", f"rest/tasks/{UNKNOWN}", "1.0", 404, "NOT_FOUND", "TASK_NOT_FOUND"),
    ("malformed id", "GET", "rest/tasks/nope", "1.0", 404, "NOT_FOUND", "TASK_NOT_FOUND"),
    ("wrong version", "GET", "rest/tasks", "0.5", 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"),
    ("no version", "GET", "rest/tasks", "", 400, "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"),
    ("bad page", "GET", "rest/tasks?pageSize=0", "1.0", 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
    ("no parts", "POST", "rest/message:send", "1.0", 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
]


@pytest.mark.parametrize("row", REST, ids=[row[0] for row in REST])
def test_a_bare_request_is_refused_in_the_shape_of_rest(stage, row):
    _, method, path, version, code, status, reason = row
    body = json.dumps(NO_PARTS) if method == "POST" else None
    with stage.http(**({"A2A_Version": version} if version else {})) as http:
        answer = http.request(method, path, content=body, headers={"Content-Type": "application/json"})

    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["status"]) == (code, code, status)
    assert error["details"][0]["reason"] == reason


@every
def test_a_part_of_a_media_type_that_the_agent_does_not_take_is_refused(stage, sdk):
    talk = stage.talk(sdk, to=PURIST)
    file = {"bytes": "dGNr", "mimeType": "image/png"}
    part = {"kind": "file", "file": file} if sdk.is_old else {"raw": "dGNr", "mediaType": "image/png"}

    assert refusal(talk.send, parts=[talk.text_part("look"), part]) == "ContentTypeNotSupportedError"

"""The database is lost after the beginning of an answer: the rest is an error in the shape of the binding."""

import json
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection

from tests.support.a2a import frames, message

pytestmark = pytest.mark.django_db
UNAVAILABLE = "UNAVAILABLE"


@pytest.fixture(autouse=True)
def _waits_are_short(settings, monkeypatch):
    settings.A2A_KEEPALIVE_MS = 10
    settings.A2A_FIRST_WORD_MS = 1
    settings.A2A_BLOCKING_WAIT_MS = 400
    monkeypatch.setattr("mailbox.dialects.a2a.sending.QUICK", 0.01)


@contextmanager
def lost_database():
    def refuse(execute, sql, params, many, context):
        raise OperationalError("server closed the connection unexpectedly")

    with connection.execute_wrapper(refuse):
        yield


def called(client, rest, binding, method):
    """Send a message over a binding; return the response."""
    if binding == "rest":
        return rest.post("/message:send" if method == "SendMessage" else "/message:stream", {"message": message()})
    return client.response(method, {"message": message()}, rpc_id="mine")


def error_in(binding, body):
    """Return the reason of an error in the shape of its binding."""
    if binding == "rest":
        assert body.keys() == {"error"}
        assert (body["error"]["code"], body["error"]["status"]) == (503, UNAVAILABLE)
        return body["error"]["details"][0]["reason"]
    assert (body.keys(), body["id"]) == ({"jsonrpc", "id", "error"}, "mine")
    return body["error"]["data"][0]["reason"]


@pytest.mark.parametrize("binding", ["rpc", "rest"])
def test_a_stream_ends_with_the_error(client, rest, holder, binding):
    response = called(client, rest, binding, "SendStreamingMessage")
    found = frames(response)
    next(frame for frame in found if "data" in frame)
    holder.take()

    with lost_database():
        *_, last = found

    assert last["event"] == "error"
    assert error_in(binding, json.loads(last["data"])) == UNAVAILABLE


@pytest.mark.parametrize("binding", ["rpc", "rest"])
def test_a_waiting_answer_is_the_error(client, rest, binding):
    response = called(client, rest, binding, "SendMessage")
    chunks = response.streaming_content
    assert next(chunks) == b" "

    with lost_database():
        body = b"".join(chunks)

    assert error_in(binding, json.loads(body)) == UNAVAILABLE

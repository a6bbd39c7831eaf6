import json
from typing import Any

import pytest
from django.test import Client

from mailbox.dialects.mcp.tools import TOOLS
from tests.support import factories
from tests.support.a2a import Holder
from tools.fuzz import consistency
from tools.fuzz.mcp_requests import ARGUMENTS, McpSender, problems_of
from tools.fuzz.official_requests import STREAM, Got, Wanted

FEW = 600


@pytest.fixture
def sender():
    """Return a sender over the route in this process. Its agent sends tasks to itself too, so that it can work."""
    alice = factories.agent("alice", "a2a.send.*", "a2a.respond.*")
    bob = factories.agent("bob", "a2a.respond.*")
    factories.sent_task(alice, bob)
    for _ in range(20):
        factories.sent_task(alice, alice)
    holder = Holder(alice)
    holder.take()
    holder.make("x")
    known = [str(holder.lease.task.uuid), str(holder.lease.lease_id)]
    client, key = Client(), f"Bearer {factories.key_of(alice)}"

    def call(wanted: Wanted) -> Got:
        headers = {**wanted.headers, "Authorization": key}
        media_type = headers.pop("Content-Type", "")
        response: Any = client.generic(wanted.method, wanted.path, wanted.body or b"", media_type, headers=headers)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        return Got(response.status_code, response.headers.get("Content-Type", "").partition(";")[0], body)

    return McpSender(call=call, seed=1, ids=known)


def test_every_tool_has_an_example():
    assert ARGUMENTS.keys() == TOOLS.keys()


@pytest.mark.deep
@pytest.mark.one_database
@pytest.mark.django_db(transaction=True)
def test_every_answer_of_the_door_has_the_form_of_the_protocol(sender):
    sender.send(FEW)

    assert sender.defects == []
    assert {200, 202, 400} <= sender.statuses.keys()
    assert len(sender.answered) >= 10, sender.answered
    assert consistency.problems() == []


WANTED = Wanted("POST", "/mcp", {}, b'{"method": "tools/call", "params": {"name": "whoami"}}', is_rpc=True)
WRONG = {"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": {}}}


@pytest.mark.parametrize(
    ("got", "problem"),
    [
        (Got(500, "application/json", b"{}"), "status 500"),
        (Got(202, "", b"{}"), "an answer to a notification has a body"),
        (Got(200, "text/html", b"<html>"), "text/html of status 200 is not JSON"),
        (Got(200, "application/json", b'{"jsonrpc": "2.0"}'), "no message of JSON-RPC"),
        (Got(400, "application/json", b'{"jsonrpc": "2.0", "result": {}}'), "a result has the status of an error"),
        (Got(200, STREAM, b'data: {"jsonrpc": "2.0", "method": "x"}\n\n'), "a stream ends without an answer"),
        (Got(200, "application/json", json.dumps(WRONG).encode()), "the answer of whoami does not fit its schema"),
    ],
)
def test_an_answer_of_another_form_is_a_defect(got, problem):
    assert [*problems_of(WANTED, got)] == [problem]

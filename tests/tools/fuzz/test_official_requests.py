from typing import Any

import pytest
from django.test import Client

from tests.support import factories
from tests.support.a2a import Holder, OfficialClient
from tools.fuzz import consistency
from tools.fuzz.official_requests import Got, OfficialSender, Wanted, problem_of

FEW = 600


@pytest.fixture
def sender(settings):
    """Return a sender over routes in this process, which knows a resolved, an interrupted and a queued task."""
    settings.A2A_BLOCKING_WAIT_MS = settings.A2A_FIRST_WORD_MS = settings.A2A_STREAM_LIMIT_MS = 1
    settings.A2A_INBOUND_RATE_LIMIT_PER_MIN = 1_000_000
    alice, bob = factories.agent("alice", "a2a.send.*"), factories.agent("bob", "a2a.respond.*")
    official, holder = OfficialClient(alice, bob), Holder(bob)
    known = [official.send() for _ in range(3)]
    holder.take()
    holder.ask("which?")
    holder.take()
    holder.make("x")
    holder.answer("done")
    client, key = Client(), f"Bearer {factories.key_of(alice)}"

    def call(wanted: Wanted) -> Got:
        headers = {**wanted.headers, "Authorization": key}
        media_type = headers.pop("Content-Type", "")
        response: Any = client.generic(wanted.method, wanted.path, wanted.body or b"", media_type, headers=headers)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        return Got(response.status_code, response.headers["Content-Type"].partition(";")[0], body)

    return OfficialSender(call=call, seed=1, ids=[task["id"] for task in known])


@pytest.mark.deep
@pytest.mark.one_database
@pytest.mark.django_db(transaction=True)
def test_every_answer_of_the_official_routes_has_the_form_of_its_binding(sender):
    sender.send(FEW)

    assert sender.defects == []
    assert sender.statuses[200] > FEW // 10
    assert {400, 404} <= sender.statuses.keys()
    assert consistency.problems() == []


RPC = Wanted("POST", "/agents/bob/a2a", {}, b"{}", is_rpc=True)


@pytest.mark.one_database
@pytest.mark.parametrize(
    ("is_rpc", "got", "problem"),
    [
        (True, Got(200, "application/json", b'{"jsonrpc":"2.0","id":1,"result":{}}'), None),
        (True, Got(404, "application/json", b'{"jsonrpc":"2.0","id":1,"error":{}}'), None),
        (True, Got(404, "application/json", b'{"jsonrpc":"2.0","id":1,"result":{}}'), "a result has the status"),
        (True, Got(200, "application/json", b'{"error":{}}'), "no answer of JSON-RPC"),
        (True, Got(503, "application/json", b'{"jsonrpc":"2.0","id":1,"error":{}}'), "status 503"),
        (False, Got(200, "application/json", b"{}"), None),
        (False, Got(200, "application/json", b'{"error":{}}'), "status 200 with"),
        (False, Got(404, "application/json", b'{"detail":""}'), "status 404 with"),
        (False, Got(404, "text/html", b"<p>"), "text/html of status 404 is not JSON"),
        (False, Got(400, "text/event-stream", b""), "a refusal is a stream"),
        (False, Got(200, "application/json", b"[]"), "the answer is no JSON object"),
    ],
)
def test_an_answer_of_another_form_is_a_defect(is_rpc, got, problem):
    found = problem_of(RPC._replace(is_rpc=is_rpc), got)

    assert found is None if problem is None else found and found.startswith(problem)

import asyncio
import json
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import ClassVar

import httpx
import pytest

from a2a_hub_client import Answer, AsyncHub, Hub, _calls
from a2a_hub_client._sync import connection
from a2a_hub_client.errors import AnswerError, UnavailableError, UnreachableError
from a2a_hub_client.refusals import UnauthenticatedError
from a2a_hub_client.retry import AttemptIds, Retry
from tests.support.http_servers import Handler, serving

pytestmark = pytest.mark.one_database

ME = {"kind": "a2a_me", "agent": {"display": "bob@hub", "pubkey": "P", "new": 1}, "person": None, "role": None}
TASK = "00000000-0000-4000-8000-000000000000"
QUICK = Retry(first_pause=0.001, longest_pause=0.002, patience=30)


@pytest.fixture(autouse=True)
def _pauses_end_at_once(monkeypatch):
    monkeypatch.setattr(connection, "time", SimpleNamespace(sleep=lambda _: None))


class Server:
    """Answers requests in turn: by a response, or by an error of the network."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def ask_sync(server, request, *, key="k1", **how):
    with Hub("http://hub", key, transport=httpx.MockTransport(server), **_how(how)) as hub:
        answer = request(hub)
        return list(answer) if isinstance(answer, Iterator) else answer


def ask_async(server, request, *, key="k1", **how):
    async def ask():
        async with AsyncHub("http://hub", key, transport=httpx.MockTransport(server), **_how(how)) as hub:
            answer = request(hub)
            return [one async for one in answer] if isinstance(answer, AsyncIterator) else await answer

    return asyncio.run(ask())


def _how(how):
    return {"retry": QUICK, "timeout": 10.0, **how}


@pytest.fixture(params=[ask_sync, ask_async])
def ask(request):
    return request.param


def test_a_call_carries_the_key_and_returns_the_model(ask):
    server = Server(httpx.Response(200, json=ME))

    me = ask(server, lambda hub: hub.me())

    assert me.agent.display == "bob@hub"
    assert str(server.requests[0].url) == "http://hub/a2a/me"
    assert server.requests[0].headers["Authorization"] == "Bearer k1"


def test_a_long_poll_may_take_its_wait_and_the_timeout(ask):
    server = Server(httpx.Response(200, json={"result": None}))

    ask(server, lambda hub: hub.perform(_calls.result("t", wait=50.0)), timeout=7.0)

    allowed = server.requests[0].extensions["timeout"]
    assert (allowed["read"], allowed["connect"]) == (57.0, 7.0)


def test_a_repeat_sends_the_same_bytes_until_the_hub_answers(ask):
    server = Server(httpx.ReadError("cut"), httpx.Response(503), httpx.Response(200, json={"task_id": None}))
    server.answers[-1] = httpx.Response(200, json={"task_id": TASK})

    ask(server, lambda hub: hub.perform(_calls.send({"recipient": "bob"})))

    assert {request.content for request in server.requests} == {b'{"recipient":"bob"}'}
    assert len(server.requests) == 3


def test_a_request_whose_key_cannot_be_sent_is_tried_again_with_the_next_key(ask):
    keys = ["", "se\ncret", "k2"]
    server = Server(httpx.Response(403, json={"message": "No."}))

    with pytest.raises(UnreachableError, match="cannot be sent") as failed:
        ask(server, lambda hub: hub.add_agent("bob"), key=lambda: "se\ncret", retry=Retry(patience=0))
    with pytest.raises(Exception, match=r"No\."):
        ask(server, lambda hub: hub.add_agent("bob"), key=lambda: keys.pop(0))

    assert [request.headers["Authorization"] for request in server.requests] == ["Bearer k2"]
    assert (failed.value.may_have_arrived, "cret" in str(failed.value)) == (False, False)


def test_a_request_that_may_do_its_work_twice_is_not_repeated_after_it_arrived(ask):
    server = Server(httpx.ReadTimeout("late"))

    with pytest.raises(UnreachableError, match="late") as caught:
        ask(server, lambda hub: hub.add_agent("bob"))

    assert caught.value.may_have_arrived


def test_a_request_that_was_not_sent_is_repeated(ask):
    server = Server(httpx.ConnectError("refused"), httpx.Response(429), httpx.Response(403, json={"message": "No."}))

    with pytest.raises(Exception, match=r"No\."):
        ask(server, lambda hub: hub.add_agent("bob"))


def test_patience_ends_with_the_last_failure(ask):
    with pytest.raises(UnavailableError):
        ask(Server(httpx.Response(503)), lambda hub: hub.me(), retry=Retry(patience=0))


def test_a_refusal_is_raised_at_once(ask):
    with pytest.raises(UnauthenticatedError):
        ask(Server(httpx.Response(401)), lambda hub: hub.me())


@pytest.mark.parametrize("answer", [{"text": "<html>"}, {"json": []}, {"json": {"agent": 1}}])
def test_an_answer_of_another_server_is_reported(ask, answer):
    with pytest.raises(AnswerError, match="GET /a2a/me"):
        ask(Server(httpx.Response(200, **answer)), lambda hub: hub.me(), retry=Retry(patience=0))


FOREIGN_JSON = {
    "me": lambda hub: hub.me(),
    "agents": lambda hub: hub.agents(),
    "send": lambda hub: hub.perform(_calls.send({"recipient": "bob"})),
    "entry": lambda hub: hub.task(TASK).entry(),
    "result": lambda hub: hub.perform(_calls.result("t")),
    "cancel": lambda hub: hub.task(TASK).cancel(),
    "receive": lambda hub: hub.receive(),
    "post_result": lambda hub: hub.post_result(Answer(task_id="t", content="done")),
    "drain": lambda hub: hub.drain(),
    "release": lambda hub: hub.task(TASK).release("why", lease_id="l"),
}


@pytest.mark.parametrize("call", FOREIGN_JSON.values(), ids=FOREIGN_JSON)
@pytest.mark.parametrize("answer", ['{"error": "x"}', "[]", "7", "null", ""])
def test_json_of_another_server_answers_no_request(ask, call, answer):
    with pytest.raises(AnswerError, match="is not a hub's"):
        ask(Server(httpx.Response(200, text=answer)), call, retry=Retry(patience=0))


class Ports(Handler):
    """Answers each request with the owner of the key, and notes the port of its connection."""

    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[int]] = []

    def answer(self, body):
        self.seen.append(self.client_address[1])
        self.send(200, json.dumps(ME).encode())


FORKS = """
import os, sys
from a2a_hub_client import Hub

hub = Hub(sys.argv[1], "k1")
hub.me()
child = os.fork()
hub.me()
hub.close()
if child == 0:
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.processes
def test_a_forked_process_has_connections_of_its_own():
    with serving(Ports) as url:
        subprocess.run([sys.executable, "-c", FORKS, url], check=True)

    assert sorted(Counter(Ports.seen).values()) == [1, 2]


def test_threads_share_one_client():
    server = Server(*[httpx.Response(200, json=ME) for _ in range(20)])
    with Hub("http://hub", "k1", transport=httpx.MockTransport(server), **_how({})) as hub:
        threads = [threading.Thread(target=hub.me) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert len(server.requests) == 20


def test_a_wait_for_a_result_limits_the_repeats():
    server = Server(httpx.Response(503), httpx.Response(503))
    patient = Retry(first_pause=1, longest_pause=1, patience=30)

    with Hub("http://hub", "k1", transport=httpx.MockTransport(server), retry=patient) as hub:
        task = hub.task("00000000-0000-4000-8000-000000000000")
        with pytest.raises(UnavailableError):
            task.result(timeout=0.01)

    assert len(server.requests) == 1


RECEIVED = {"kind": "a2a_tasks_leased", "leases": [], "posted": [], "refused": []}
DRAINED = {"kind": "a2a_results_drained", "results": [], "acked": [], "unknown": [], "refused": []}


def attempts_of(server):
    return [json.loads(request.content)["attempt_id"] for request in server.requests]


@pytest.mark.parametrize(("verb", "answer"), [("receive", RECEIVED), ("drain", DRAINED)])
def test_an_attempt_id_that_took_nothing_names_the_next_receive_of_as_many(verb, answer):
    server = Server(*[httpx.Response(200, json=answer)] * 4)
    with Hub("http://hub", "k1", transport=httpx.MockTransport(server)) as hub:
        for most in (1, 1, 2, 1):
            getattr(hub, verb)(wait=0, most=most)

    first, second, of_two, last = attempts_of(server)
    assert first == second == last != of_two


@pytest.mark.parametrize(
    ("verb", "answer", "more"),
    [("receive", RECEIVED, {"posted": [TASK]}), ("drain", DRAINED, {"acked": [TASK], "unknown": [TASK]})],
)
def test_a_receive_whose_kept_id_is_spent_is_made_under_a_new_one(verb, answer, more):
    spent = {**answer, **more, "attempt_spent": True}
    server = Server(*(httpx.Response(200, json=one) for one in (answer, spent, answer)))
    with Hub("http://hub", "k1", transport=httpx.MockTransport(server)) as hub:
        getattr(hub, verb)(wait=0)
        received = getattr(hub, verb)(wait=0)

    first, second, third = attempts_of(server)
    assert first == second != third
    assert not received.attempt_spent
    assert {name: [*map(str, getattr(received, name))] for name in more} == more


def test_the_attempt_id_of_a_receive_without_an_answer_names_no_other():
    server = Server(httpx.ReadError("cut"), httpx.Response(200, json=RECEIVED))
    with Hub("http://hub", "k1", transport=httpx.MockTransport(server), retry=Retry(patience=0)) as hub:
        with pytest.raises(UnreachableError):
            hub.receive(wait=0)
        hub.receive(wait=0)

    first, second = attempts_of(server)
    assert first != second


def test_kept_attempt_ids_come_round():
    ids = AttemptIds()
    first, second = ids.take(1), ids.take(1)
    ids.keep(first, 1)
    ids.keep(second, 1)

    assert [ids.take(1), ids.take(1)] == [first, second]
    assert ids.take(1) not in {first, second}


def test_a_forked_process_uses_no_attempt_id_of_its_parent(monkeypatch):
    ids = AttemptIds()
    parents = ids.take(1)
    ids.keep(parents, 1)
    monkeypatch.setattr("a2a_hub_client.retry.os", SimpleNamespace(getpid=lambda: 0))

    assert ids.take(1) != parents

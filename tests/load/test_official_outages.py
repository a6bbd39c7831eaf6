"""The database of a served hub is killed while a message waits. Its task is kept, and its client learns of both."""

from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

import pytest

from tests.load.official import talk
from tests.support.a2a import message, state
from tests.support.hub import served, wait_until
from tools.proof import servers

pytestmark = [pytest.mark.processes, pytest.mark.one_database]  # the tests bring a PostgreSQL server of their own

BODY, KEY = {"message": message("once")}, {"Idempotency-Key": "k"}
AT_ONCE = {**BODY, "configuration": {"returnImmediately": True}}


@pytest.fixture
def server(postgresql):
    with servers.room() as room:
        yield room.server()


@pytest.fixture
def parties(tmp_path, server):
    """Return a caller and the worker that it calls, at a hub on the server."""
    with served(tmp_path, migrates=True, database_url=server.url, workers=2) as hub, talk(hub) as both:
        yield both


def error_of(response):
    """Return the status, the media type, and the reason of an error of JSON-RPC."""
    (told, *_) = response.json()["error"]["data"]
    return response.status_code, response.headers["Content-Type"], told["reason"]


def outcome_of(response):
    """Return the state of the task that a response shows, or the reason of its error."""
    answer = response.json()
    assert (answer["jsonrpc"], answer["id"], response.headers["Content-Type"]) == ("2.0", 1, "application/json")
    return state(answer["result"]["task"]) if "result" in answer else answer["error"]["data"][0]["reason"]


def kill_and_complete(server, caller, holder):
    """Kill the database, call the hub without it, start it, and complete the task; return the answers without it."""
    holder.take()
    server.kill()
    calls = [("SendMessage", BODY, KEY), ("SendStreamingMessage", BODY, KEY), ("GetTask", {"id": holder.task}, {})]
    refused = [error_of(caller.post(method, params, **headers)) for method, params, headers in calls]
    server.start()
    holder.complete("done")
    return refused


def assert_kept(caller, holder):
    """A repeat with the key and a read both find the one task, with its outcome."""
    again, read = caller.rpc("SendMessage", AT_ONCE, **KEY)["task"], caller.rpc("GetTask", {"id": holder.task})
    assert again == read
    assert (read["id"], state(read)) == (holder.task, "COMPLETED")
    assert [part["text"] for part in read["artifacts"][0]["parts"]] == ["done"]
    assert caller.rpc("ListTasks", {})["totalSize"] == 1


UNAVAILABLE = (HTTPStatus.SERVICE_UNAVAILABLE, "application/json", "UNAVAILABLE")


def test_a_message_that_waits_since_a_moment_is_not_lost_with_its_database(parties, server):
    caller, holder = parties
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(caller.post, "SendMessage", BODY, **KEY)
        refused = kill_and_complete(server, caller, holder)
        outcome = outcome_of(waiting.result())

    assert refused == [UNAVAILABLE] * 3
    assert outcome in ("COMPLETED", "UNAVAILABLE")
    assert_kept(caller, holder)


def test_a_message_whose_answer_has_begun_is_not_lost_with_its_database(parties, server):
    caller, holder = parties
    with caller.begun("SendMessage", BODY, **KEY) as waiting:
        refused = kill_and_complete(server, caller, holder)
        waiting.read()

    assert waiting.text.startswith(" ")
    assert outcome_of(waiting) in ("COMPLETED", "UNAVAILABLE")
    assert refused == [UNAVAILABLE] * 3
    assert_kept(caller, holder)


def test_a_message_that_comes_while_the_database_is_away_is_refused_and_can_be_repeated(parties, server):
    caller, holder = parties
    server.kill()
    refused = error_of(caller.post("SendMessage", AT_ONCE, **KEY))
    server.start()
    wait_until(lambda: caller.post("SendMessage", AT_ONCE, **KEY).status_code == HTTPStatus.OK)
    holder.take()
    holder.complete("done")

    assert refused == UNAVAILABLE
    assert_kept(caller, holder)

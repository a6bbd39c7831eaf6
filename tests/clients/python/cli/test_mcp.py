"""The bridge of `a2a mcp`, as the program that starts it sees it: lines in, lines out."""

import json
import signal
import threading

import pytest

from mailbox.words import ed25519
from tests.support.bridges import WAIT, host, pong, stand_in
from tests.support.hub import PATIENCE
from tests.support.ports import CLOSED
from tests.support.signing import Signer

__all__ = ["host", "stand_in"]

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

GREETING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "host", "version": "1"},
}


def test_a_wait_holds_up_no_other_request_and_ends_by_a_signal(host, a2a, bob):
    bridge = host(a2a.url, a2a.key(bob))

    bridge.send("initialize", 1, **GREETING)
    assert bridge.receive()["result"]["protocolVersion"] == "2025-11-25"
    bridge.send("notifications/initialized")
    bridge.send("tools/call", "wait", **WAIT, _meta={"progressToken": "mine"})
    assert bridge.receive()["params"]["progressToken"] == "mine"
    bridge.send("tools/call", 2, name="whoami", arguments={})
    while (answer := bridge.receive()).get("id") != 2:
        assert answer["params"]["progressToken"] == "mine"
    code, rest = bridge.close(by=signal.SIGTERM)

    assert answer["result"]["structuredContent"]["agent"] == "bob@local"
    assert code == -signal.SIGTERM
    assert [line for line in rest if json.loads(line).get("method") != "notifications/progress"] == []


@pytest.mark.parametrize(
    ("sent", "arrived"),
    [("\N{SNOWMAN}".encode(), "\N{SNOWMAN}".encode()), (rb"\u2603", "\N{SNOWMAN}".encode()), (rb"\ud83d", rb"\ud83d")],
)
def test_a_message_is_not_longer_than_the_host_wrote_it(host, stand_in, sent, arrived):
    def act(handler, message):
        bodies.append(handler.body)
        pong(handler, message)

    bodies: list[bytes] = []
    bridge = host(stand_in(act))

    bridge.write(b'{"id":1,"method":"ping","params":{"text":"%b"}}' % sent)

    assert bridge.receive()["id"] == 1
    assert bodies == [b'{"id":1,"method":"ping","params":{"text":"%b"}}' % arrived]


def test_a_call_without_a_token_gets_its_answer_alone(host, a2a, alice, bob):
    bridge = host(a2a.url, a2a.key(alice))

    bridge.send("tools/call", 1, name="send_task", arguments={"recipient": "bob", "text": "x"})
    task = bridge.receive()["result"]["structuredContent"]["task_id"]
    bridge.send("tools/call", 2, name="wait_for_result", arguments={"task_id": task, "wait_ms": 500})

    assert bridge.receive()["id"] == 2


def test_a_cancelled_request_ends_its_exchange_and_has_no_answer(host, stand_in):
    ended = threading.Event()

    def act(handler, message):
        if message["method"] == "ping":
            pong(handler, message)
            return
        handler.begin_stream()
        handler.say_progress(message, "begun")
        assert handler.connection.recv(1) == b""
        ended.set()

    bridge = host(stand_in(act))
    bridge.send("tools/call", 1, **WAIT, _meta={"progressToken": 7})
    assert bridge.receive()["params"]["message"] == "begun"
    bridge.send("notifications/cancelled", requestId=1)

    assert ended.wait(PATIENCE)
    bridge.send("ping", 2)
    assert bridge.receive() == {"jsonrpc": "2.0", "id": 2, "result": {}}
    assert bridge.close() == (0, [])


def test_a_hub_that_dies_in_a_wait_fails_that_request(host, stand_in):
    begun = threading.Event()

    def act(handler, message):
        handler.begin_stream()
        handler.say_progress(message, "begun")
        begun.set()

    bridge = host(stand_in(act))
    bridge.send("tools/call", 1, **WAIT)

    failed = bridge.receive()
    assert (failed["id"], failed["error"]["code"]) == (1, -32000)
    assert begun.is_set()


def test_an_absent_hub_fails_each_request_and_not_the_bridge(host):
    bridge = host(f"http://127.0.0.1:{CLOSED}")

    for number in (1, 2):
        bridge.send("ping", number)
        failed = bridge.receive()
        assert (failed["id"], failed["error"]["code"]) == (number, -32000)
        assert failed["error"]["message"].startswith("cannot connect to http://127.0.0.1:")
    bridge.send("notifications/initialized")

    assert bridge.close() == (0, [])
    assert bridge.process.stderr.read().count(b"cannot connect") == 3


def test_a_refused_key_fails_the_request(host, a2a):
    bridge = host(a2a.url, "a2a_wrong")

    bridge.send("ping", 1)

    failed = bridge.receive()
    assert failed["id"] == 1
    assert "key" in failed["error"]["message"]


@pytest.mark.parametrize("body", [b"<html>Bad Gateway</html>", b"", b"3"])
def test_an_answer_that_is_none_fails_the_request(host, stand_in, body):
    bridge = host(stand_in(lambda handler, _: handler.answer(body, status=502, media_type="text/html")))

    bridge.send("ping", 1)

    assert bridge.receive()["error"]["message"].endswith("/mcp answered 502, and nothing else")


@pytest.mark.parametrize(("line", "code"), [(b"{", -32700), (b"\xff", -32700), (b"3", -32600)])
def test_a_line_that_is_no_message_is_refused_and_the_next_one_passed_on(host, stand_in, line, code):
    bridge = host(stand_in(pong))

    bridge.write(line)
    refused = bridge.receive()
    bridge.write(b" \r")
    bridge.send("ping", "next")

    assert (refused["id"], refused["error"]["code"]) == (None, code)
    assert bridge.receive()["id"] == "next"


def test_a_batch_is_passed_on_and_an_absent_hub_fails_each_of_its_requests(host, a2a, bob):
    batch = json.dumps([{"jsonrpc": "2.0", "id": one, "method": "ping"} for one in (1, "2")]).encode()
    bridge, lonely = host(a2a.url, a2a.key(bob)), host(f"http://127.0.0.1:{CLOSED}")

    bridge.write(batch)
    lonely.write(batch)

    assert [one["id"] for one in bridge.receive()] == [1, "2"]
    assert [lonely.receive()["id"] for _ in range(2)] == [1, "2"]


def test_a_bridge_without_a_key_does_not_start(host, tmp_path):
    bridge = host("http://127.0.0.1:9", "", "--key-file", str(tmp_path / "none"))

    assert bridge.close() == (1, [])
    assert b"cannot be read" in bridge.process.stderr.read()


def test_a_bridge_signs_its_requests(host, a2a, alice, tmp_path):
    key = tmp_path / "private.key"
    key.write_text(ed25519.seed_of(Signer(alice).key))
    bridge = host(a2a.url, "", "--signing-key-file", str(key))

    bridge.send("tools/call", 1, name="whoami", arguments={})

    assert bridge.receive()["result"]["structuredContent"]["agent"] == "alice@local"

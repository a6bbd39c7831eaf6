"""A lost reply costs nothing: repeating the request with its attempt id gets the same lease or result again."""

from __future__ import annotations

import socket
import struct
import uuid
from collections.abc import Callable

import pytest

from tests.load.cast import Worker, must, pairs
from tests.load.client import Client
from tests.support.hub import served, wait_until

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


@pytest.fixture(scope="module")
def hub(tmp_path_factory, migrated_database):
    """Serve one hub to all of these tests. Each test uses agents of its own."""
    var = tmp_path_factory.mktemp("hub")
    with migrated_database() as url, served(var, "--only", "web", database_url=url) as hub:
        yield hub


@pytest.fixture
def work(hub):
    (pair,) = pairs(hub, 1)
    worker = Worker(hub.url, pair)
    yield worker
    worker.close()


def ask_and_hang_up(client: Client, path: str, attempt: str, *, until: Callable[[], object]) -> None:
    """Send a receive, wait ``until`` the hub has committed its change, and cut the connection without reading."""
    connection = client.send("GET", path, headers={"A2A-Receive-Attempt-Id": attempt})
    wait_until(until)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    client.close()


def sent(work: Worker) -> str:
    body = {"recipient": work.pair.worker.display, "intent_text": "survive"}
    task_id: str = must(work.sender.post("/a2a/tasks", body))["task_id"]
    return task_id


def kinds(work: Worker, task_id: str) -> list[str]:
    return [event["kind"] for event in must(work.sender.get(f"/a2a/tasks/{task_id}/timeline"))["events"]]


def test_a_repeated_receive_returns_the_lease_of_a_lost_reply(hub, work):
    task_id, attempt = sent(work), str(uuid.uuid4())

    with Client(hub.url, work.pair.worker.key) as cut:
        ask_and_hang_up(cut, "/a2a/tasks/next", attempt, until=lambda: "a2a_task_leased" in kinds(work, task_id))
    again = [must(work.worker.call("GET", "/a2a/tasks/next", headers={"A2A-Receive-Attempt-Id": attempt}))]
    again.append(must(work.worker.call("GET", f"/a2a/tasks/next?attempt_id={attempt}")))
    held = must(work.worker.get("/a2a/leases"))["leases"]

    assert [answer["task"]["id"] for answer in again] == [task_id, task_id]
    assert {answer["lease"]["lease_id"] for answer in again} == {held[0]["lease_id"]}
    assert {answer["lease"]["attempt"] for answer in again} == {1}
    assert kinds(work, task_id).count("a2a_task_leased") == 1


def test_a_repeated_drain_returns_the_result_until_it_is_acknowledged(hub, work):
    task_id, attempt = sent(work), str(uuid.uuid4())
    other = sent(work)
    for _ in range(2):
        leased = must(work.worker.get("/a2a/tasks/next"))
        must(work.worker.post("/a2a/results", {"task_id": leased["task"]["id"], "status": "ok"}))

    with Client(hub.url, work.pair.sender.key) as cut:
        ask_and_hang_up(cut, "/a2a/results/next", attempt, until=lambda: "a2a_result_delivered" in kinds(work, task_id))
    again = must(work.sender.call("GET", "/a2a/results/next", headers={"A2A-Receive-Attempt-Id": attempt}))
    must(work.sender.post("/a2a/results/ack", {"task_ids": [task_id]}))
    after = must(work.sender.call("GET", "/a2a/results/next", headers={"A2A-Receive-Attempt-Id": attempt}))

    assert again["result"]["task_id"] == task_id
    assert after["result"]["task_id"] == other
    assert kinds(work, task_id).count("a2a_result_delivered") == 1


def test_a_request_that_is_cut_off_changes_nothing(hub, work):
    body = b'{"recipient": "%s", "intent_text": "half"' % work.pair.worker.display.encode()

    with Client(hub.url, work.pair.sender.key) as cut:
        cut.send("POST", "/a2a/tasks", body).shutdown(socket.SHUT_WR)
    with Client(hub.url, work.pair.sender.key) as cut:
        connection = cut.send("GET", "/healthz")
        connection.sendall(b"POST /a2a/tasks HTTP/1.1\r\nContent-Length: 500\r\n\r\n" + body)

    task_id = sent(work)
    assert [entry["task"]["id"] for entry in must(work.sender.get("/a2a/queue"))["tasks"]] == [task_id]

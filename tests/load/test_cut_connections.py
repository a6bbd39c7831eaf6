"""A lost reply costs nothing: repeating the request with its attempt id gets the same lease or result again.

The hub may still be at work on the request that was cut. It takes nothing after its repeat was answered.
"""

import socket
import struct
import uuid
from collections.abc import Callable
from typing import Any

from tests.load.raw_pair import RawPair
from tests.support.hub import wait_until
from tests.support.raw_client import RawClient, must

WAIT_MS = 1500
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


def ask_and_hang_up(client: RawClient, path: str, attempt: str, *, until: Callable[[], object]) -> None:
    """Send a receive, wait ``until`` the hub has committed its change, and cut the connection without reading."""
    connection = client.send("GET", path, headers={"A2A-Receive-Attempt-Id": attempt})
    wait_until(until)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    client.close()


def sent(work: RawPair) -> str:
    body = {"recipient": work.pair.worker.display, "intent_text": "survive"}
    task_id: str = must(work.sender.post("/a2a/tasks", body))["task_id"]
    return task_id


def received(client: RawClient, path: str, kind: str) -> dict[str, Any]:
    """Repeat a receive under its id until it returns a ``kind``, which is task or result.

    An answer without one is no end: another request under the id may be at work on the only task at that moment.
    """
    answers: list[dict[str, Any]] = []

    def answered() -> bool:
        answers.append(must(client.get(path)))
        return answers[-1][kind] is not None

    wait_until(answered)
    return answers[-1]


def resolve(work: RawPair, path: str = "/a2a/tasks/next") -> None:
    """Lease the next task and post its result."""
    leased = received(work.worker, path, "task")
    lease = {"task_id": leased["task"]["id"], "lease_id": leased["lease"]["lease_id"]}
    must(work.worker.post("/a2a/results", {**lease, "status": "ok"}))


def kinds(work: RawPair, task_id: str) -> list[str]:
    return [event["kind"] for event in must(work.sender.get(f"/a2a/tasks/{task_id}/timeline"))["events"]]


def test_a_repeated_receive_returns_the_lease_of_a_lost_reply(shared_hub, work):
    task_id, attempt = sent(work), str(uuid.uuid4())

    with RawClient(shared_hub.url, work.pair.worker.key) as cut:
        ask_and_hang_up(cut, "/a2a/tasks/next", attempt, until=lambda: "a2a_task_leased" in kinds(work, task_id))
    again = [must(work.worker.call("GET", "/a2a/tasks/next", headers={"A2A-Receive-Attempt-Id": attempt}))]
    again.append(must(work.worker.call("GET", f"/a2a/tasks/next?attempt_id={attempt}")))
    held = must(work.worker.get("/a2a/leases"))["leases"]

    assert [answer["task"]["id"] for answer in again] == [task_id, task_id]
    assert {answer["lease"]["lease_id"] for answer in again} == {held[0]["lease_id"]}
    assert {answer["lease"]["attempt"] for answer in again} == {1}
    assert kinds(work, task_id).count("a2a_task_leased") == 1


def test_a_repeated_drain_returns_the_result_until_it_is_acknowledged(shared_hub, work):
    task_id, attempt = sent(work), str(uuid.uuid4())
    other = sent(work)
    for _ in range(2):
        resolve(work)

    with RawClient(shared_hub.url, work.pair.sender.key) as cut:
        ask_and_hang_up(cut, "/a2a/results/next", attempt, until=lambda: "a2a_result_delivered" in kinds(work, task_id))
    again = must(work.sender.call("GET", "/a2a/results/next", headers={"A2A-Receive-Attempt-Id": attempt}))
    must(work.sender.post("/a2a/results/ack", {"task_ids": [task_id]}))
    after = must(work.sender.call("GET", "/a2a/results/next", headers={"A2A-Receive-Attempt-Id": attempt}))

    assert again["result"]["task_id"] == task_id
    assert after["result"] is None
    assert kinds(work, task_id).count("a2a_result_delivered") == 1
    assert "a2a_result_delivered" not in kinds(work, other)
    assert must(work.sender.get(f"/a2a/results/next?attempt_id={uuid.uuid4()}"))["result"]["task_id"] == other


def test_a_waiting_lease_that_was_given_up_takes_nothing_after_its_repeat(shared_hub, work):
    attempt = str(uuid.uuid4())
    path = f"/a2a/tasks/next?attempt_id={attempt}"

    with RawClient(shared_hub.url, work.pair.worker.key) as given_up:
        given_up.send("GET", f"{path}&wait_ms={WAIT_MS}")
    first = sent(work)
    resolve(work, path)
    second = sent(work)

    # The hub ends this request after the request that was given up, since both wait equally long.
    assert must(work.worker.get(f"{path}&wait_ms={WAIT_MS}"))["task"] is None
    assert kinds(work, first).count("a2a_task_leased") == 1
    assert kinds(work, second) == ["a2a_task_sent"]
    assert must(work.worker.get(f"/a2a/tasks/next?attempt_id={uuid.uuid4()}"))["task"]["id"] == second


def test_a_waiting_drain_that_was_given_up_takes_nothing_after_its_repeat(shared_hub, work):
    attempt = str(uuid.uuid4())
    path = f"/a2a/results/next?attempt_id={attempt}"

    with RawClient(shared_hub.url, work.pair.sender.key) as given_up:
        given_up.send("GET", f"{path}&wait_ms={WAIT_MS}")
    first = sent(work)
    resolve(work)
    assert received(work.sender, path, "result")["result"]["task_id"] == first
    must(work.sender.post("/a2a/results/ack", {"task_ids": [first]}))
    second = sent(work)
    resolve(work)

    assert must(work.sender.get(f"{path}&wait_ms={WAIT_MS}"))["result"] is None
    assert "a2a_result_delivered" not in kinds(work, second)
    assert must(work.sender.get(f"/a2a/results/next?attempt_id={uuid.uuid4()}"))["result"]["task_id"] == second


def test_a_request_that_is_cut_off_changes_nothing(shared_hub, work):
    body = b'{"recipient": "%s", "intent_text": "half"' % work.pair.worker.display.encode()

    with RawClient(shared_hub.url, work.pair.sender.key) as cut:
        cut.send("POST", "/a2a/tasks", body).shutdown(socket.SHUT_WR)
    with RawClient(shared_hub.url, work.pair.sender.key) as cut:
        connection = cut.send("GET", "/healthz")
        connection.sendall(b"POST /a2a/tasks HTTP/1.1\r\nContent-Length: 500\r\n\r\n" + body)

    task_id = sent(work)
    assert [entry["task"]["id"] for entry in must(work.sender.get("/a2a/queue"))["tasks"]] == [task_id]

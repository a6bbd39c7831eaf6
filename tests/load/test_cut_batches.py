"""A lost reply to a batch costs nothing: the repeated request gets the same answer, and changes nothing more."""

import json
import socket
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from tests.load.raw_pair import RawPair
from tests.load.test_cut_connections import RESET_ON_CLOSE, kinds
from tests.support.hub import wait_until
from tests.support.raw_client import RawClient, must


def hang_up(hub: Any, key: str, path: str, body: dict[str, Any], *, until: Callable[[], object]) -> None:
    """Send the body, wait ``until`` the hub has committed it, and cut the connection without reading."""
    with RawClient(hub.url, key) as client:
        connection = client.send("POST", path, json.dumps(body).encode())
        wait_until(until)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)


def send(work: RawPair, number: int) -> dict[str, Any]:
    """Return a batch of tasks, which is not sent yet."""
    tasks = [{"id": str(uuid4()), "recipient": work.pair.worker.display, "intent_text": "x"} for _ in range(number)]
    return {"tasks": tasks}


def results_of(leases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"task_id": leased["task"]["id"], "lease_id": leased["lease"]["lease_id"], "status": "ok"} for leased in leases
    ]


def test_a_repeated_batch_of_tasks_sends_none_twice(shared_hub, work):
    batch = send(work, 20)
    ids = [task["id"] for task in batch["tasks"]]

    def is_sent() -> bool:
        return bool(work.sender.get(f"/a2a/tasks/{ids[-1]}/entry").status == 200)

    hang_up(shared_hub, work.pair.sender.key, "/a2a/tasks/batch", batch, until=is_sent)
    again = must(work.sender.post("/a2a/tasks/batch", batch))

    assert (again["posted"], again["refused"]) == (ids, [])
    assert len(must(work.sender.get("/a2a/tasks/recent?limit=100"))["tasks"]) == 20
    assert kinds(work, ids[0]) == ["a2a_task_sent"]


def test_a_repeated_loop_of_a_worker_leases_and_posts_the_same(shared_hub, work):
    must(work.sender.post("/a2a/tasks/batch", send(work, 10)))
    first = must(work.worker.post("/a2a/tasks/lease", {"max": 4, "attempt_id": str(uuid4())}))
    results = results_of(first["leases"])
    loop = {"max": 4, "attempt_id": str(uuid4()), "results": results}
    ids = [result["task_id"] for result in results]

    def is_leased() -> bool:
        return (
            len(must(work.worker.get("/a2a/leases?limit=100"))["leases"]) == 4
            and kinds(work, ids[0])[-1] != "a2a_task_leased"
        )

    hang_up(shared_hub, work.pair.worker.key, "/a2a/tasks/lease", loop, until=is_leased)
    again, once_more = (must(work.worker.post("/a2a/tasks/lease", loop)) for _ in range(2))

    held = must(work.worker.get("/a2a/leases?limit=100"))["leases"]
    assert again == once_more
    assert (again["posted"], again["refused"]) == (ids, [])
    assert [leased["lease"]["lease_id"] for leased in again["leases"]] == [lease["lease_id"] for lease in held]
    assert {leased["lease"]["attempt"] for leased in again["leases"]} == {1}
    assert kinds(work, ids[0]) == ["a2a_task_sent", "a2a_task_leased", "a2a_result_posted"]


def test_a_repeated_drain_returns_the_same_results_until_they_are_acknowledged(shared_hub, work):
    must(work.sender.post("/a2a/tasks/batch", send(work, 6)))
    leases = must(work.worker.post("/a2a/tasks/lease", {"max": 6}))["leases"]
    must(work.worker.post("/a2a/results/batch", {"results": results_of(leases)}))
    first = must(work.sender.post("/a2a/results/drain", {"max": 3}))
    ids = [result["task_id"] for result in first["results"]]
    drain = {"max": 2, "attempt_id": str(uuid4()), "ack": ids}

    def is_drained() -> bool:
        return len(must(work.sender.get("/a2a/results/recent?limit=100"))["results"]) == 1

    hang_up(shared_hub, work.pair.sender.key, "/a2a/results/drain", drain, until=is_drained)
    again, once_more = (must(work.sender.post("/a2a/results/drain", drain)) for _ in range(2))
    rest = [result["task_id"] for result in again["results"]]
    spent = must(work.sender.post("/a2a/results/drain", {**drain, "ack": rest, "wait_ms": 60_000}))

    assert again == once_more
    assert (len(rest), again["acked"], again["unknown"]) == (2, ids, [])
    assert (spent["results"], spent["attempt_spent"], spent["acked"]) == ([], True, rest)
    assert kinds(work, rest[0]).count("a2a_result_delivered") == 1

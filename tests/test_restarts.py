"""What a hub that was stopped, or killed, says when it is served again."""

from __future__ import annotations

import signal
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.load.cast import operator_key
from tests.support.hub import PATIENCE, Hub, database_of_its_own, served

PROMISE = {"duplicate_safety": "idempotent", "key": "report-1"}


class Story:
    """A hub that is served again and again over the same data, and the three who talk to it."""

    def __init__(self, folder: Any, database_url: str) -> None:
        self._folder, self._database_url = folder, database_url
        self.keys: dict[str, str] = {}

    def served(self) -> Any:
        return served(self._folder, "--only", "web", database_url=self._database_url)

    def introduce(self, hub: Hub) -> None:
        self.keys["operator"] = operator_key(hub)
        for name, action in (("alice", "a2a.send.*"), ("bob", "a2a.respond.*")):
            self.keys[name] = self.post(hub, "operator", "/a2a/agents", {"display": name})["api_key"]
            self.post(hub, "operator", "/capabilities/grant", {"subject": name, "action": action})

    def post(self, hub: Hub, who: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return self._call("POST", hub, who, path, body or {})

    def get(self, hub: Hub, who: str, path: str) -> Any:
        return self._call("GET", hub, who, path)

    def send(self, hub: Hub, **fields: Any) -> str:
        task = {"id": str(uuid4()), "recipient": "bob", "intent_text": "summarise the report", **fields}
        sent: str = self.post(hub, "alice", "/a2a/tasks", task)["task_id"]
        return sent

    def _call(self, method: str, hub: Hub, who: str, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"Authorization": f"Bearer {self.keys[who]}"}
        answer = httpx.request(method, f"{hub.url}{path}", json=body, headers=headers, timeout=PATIENCE)
        assert answer.is_success, answer.text
        return answer.json()


@pytest.fixture
def story(tmp_path):
    with database_of_its_own() as url:
        yield Story(tmp_path, url)


def requeue(story: Story, hub: Hub, task_id: str) -> Any:
    command = {"action": "requeue", "duplicate_risk": "operator_accepted"}
    repair = {"task_id": task_id, "reason": "its worker is gone", "command": command}
    return story.post(hub, "operator", "/a2a/repair", repair)["outcome"]


def test_a_requeued_task_keeps_its_id_and_attempt_across_two_restarts(story):
    with story.served() as hub:
        story.introduce(hub)
        task_id = story.send(hub)
        first = story.get(hub, "bob", "/a2a/tasks/next")["lease"]
        hub.process.send_signal(signal.SIGKILL)
        hub.process.wait()

    with story.served() as hub:
        (in_flight,) = story.get(hub, "operator", "/a2a/queue?min_lease_age_ms=1")["tasks"]
        nothing = story.get(hub, "bob", "/a2a/tasks/next")["task"]
        outcome = requeue(story, hub, task_id)

    with story.served() as hub:
        (queued,) = story.get(hub, "operator", "/a2a/queue")["tasks"]
        second = story.get(hub, "bob", "/a2a/tasks/next")
        requeue(story, hub, task_id)
        third = story.get(hub, "bob", "/a2a/tasks/next")
        timeline = story.get(hub, "alice", f"/a2a/tasks/{task_id}/timeline")["events"]

    assert (in_flight["state"], in_flight["lease_id"], in_flight["attempt"]) == ("in_flight", first["lease_id"], 1)
    assert nothing is None
    assert outcome == {"task_id": task_id, "action": "requeued", "state": "queued", "attempt": 1}
    assert (queued["state"], queued["task"]["id"], queued["attempt"]) == ("queued", task_id, 1)
    assert [leased["task"]["id"] for leased in (second, third)] == [task_id] * 2
    assert [leased["lease"]["attempt"] for leased in (second, third)] == [2, 3]
    leased_and_returned = ["a2a_task_leased", "a2a_repair_applied"]
    assert [event["kind"] for event in timeline] == ["a2a_task_sent", *leased_and_returned * 2, "a2a_task_leased"]


def test_results_the_cache_and_waiting_duplicates_outlive_a_restart(story):
    with story.served() as hub:
        story.introduce(hub)
        drained, forced, leader = (story.send(hub), story.send(hub), story.send(hub, idempotency=PROMISE))
        waiter = story.send(hub, idempotency=PROMISE)
        queued = [story.send(hub, task_kind="later", parent=leader) for _ in range(2)]
        taken = [story.get(hub, "bob", "/a2a/tasks/next")["task"]["id"] for _ in range(3)]
        story.post(hub, "bob", "/a2a/results", {"task_id": drained, "status": "ok"})
        command = {"action": "force_error", "message": "gave up"}
        story.post(hub, "operator", "/a2a/repair", {"task_id": forced, "reason": "stuck", "command": command})
        first = story.get(hub, "alice", "/a2a/results/next")["result"]["task_id"]

    with story.served() as hub:
        entries = {entry["task"]["id"]: entry for entry in story.get(hub, "alice", "/a2a/queue")["tasks"]}
        pending = story.get(hub, "alice", "/a2a/results/next")["result"]
        later = [story.get(hub, "bob", "/a2a/tasks/next")["task"] for _ in range(2)]
        story.post(hub, "bob", "/a2a/results", {"task_id": leader, "status": "ok"})

    with story.served() as hub:
        duplicate = story.send(hub, idempotency=PROMISE)
        answered = [story.get(hub, "alice", "/a2a/results/next")["result"]["task_id"] for _ in range(3)]
        rest = story.get(hub, "alice", "/a2a/results/next")["result"]
        unleased = story.get(hub, "bob", "/a2a/tasks/next")["task"]

    assert (taken, first) == ([drained, forced, leader], drained)
    assert (pending["task_id"], pending["error_message"]) == (forced, "gave up")
    assert (entries[leader]["state"], entries[waiter]["waits_on"]) == ("in_flight", leader)
    assert [(task["id"], task["task_kind"], task["parent"]) for task in later] == [
        (task_id, "later", leader) for task_id in queued
    ]
    assert entries[waiter]["task"]["idempotency"] == PROMISE
    assert answered == [leader, waiter, duplicate]
    assert (rest, unleased) == (None, None)

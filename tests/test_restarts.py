"""The answers of a hub that was stopped or killed, and then started again with the same data."""

from __future__ import annotations

import signal
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.load.cast import operator_key
from tests.support.hub import PATIENCE, Hub, served

PROMISE = {"duplicate_safety": "idempotent", "key": "report-1"}


class Story:
    """A hub that is started several times with the same data, and the keys of its three agents and its operator."""

    def __init__(self, folder: Any, database_url: str) -> None:
        self._folder, self._database_url = folder, database_url
        self.keys: dict[str, str] = {}

    def served(self) -> Any:
        return served(self._folder, "--only", "web", database_url=self._database_url)

    def introduce(self, hub: Hub) -> None:
        self.keys["operator"] = operator_key(hub)
        for name, action in (("alice", "a2a.send.*"), ("bob", "a2a.respond.*"), ("carol", "a2a.respond.*")):
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


@pytest.fixture(scope="module")
def said(tmp_path_factory, migrated_database):
    """Serve a hub three times with the same data, killed once and stopped once; return its answers."""
    with migrated_database() as url:
        story = Story(tmp_path_factory.mktemp("hub"), url)
        requeued, cached = Requeued(story), Cached(story)
        with story.served() as hub:
            story.introduce(hub)
            requeued.first_hub(hub)
            cached.first_hub(hub)
            hub.process.send_signal(signal.SIGKILL)
            hub.process.wait()
        with story.served() as hub:
            requeued.second_hub(hub)
            cached.second_hub(hub)
        with story.served() as hub:
            requeued.third_hub(hub)
            cached.third_hub(hub)
    return requeued, cached


def requeue(story: Story, hub: Hub, task_id: str) -> Any:
    command = {"action": "requeue", "duplicate_risk": "operator_accepted"}
    repair = {"task_id": task_id, "reason": "its worker is gone", "command": command}
    return story.post(hub, "operator", "/a2a/repair", repair)["outcome"]


class Requeued:
    """A task of carol, whose worker is gone. It is requeued after the first restart and after the second."""

    def __init__(self, story: Story) -> None:
        self.story = story

    def first_hub(self, hub: Hub) -> None:
        self.task_id = self.story.send(hub, recipient="carol")
        self.first = self.story.get(hub, "carol", "/a2a/tasks/next")["lease"]

    def second_hub(self, hub: Hub) -> None:
        (self.in_flight,) = self.story.get(hub, "carol", "/a2a/queue?min_lease_age_ms=1")["tasks"]
        self.nothing = self.story.get(hub, "carol", "/a2a/tasks/next")["task"]
        self.outcome = requeue(self.story, hub, self.task_id)

    def third_hub(self, hub: Hub) -> None:
        (self.queued,) = self.story.get(hub, "carol", "/a2a/queue")["tasks"]
        self.second = self.story.get(hub, "carol", "/a2a/tasks/next")
        requeue(self.story, hub, self.task_id)
        self.third = self.story.get(hub, "carol", "/a2a/tasks/next")
        self.timeline = self.story.get(hub, "alice", f"/a2a/tasks/{self.task_id}/timeline")["events"]


class Cached:
    """Tasks of bob: the first is answered and drained, the second fails.

    The answer of the third is cached, and a duplicate waits for it.
    """

    def __init__(self, story: Story) -> None:
        self.story = story

    def first_hub(self, hub: Hub) -> None:
        story = self.story
        self.drained, self.forced = story.send(hub), story.send(hub)
        self.leader = story.send(hub, idempotency=PROMISE)
        self.waiter = story.send(hub, idempotency=PROMISE)
        self.later = [story.send(hub, task_kind="later", parent=self.leader) for _ in range(2)]
        self.taken = [story.get(hub, "bob", "/a2a/tasks/next")["task"]["id"] for _ in range(3)]
        story.post(hub, "bob", "/a2a/results", {"task_id": self.drained, "status": "ok"})
        command = {"action": "force_error", "message": "gave up"}
        story.post(hub, "operator", "/a2a/repair", {"task_id": self.forced, "reason": "stuck", "command": command})
        self.first = story.get(hub, "alice", "/a2a/results/next")["result"]["task_id"]

    def second_hub(self, hub: Hub) -> None:
        story = self.story
        self.entries = {entry["task"]["id"]: entry for entry in story.get(hub, "alice", "/a2a/queue")["tasks"]}
        self.pending = story.get(hub, "alice", "/a2a/results/next")["result"]
        self.leased_later = [story.get(hub, "bob", "/a2a/tasks/next")["task"] for _ in range(2)]
        story.post(hub, "bob", "/a2a/results", {"task_id": self.leader, "status": "ok"})

    def third_hub(self, hub: Hub) -> None:
        story = self.story
        self.duplicate = story.send(hub, idempotency=PROMISE)
        self.answered = [story.get(hub, "alice", "/a2a/results/next")["result"]["task_id"] for _ in range(3)]
        self.rest = story.get(hub, "alice", "/a2a/results/next")["result"]
        self.unleased = story.get(hub, "bob", "/a2a/tasks/next")["task"]


def test_a_requeued_task_keeps_its_id_and_attempt_across_restarts(said):
    seen, _ = said
    task_id = seen.task_id

    in_flight = (seen.in_flight["state"], seen.in_flight["lease_id"], seen.in_flight["attempt"])
    assert in_flight == ("in_flight", seen.first["lease_id"], 1)
    assert seen.nothing is None
    assert seen.outcome == {"task_id": task_id, "action": "requeued", "state": "queued", "attempt": 1}
    assert (seen.queued["state"], seen.queued["task"]["id"], seen.queued["attempt"]) == ("queued", task_id, 1)
    assert [leased["task"]["id"] for leased in (seen.second, seen.third)] == [task_id] * 2
    assert [leased["lease"]["attempt"] for leased in (seen.second, seen.third)] == [2, 3]
    leased_and_returned = ["a2a_task_leased", "a2a_repair_applied"]
    kinds = [event["kind"] for event in seen.timeline]
    assert kinds == ["a2a_task_sent", *leased_and_returned * 2, "a2a_task_leased"]


def test_results_cache_and_waiting_duplicates_survive_restarts(said):
    _, seen = said

    assert (seen.taken, seen.first) == ([seen.drained, seen.forced, seen.leader], seen.drained)
    assert (seen.pending["task_id"], seen.pending["error_message"]) == (seen.forced, "gave up")
    leader, waiter = seen.entries[seen.leader], seen.entries[seen.waiter]
    assert (leader["state"], waiter["waits_on"]) == ("in_flight", seen.leader)
    assert [(task["id"], task["task_kind"], task["parent"]) for task in seen.leased_later] == [
        (task_id, "later", seen.leader) for task_id in seen.later
    ]
    assert waiter["task"]["idempotency"] == PROMISE
    assert seen.answered == [seen.leader, seen.waiter, seen.duplicate]
    assert (seen.rest, seen.unleased) == (None, None)

"""One story told over every dialect: a task is sent, seen, repaired, answered, and its result goes home.

Whatever the door, it is the same queue, the same verbs and the same timeline.
"""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from mailbox.dialects.marianne.inbox import A2AInbox
from mailbox.models import Task
from mailbox.verbs.agents import public_routes
from tests.support import yeoman
from tests.support.api import Api

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]

INTENT = "Count the words"
ANSWER = "six words"


class Door:
    """How one dialect's sender hands over a task and gets its result."""

    def __init__(self, alice, olga):
        self.api = Api(alice)

    def send(self) -> str:
        raise NotImplementedError

    def answer_to(self, task_id: str) -> tuple[bool, str]:
        """Return whether it succeeded, and what came back."""
        raise NotImplementedError


class Covenant(Door):
    def send(self):
        return self.api.post("/a2a/tasks", {"recipient": "bob", "intent_text": INTENT, "id": str(UUID(int=7))}).json()[
            "task_id"
        ]

    def answer_to(self, task_id):
        result = self.api.get("/a2a/results/next").json()["result"]
        assert result["task_id"] == task_id
        return result["status"] == "ok", result["content"][0]["text"]


class Corvid(Door):
    def send(self):
        return self.api.post("/a2a/tasks/send", {"params": {"message": INTENT}}).json()["id"]

    def answer_to(self, task_id):
        task = self.api.get(f"/a2a/tasks/{task_id}").json()
        return task["state"] == "completed", task["messages"][-1]["parts"][0]["text"]


class CorvidByRoute(Corvid):
    def __init__(self, alice, olga):
        super().__init__(alice, olga)
        self.peer = yeoman.Peer(prefix=f"/p/{public_routes.add(olga, alice.agent, rate_limit=100).token}")

    def send(self):
        return self.peer.post({"message": INTENT}, "/a2a/tasks/send").json()["id"]

    def answer_to(self, task_id):
        task = self.peer.get(f"/a2a/tasks/{task_id}").json()
        return task["state"] == "completed", task["messages"][-1]["parts"][0]["text"]


class Yeoman(Door):
    def __init__(self, alice, olga):
        self.peer = yeoman.Peer(alice)

    def send(self):
        return self.peer.send("a2a:delegate", {"task": INTENT})["task_id"]

    def answer_to(self, task_id):
        found = self.peer.send("a2a:result_query", {"task_id": task_id})
        return found["status"] == "completed", found["result"]["content"][0]["text"]


class TaskApi(Yeoman):
    def send(self):
        return self.peer.post({"title": "t", "description": INTENT}, "/api/v1/tasks").json()["task_id"]

    def answer_to(self, task_id):
        found = self.peer.get(f"/api/v1/tasks/{task_id}").json()
        return found["status"] == "completed", found["result"]["content"][0]["text"]


class Marianne(Door):
    def __init__(self, alice, olga):
        self.inbox = A2AInbox("job-b", "bob")

    def send(self):
        return self.inbox.submit_task("job-a", "alice", INTENT).task_id

    def answer_to(self, task_id):
        task = self.inbox.get_task(task_id)
        assert task is not None
        return task.status == "completed", json.dumps(task.artifacts)


DOORS = [Covenant, Corvid, CorvidByRoute, Yeoman, TaskApi, Marianne]


@pytest.fixture
def operator(olga):
    return Api(olga)


@pytest.fixture
def worker(bob):
    return Api(bob)


def lease(worker):
    answer = worker.get("/a2a/tasks/next").json()
    return answer["task"], answer["lease"]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_a_task_of_any_dialect_is_repaired_and_answered_in_the_one_queue(door, alice, bob, olga, operator, worker):
    sender = door(alice, olga)

    task_id = sender.send()
    [queued] = operator.get("/a2a/queue").json()["tasks"]
    first, lost = lease(worker)
    repair = {"action": "requeue", "duplicate_risk": "operator_accepted", "lease_id": lost["lease_id"]}
    repaired = operator.post("/a2a/repair", {"task_id": task_id, "command": repair, "reason": "its worker died"})
    second, again = lease(worker)
    answer = {"status": "ok", "content": [{"type": "text", "text": ANSWER}], "lease_id": again["lease_id"]}
    posted = worker.post("/a2a/results", {"task_id": task_id, **answer})
    succeeded, text = sender.answer_to(task_id)

    assert (queued["task"]["id"], queued["state"]) == (task_id, "queued")
    assert queued["task"]["intent_text"] == INTENT
    assert queued["task"]["sender"]["display"] == "alice@local"
    assert first["id"] == second["id"] == task_id
    assert (repaired.status_code, posted.status_code) == (200, 200)
    assert (lost["attempt"], again["attempt"]) == (1, 2)
    assert succeeded
    assert ANSWER in text
    events = operator.get(f"/a2a/tasks/{task_id}/timeline").json()["events"]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert [event["kind"] for event in events][:5] == [
        *("a2a_task_sent", "a2a_task_leased", "a2a_repair_applied", "a2a_task_leased", "a2a_result_posted")
    ]


def test_tasks_of_all_dialects_wait_in_one_line_and_each_result_goes_home(alice, bob, olga, operator, worker):
    senders = [door(alice, olga) for door in DOORS]

    ids = [sender.send() for sender in senders]
    line = [entry["task"]["id"] for entry in operator.get("/a2a/queue", limit=100).json()["tasks"]]
    for number, task_id in enumerate(ids):
        task, held = lease(worker)
        content = [{"type": "text", "text": f"{ANSWER} {number}"}]
        worker.post(
            "/a2a/results", {"task_id": task["id"], "status": "ok", "content": content, "lease_id": held["lease_id"]}
        )
        assert task["id"] == task_id

    assert line == ids
    for number, (sender, task_id) in enumerate(zip(senders, ids, strict=True)):
        succeeded, text = sender.answer_to(task_id)
        assert succeeded
        assert f"{ANSWER} {number}" in text
    assert {row.dialect for row in Task.objects.all()} == {"mailbox", "corvid", "yeoman", "marianne"}


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_an_operator_s_forced_error_is_a_failure_in_every_dialect(door, alice, bob, olga, operator, worker):
    sender = door(alice, olga)
    task_id = sender.send()
    _, held = lease(worker)

    command = {"action": "force_error", "message": "given up", "lease_id": held["lease_id"]}
    forced = operator.post("/a2a/repair", {"task_id": task_id, "command": command, "reason": "it never ends"})

    assert forced.status_code == 200
    shown = yeoman.Peer(alice).get(f"/api/tasks/{task_id}").json()
    assert (shown["status"], shown["result"]) == ("failed", {"error": "given up"})
    corvid = Api(alice).get(f"/a2a/tasks/{task_id}").json()
    assert (corvid["state"], corvid["messages"][-1]["parts"][0]["text"]) == ("failed", "given up")

from __future__ import annotations

from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from mailbox.models import Task
from mailbox.words.times import LONGEST_MS
from tests.support import factories
from tests.support.api import Api, error_of

pytestmark = pytest.mark.django_db

ENVELOPE = {"id": "1", "type": "a2a:delegate", "fromPeerId": "self", "toPeerId": "bob@local", "timestamp": 1}
MESSAGE = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}
WAIT_FOR_NOTHING = {"returnImmediately": True}


class Door(NamedTuple):
    """A route that sends a task: its path, its body without a work timeout, and the path of the field in the body."""

    path: str
    body: dict[str, Any]
    field: tuple[str, ...] = ("work_timeout_ms",)

    def with_timeout(self, value: object) -> dict[str, Any]:
        """Return the body with this value of the field."""
        made = dict(self.body)
        place = made
        for part in self.field[:-1]:
            place[part] = dict(place[part])
            place = place[part]
        place[self.field[-1]] = value
        return made


TASK = {"recipient": "bob", "intent_text": "x"}
SUBMITTED = {"title": "x", "description": "x"}
DOORS = {
    "mailbox": Door("/a2a/tasks", TASK),
    "tasks/send": Door("/a2a/tasks/send", {"params": {"message": "x"}}, ("params", "timeoutMs")),
    "inbox": Door("/a2a/inboxes/bob/tasks", {"description": "x"}),
    "YEOMAN": Door("/api/v1/a2a/receive", ENVELOPE | {"payload": {"task": "x"}}, ("payload", "work_timeout_ms")),
    "task API": Door("/api/tasks", SUBMITTED),
    "workflow": Door("/api/v1/a2a/tasks", {"task": "x"}),
    "official": Door(
        "/agents/bob@local/rest/message:send?A2A-Version=1.0",
        {"message": MESSAGE, "configuration": WAIT_FOR_NOTHING, "metadata": {}},
        ("metadata", "urn:a2a-hub:work-timeout-ms"),
    ),
}


@pytest.mark.parametrize(("limit", "told"), [(timedelta(seconds=1.5), 1500), (None, None)])
def test_a_lease_is_shown_with_its_work_timeout_by_every_route(client, alice, bob, limit, told):
    factories.sent_task(alice, bob, work_timeout=limit)
    bobs = {"headers": {"X-API-Key": factories.key_of(bob)}, "content_type": "application/json"}

    leased = client.post("/a2a/tasks/next", {}, **bobs).json()
    beaten = client.post(f"/a2a/tasks/{leased['task']['id']}/heartbeat", {}, **bobs).json()
    (held,) = client.get("/a2a/leases", headers=bobs["headers"]).json()["leases"]
    entry = client.get(f"/a2a/tasks/{leased['task']['id']}/entry", headers=bobs["headers"]).json()["entry"]

    assert [one["work_timeout_ms"] for one in (leased["lease"], beaten["lease"], held, entry)] == [told] * 4


@pytest.mark.parametrize("door", DOORS)
def test_every_route_that_sends_takes_a_work_timeout(alice, default_agent, door):
    sent = Api(alice).post(DOORS[door].path, DOORS[door].with_timeout(1500))

    assert sent.status_code in (200, 201), sent.content
    leased = Api(default_agent).post("/a2a/tasks/next").json()
    assert leased["lease"]["work_timeout_ms"] == 1500
    assert "work_timeout_ms" not in leased["task"].get("metadata", {})


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "soon", [1], LONGEST_MS + 1])
@pytest.mark.parametrize("door", DOORS)
def test_an_invalid_work_timeout_is_refused_by_its_name_and_sends_nothing(alice, default_agent, door, value):
    refused = Api(alice).post(DOORS[door].path, DOORS[door].with_timeout(value))

    assert refused.status_code in (400, 422), refused.content
    assert DOORS[door].field[-1] in refused.content.decode()
    assert not Task.objects.exists()


def test_each_task_of_a_batch_takes_a_work_timeout(alice, bob):
    wrong, right = (TASK | {"work_timeout_ms": value} for value in (0, 1500))

    sent = Api(alice).post("/a2a/tasks/batch", {"tasks": [wrong, right]}).json()

    (refused,) = sent["refused"]
    assert (refused["index"], refused["code"]) == (0, "invalid_request")
    assert "tasks.0.work_timeout_ms" in str(refused)
    assert Task.objects.get().work_timeout == timedelta(seconds=1.5)


def test_a_repeated_id_with_another_work_timeout_is_a_conflict(alice, bob):
    task = TASK | {"id": "7b9d9f0e-4b5c-4d7c-8a3a-2f3f1c8f2d11", "work_timeout_ms": 1500}
    api = Api(alice)

    assert [api.post("/a2a/tasks", task).status_code for _ in range(2)] == [200, 200]
    assert error_of(api.post("/a2a/tasks", task | {"work_timeout_ms": 1501})) == (409, "task_conflict")

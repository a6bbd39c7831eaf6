from datetime import timedelta

import pytest

from mailbox.models import Task
from tests.support import factories
from tests.support.api import Api, error_of

pytestmark = pytest.mark.django_db


TASK = {"recipient": "bob", "intent_text": "x"}


@pytest.mark.parametrize(("limit", "told"), [(timedelta(seconds=1.5), 1500), (None, None)])
def test_a_lease_is_shown_with_its_work_timeout_by_every_route(client, alice, bob, limit, told):
    factories.sent_task(alice, bob, work_timeout=limit)
    bobs = {"headers": {"X-API-Key": factories.key_of(bob)}, "content_type": "application/json"}

    leased = client.post("/a2a/tasks/next", {}, **bobs).json()
    beaten = client.post(f"/a2a/tasks/{leased['task']['id']}/heartbeat", {}, **bobs).json()
    (held,) = client.get("/a2a/leases", headers=bobs["headers"]).json()["leases"]
    entry = client.get(f"/a2a/tasks/{leased['task']['id']}/entry", headers=bobs["headers"]).json()["entry"]

    assert [one["work_timeout_ms"] for one in (leased["lease"], beaten["lease"], held, entry)] == [told] * 4


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

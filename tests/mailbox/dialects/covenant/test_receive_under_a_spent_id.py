"""A receive under a spent attempt id is answered at once, also with a wait."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from mailbox.access.limits import waits
from mailbox.life import leasing, results
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db
ATTEMPT = uuid4()


@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch):
    """Let each wait fail at its start."""

    def seat(*_):
        raise AssertionError("the request waits")

    monkeypatch.setattr(waits, "_seat", seat)


@pytest.mark.parametrize("wait_ms", [0, 1000])
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_lease_under_a_spent_id_does_not_wait(alice, bob, method, wait_ms):
    task = factories.sent_task(alice, bob)
    leasing.lease_tasks(bob, attempt_id=ATTEMPT)
    leasing.release(bob, task.uuid, reason="not mine")
    how: dict[str, Any] = {"attempt_id": str(ATTEMPT), "wait_ms": wait_ms}

    api = Api(bob)
    answer = api.get("/a2a/tasks/next", **how) if method == "get" else api.post("/a2a/tasks/next", how)

    assert answer.json() == {"kind": "a2a_task_opt", "task": None, "lease": None, "attempt_spent": True}


@pytest.mark.parametrize("wait_ms", [0, 1000])
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_drain_under_a_spent_id_does_not_wait(alice, bob, method, wait_ms):
    result = factories.resolved_task(alice, bob)
    results.drain_results(alice, attempt_id=ATTEMPT)
    results.ack_results(alice, [result.task.uuid])
    how: dict[str, Any] = {"attempt_id": str(ATTEMPT), "wait_ms": wait_ms}

    api = Api(alice)
    answer = api.get("/a2a/results/next", **how) if method == "get" else api.post("/a2a/results/next", how)

    assert answer.json() == {"kind": "a2a_result_opt", "result": None, "attempt_spent": True}


def test_a_receive_under_a_fresh_id_waits(bob):
    with pytest.raises(AssertionError, match="the request waits"):
        leasing.next_task(bob, attempt_id=ATTEMPT, wait=timedelta(seconds=1))

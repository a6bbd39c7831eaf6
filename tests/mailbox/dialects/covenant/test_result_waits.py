"""Waits for the result of one task over HTTP."""

import threading

import pytest
from django.db import connection

from mailbox.access.limits import own_limits, waits
from mailbox.database.bell import waiters
from mailbox.life import results, sending
from mailbox.models import Result
from tests.support import factories
from tests.support.api import Api, answered, error_of
from tests.support.pauses import act_in_pauses, until

pytestmark = pytest.mark.django_db

NO_RESULT = {"kind": "a2a_result_opt", "result": None}
HEADERS = {"X-Request-Id": "same"}


@pytest.fixture(autouse=True)
def _limits_are_read_anew():
    own_limits.forget()
    yield
    own_limits.forget()


def path_of(task_id):
    return f"/a2a/tasks/{task_id}/result"


def test_a_wait_ends_with_the_result_and_does_not_drain_it(alice, bob, monkeypatch):
    task = factories.sent_task(alice, bob)
    other = factories.sent_task(alice, bob)
    text = [{"type": "text", "text": "done"}]
    pauses = []
    act_in_pauses(
        monkeypatch,
        lambda: results.post_result(bob, factories.result_envelope(other)),
        lambda: results.post_result(bob, factories.result_envelope(task, content=text)),
        lambda: pauses.append("after the result"),
    )

    status, read = answered(Api(alice).get(path_of(task.uuid), wait_ms=60_000))

    assert (status, read["result"]["task_id"], read["result"]["content"]) == (200, str(task.uuid), text)
    assert pauses == []
    assert Result.objects.get(task=task).delivery == "pending"


def test_a_cancellation_ends_the_wait_of_the_recipient(alice, bob, monkeypatch):
    task = factories.sent_task(alice, bob)
    act_in_pauses(monkeypatch, lambda: sending.cancel(alice, task.uuid, reason="late"))

    read = Api(bob).get(path_of(task.uuid), wait_ms=60_000).json()

    assert read["result"]["status"] == "error"


def test_a_wait_that_is_over_answers_as_a_read_of_an_unfinished_task(alice, bob, monkeypatch):
    task = factories.leased_task(alice, bob).task
    act_in_pauses(monkeypatch)

    waited = Api(alice).get(path_of(task.uuid), wait_ms=60_000, headers=HEADERS)
    read = Api(alice).get(path_of(task.uuid), headers=HEADERS)

    assert answered(waited) == (200, NO_RESULT)
    assert (waited.content, dict(waited.headers)) == (read.content, dict(read.headers))


def test_no_wait_begins_for_a_task_that_has_ended(alice, bob, monkeypatch):
    task = factories.resolved_task(alice, bob).task
    pauses = []
    act_in_pauses(monkeypatch, lambda: pauses.append("a wait"))

    assert Api(alice).get(path_of(task.uuid), wait_ms=60_000).json()["result"]["task_id"] == str(task.uuid)
    assert pauses == []


@pytest.mark.parametrize("wait_ms", ["-1", "600001", "1.5", "soon", ""])
def test_an_invalid_wait_is_refused(alice, bob, wait_ms):
    task = factories.sent_task(alice, bob)

    refused = Api(alice).get(path_of(task.uuid), wait_ms=wait_ms)

    assert error_of(refused) == (400, "invalid_request")
    assert list(refused.json()["fields"]) == ["wait_ms"]


def test_a_wait_takes_one_of_the_seats_of_its_agent(alice, bob, settings):
    task = factories.sent_task(alice, bob)
    settings.A2A_QUOTA_WAITS = 0

    assert error_of(Api(alice).get(path_of(task.uuid), wait_ms=60_000)) == (429, "quota_exceeded")
    assert answered(Api(alice).get(path_of(task.uuid))) == (200, NO_RESULT)


def test_a_wait_returns_when_the_hub_stops(alice, bob, monkeypatch):
    task = factories.sent_task(alice, bob)
    monkeypatch.setattr(waiters, "has_ended", lambda: True)

    assert answered(Api(alice).get(path_of(task.uuid), wait_ms=60_000)) == (200, NO_RESULT)


@pytest.mark.django_db(transaction=True)
def test_a_result_of_another_thread_ends_a_wait(alice, bob):
    task = factories.sent_task(alice, bob)
    found = []

    def read():
        found.append(Api(alice).get(path_of(task.uuid), wait_ms=600_000).json())
        connection.close()

    reader = threading.Thread(target=read)
    reader.start()
    until(lambda: waits.live(alice.agent.pk) == 1)

    results.post_result(bob, factories.result_envelope(task))

    reader.join()
    assert found[0]["result"]["task_id"] == str(task.uuid)

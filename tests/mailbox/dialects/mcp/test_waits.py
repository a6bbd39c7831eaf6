"""Calls that wait: their progress, their end, and their seats. The test acts while they wait."""

import pytest
from django.db import OperationalError
from django.utils import timezone

from mailbox.access.limits import own_limits, waits
from mailbox.database import waiting
from mailbox.database.bell import waiters
from mailbox.life import leasing
from mailbox.models import ApiKey, Lease
from tests.support import factories
from tests.support.a2a import Holder, hang_up
from tests.support.mcp import McpClient, checked
from tests.support.pauses import act_in_pauses

pytestmark = pytest.mark.django_db

LONG = 60_000


@pytest.fixture(autouse=True)
def _signs_of_life_come_quickly(settings):
    settings.A2A_KEEPALIVE_MS = 10


@pytest.fixture
def task(alice, bob):
    return factories.sent_task(alice, bob)


@pytest.fixture
def holder(bob):
    return Holder(bob)


def told(stream):
    """Return the sentence of the next notification of progress, which must be one."""
    message = next(stream)
    assert message["method"] == "notifications/progress"
    assert message["params"]["progressToken"] == "t"
    assert message["params"]["total"] == 50
    return message["params"]["message"]


def until_told(stream, words):
    """Read notifications up to one with these words; return the progress of each, which always grows."""
    grown = []
    for message in stream:
        grown.append(message["params"]["progress"])
        if message["params"]["message"] == words:
            assert grown == sorted(set(grown))
            return
    raise AssertionError(f"the stream ended without {words!r}")


def answer_of(name, stream):
    """Return the structured answer at the end of a stream, after its notifications."""
    *before, last = stream
    assert {message["method"] for message in before} <= {"notifications/progress"}
    assert last["id"] == 1
    return checked(name, last["result"])


def test_a_wait_tells_the_progress_of_the_task_and_then_its_result(sender, task, holder):
    stream = sender.stream("wait_for_result", task_id=str(task.uuid), wait_ms=LONG)
    assert told(stream) == "The task is queued."
    holder.take()
    until_told(stream, "The task is in_flight.")
    McpClient(holder.caller).tool(
        "report_progress",
        task_id=str(task.uuid),
        lease_id=str(holder.lease.lease_id),
        fraction=0.4,
        note="walls",
    )
    until_told(stream, "The task is in_flight, 40% done: walls")
    holder.answer("done")

    assert answer_of("wait_for_result", stream)["result"]["content"][0]["text"] == "done"


def test_a_wait_ends_with_a_question(sender, task, holder):
    stream = sender.stream("wait_for_result", task_id=str(task.uuid), wait_ms=LONG)
    told(stream)
    holder.take()
    holder.ask("which?")

    assert answer_of("wait_for_result", stream)["question"]["content"][0]["text"] == "which?"


def test_a_receive_waits_for_its_task(worker, alice, bob):
    stream = worker.stream("receive_task", wait_ms=LONG)
    assert told(stream) == "No task has come yet."
    task = factories.sent_task(alice, bob)

    assert answer_of("receive_task", stream)["task"]["id"] == str(task.uuid)


def test_a_call_that_need_not_wait_is_an_ordinary_answer(sender, worker, task, holder):
    holder.take()
    holder.answer("done")
    call = {"name": "wait_for_result", "arguments": {"task_id": str(task.uuid), "wait_ms": LONG}}

    response = sender.response("tools/call", call, token="t")

    assert response["Content-Type"] == "application/json"
    assert response.json()["result"]["structuredContent"]["task"]["outcome"] == "ok"


def test_a_call_without_a_token_or_events_waits_for_an_ordinary_answer(sender, task, holder, monkeypatch):
    call = {"name": "wait_for_result", "arguments": {"task_id": str(task.uuid), "wait_ms": LONG}}
    act_in_pauses(monkeypatch, holder.take, lambda: holder.answer("done"))

    response = sender.response("tools/call", call)

    assert response.json()["result"]["structuredContent"]["result"]["content"][0]["text"] == "done"
    unheard = sender.response("tools/call", call, token="t", Accept="application/json")
    assert unheard["Content-Type"] == "application/json"


def test_a_wait_ends_at_its_time_with_the_task_as_it_is(sender, task):
    assert sender.tool("wait_for_result", task_id=str(task.uuid), wait_ms=30)["task"]["state"] == "queued"


def test_a_wait_ends_as_the_process_stops(sender, task, monkeypatch):
    stream = sender.stream("wait_for_result", task_id=str(task.uuid), wait_ms=LONG)
    told(stream)
    monkeypatch.setattr(waiters, "has_ended", lambda: True)

    assert answer_of("wait_for_result", stream)["task"]["state"] == "queued"


def test_a_wait_holds_a_seat_of_its_agent_until_its_client_goes(alice, task):
    stream = McpClient(alice).stream("wait_for_result", task_id=str(task.uuid), wait_ms=LONG)
    told(stream)

    assert waits.live(alice.agent.pk) == 1
    stream.close()
    assert waits.live(alice.agent.pk) == 0


def test_a_wait_without_a_free_seat_of_the_process_ends_at_once(alice, task, monkeypatch):
    monkeypatch.setattr(waiting.Seats, "all", 0)

    assert McpClient(alice).tool("wait_for_result", task_id=str(task.uuid), wait_ms=LONG)["task"]["state"] == "queued"


def test_a_wait_beyond_the_agent_s_own_is_an_error_of_the_tool(alice, task, monkeypatch):
    monkeypatch.setattr(own_limits, "waits", lambda _: 0)

    text = McpClient(alice).refused("wait_for_result", task_id=str(task.uuid), wait_ms=LONG)

    assert text.startswith("quota_exceeded: ")


def test_a_wait_ends_with_its_key(alice, task):
    stream = McpClient(alice).stream("wait_for_result", task_id=str(task.uuid), wait_ms=LONG)
    told(stream)
    ApiKey.objects.update(revoked_at=timezone.now())
    waits.end_without_key()

    *_, last = stream
    assert last["error"]["data"] == {"code": "unauthenticated"}


def test_an_outage_in_a_wait_is_reported_in_its_stream(alice, task, monkeypatch):
    stream = McpClient(alice).stream("wait_for_result", task_id=str(task.uuid), wait_ms=LONG)
    told(stream)
    monkeypatch.setattr("mailbox.life.expiry.current", _away)

    holder = factories.caller_of(task.recipient)
    leasing.lease_tasks(holder)

    *_, last = stream
    assert last["error"]["data"] == {"code": "unavailable"}


def _away(*_):
    raise OperationalError("gone")


def test_a_wait_whose_client_goes_before_it_begins_takes_no_task(bob):
    call = {"name": "receive_task", "arguments": {"wait_ms": LONG}}
    response = McpClient(bob).response("tools/call", call, token="t")

    hang_up(response)

    assert not Lease.objects.exists()
    assert waits.live(bob.agent.pk) == 0

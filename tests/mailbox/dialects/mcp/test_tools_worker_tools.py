"""The tools of a recipient, and the answers of its work."""

from uuid import uuid4

import pytest

from mailbox.models import Lease, Result, Task
from tests.support import factories
from tests.support.mcp import held, sent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bob")]


def test_a_task_goes_to_its_recipient_and_its_answer_home(sender, worker):
    task_id = sent(sender, kind="house", work_timeout_ms=60_000)
    received = worker.tool("receive_task")
    lease = {"task_id": task_id, "lease_id": received["lease"]["lease_id"]}
    worker.tool("report_progress", **lease, fraction=0.5, note="walls")
    answered = worker.tool("answer_task", **lease, content="a house", message="It is drying.")
    seen = sender.tool("wait_for_result", task_id=task_id)

    assert (received["task"]["id"], received["task"]["text"]) == (task_id, "paint a house")
    assert (received["task"]["sender"], received["task"]["kind"]) == ("alice@local", "house")
    assert "times_out_at" in received["lease"]
    assert answered == {"task_id": task_id, "status": "ok"}
    assert (seen["task"]["state"], seen["task"]["outcome"]) == ("resolved", "ok")
    assert seen["result"]["content"] == [{"type": "text", "text": "a house"}]
    assert seen["result"]["message"] == [{"type": "text", "text": "It is drying."}]
    kinds = [row["kind"] for row in sender.tool("read_task", task_id=task_id)["timeline"]]
    assert kinds == ["a2a_task_sent", "a2a_task_leased", "a2a_task_updated", "a2a_result_posted"]
    assert Task.objects.get().dialect == "mcp"


def test_a_question_comes_to_the_sender_and_its_answer_to_the_worker(sender, worker):
    task_id = sent(sender)
    worker.tool("ask_sender", **held(worker), question="Which colour?")
    asked = sender.tool("wait_for_result", task_id=task_id)
    said = sender.tool("say", task_id=task_id, content="green")
    again = worker.tool("receive_task")

    assert (asked["task"]["state"], asked["task"]["awaits"]) == ("interrupted", "input")
    assert asked["question"]["content"] == [{"type": "text", "text": "Which colour?"}]
    assert said["turn"] == again["turn"] == 2
    assert again["message"]["content"] == [{"type": "text", "text": "green"}]
    assert again["lease"]["attempt"] == 2


def test_an_authorization_can_be_asked_for(sender, worker):
    task_id = sent(sender)
    worker.tool("ask_sender", **held(worker), question="May I?", needs="authorization")

    assert sender.tool("wait_for_result", task_id=task_id)["task"]["awaits"] == "authorization"


def test_the_same_attempt_receives_the_same_lease_and_a_spent_one_nothing(sender, worker):
    sent(sender)
    sent(sender)
    attempt = str(uuid4())

    first, second = (worker.tool("receive_task", attempt_id=attempt) for _ in range(2))
    assert first == second
    [kept] = worker.tool("held_tasks")["held"]
    assert kept["lease"] == first["lease"]
    worker.tool("answer_task", task_id=first["task"]["id"], lease_id=first["lease"]["lease_id"])
    third = worker.tool("receive_task", attempt_id=attempt, wait_ms=60_000)
    assert (third["task"], third["attempt_spent"]) == (None, True)


def test_a_result_needs_the_live_lease(sender, worker):
    sent(sender)
    lease = held(worker)
    worker.tool("release_task", **lease, reason="no paint")
    worker.tool("release_task", **lease, reason="no paint")
    held(worker)

    assert worker.refused("answer_task", **lease, content="late").startswith("lease_mismatch: ")
    assert worker.refused("report_progress", **lease).startswith("lease_mismatch: ")
    assert worker.refused("ask_sender", **lease, question="?").startswith("lease_mismatch: ")
    assert not Result.objects.exists()


@pytest.mark.parametrize(("status", "outcome"), [("error", "error"), ("rejected", "rejected"), ("partial", "partial")])
def test_work_can_end_badly(sender, worker, status, outcome):
    task_id = sent(sender)
    worker.tool("answer_task", **held(worker), status=status, error_message="no paint")

    seen = sender.tool("wait_for_result", task_id=task_id)

    assert (seen["task"]["outcome"], seen["result"]["error_message"]) == (outcome, "no paint")


def test_a_report_of_nothing_is_a_heartbeat_and_tells_of_new_messages(sender, worker):
    task_id = sent(sender)
    lease = held(worker)
    before = Lease.objects.get().last_seen_at
    sender.tool("say", task_id=task_id, content="in green")

    assert worker.tool("report_progress", **lease)["turn"] == 2
    assert Lease.objects.get().last_seen_at > before
    assert factories.life_of(Task.objects.get())[-1] == "a2a_message_sent"


def test_a_report_with_an_attempt_id_is_recorded_once(sender, worker):
    sent(sender)
    report = {**held(worker), "message": "half", "attempt_id": str(uuid4())}

    worker.tool("report_progress", **report)
    worker.tool("report_progress", **report)

    assert factories.life_of(Task.objects.get()).count("a2a_task_updated") == 1


def test_a_cancelled_task_is_no_longer_there_to_answer(sender, worker):
    task_id = sent(sender)
    lease = held(worker)
    sender.tool("cancel_task", task_id=task_id, reason="too late")
    sender.tool("cancel_task", task_id=task_id)

    assert worker.refused("answer_task", **lease, content="x").startswith("already_resolved: ")
    assert sender.tool("wait_for_result", task_id=task_id)["task"]["outcome"] == "cancelled"

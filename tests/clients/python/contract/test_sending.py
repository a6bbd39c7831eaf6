import threading
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from a2a_hub_client import Answer, HubError, NewTask, ResultTimeoutError, TaskHandle
from a2a_hub_client.models.wire import JsonBlock, TextBlock
from a2a_hub_client.refusals import (
    AlreadyResolvedError,
    CapabilityMissingError,
    InvalidRequestError,
    TaskConflictError,
    UnknownAgentError,
    UnknownTaskError,
)
from tests.clients.python.contract.conftest import served

SOON = timedelta(milliseconds=20)


def answer_next(worker, text, **fields):
    """Lease the worker's next task and answer it."""
    (leased,) = worker.receive().leases
    worker.post_result(Answer(task_id=leased.task.id, content=text, lease_id=leased.lease.id, **fields))
    return leased


def test_a_task_goes_to_its_agent_and_its_result_comes_back(alice, bob):
    task = alice.send("bob", "count the words", kind="count")
    leased = answer_next(bob, "3")

    result = task.result()

    assert (leased.task.id, leased.task.text, leased.task.kind) == (task.id, "count the words", "count")
    assert (leased.task.sender.display, leased.task.recipient.display) == ("alice@local", "bob@local")
    assert (result.task_id, result.is_ok, result.text) == (task.id, True, "3")


def test_a_result_has_its_content_by_type(alice, bob):
    task = alice.send("bob", "a")
    answer_next(bob, [JsonBlock({"words": 3}), TextBlock("three", lang="en")], message="bye")

    result = task.result()

    assert result.content == [{"type": "json", "value": {"words": 3}}, {"type": "text", "text": "three", "lang": "en"}]
    assert (result.values, result.text, result.message) == ([{"words": 3}], "three", [TextBlock("bye")])


def test_a_failed_task_has_a_result_that_says_so(alice, bob):
    task = alice.send("bob", "a")
    answer_next(bob, [], status="error", error_message="no words")

    result = task.result()

    assert (result.status, result.is_ok, result.error_message) == ("error", False, "no words")


def test_a_client_waits_for_a_result(world, alice, bob):
    task = alice.send("bob", "a")

    def answer():
        world.until_a_client_waits()
        answer_next(bob, "late")

    answering = threading.Thread(target=answer)
    answering.start()

    assert task.result().text == "late"
    answering.join()


@pytest.mark.usefixtures("time_of_waits")
def test_a_wait_for_a_result_ends(alice):
    task = alice.send("bob", "a")

    with pytest.raises(ResultTimeoutError, match=str(task.id)):
        task.result(timeout=0.05)
    with pytest.raises(TimeoutError):
        task.result(timeout=timedelta(0))


def test_a_result_that_was_read_is_acknowledged(alice, bob):
    first, second = alice.send("bob", "1"), alice.send("bob", "2")
    answer_next(bob, "1")
    answer_next(bob, "2")

    first.result()
    second.result(ack=False)

    assert [result.task_id for result in alice.results(wait=0)] == [second.id]


def test_the_same_id_and_content_is_one_task(alice, bob):
    task_id = uuid4()

    first = alice.send("bob", "a", id=task_id)
    again = alice.send("bob", "a", id=str(task_id))

    assert first.id == again.id == task_id
    assert len(bob.receive(most=10, wait=0).leases) == 1


def test_the_same_id_with_another_content_is_refused(alice):
    task = alice.send("bob", "a")

    with pytest.raises(TaskConflictError) as caught:
        alice.send("bob", "b", id=task.id)

    assert caught.value.ids == {"task_id": str(task.id)}


def test_refusals_of_a_send(alice, hub_of):
    with pytest.raises(CapabilityMissingError):
        hub_of("mallory").send("bob", "a")
    with pytest.raises(UnknownAgentError):
        alice.send("nobody", "a")
    with pytest.raises(InvalidRequestError) as caught:
        alice.send("bob", " ")
    assert caught.value.fields.keys() == {"intent_text"}


def test_an_expired_task_has_its_result(world, alice, bob):
    task = alice.send("bob", "a", deadline=SOON)
    world.pass_time(SOON)

    result = task.result()

    assert (result.status, result.error_message) == ("error", "deadline exceeded")
    assert task.entry().outcome == "expired"


def test_a_task_that_takes_too_long_expires(world, alice, bob):
    task = alice.send("bob", "a", work_timeout=SOON)
    (leased,) = bob.receive().leases
    world.pass_time(SOON)

    result = task.result()

    assert leased.lease.work_timeout == SOON
    assert (result.status, result.error_message) == ("error", "Task timed out")


def test_a_cancelled_task_is_resolved(alice, bob):
    task = alice.send("bob", "a")

    task.cancel("not needed")
    task.cancel("not needed")

    assert task.entry().outcome == "cancelled"
    assert bob.receive(wait=0).leases == []


def test_a_resolved_task_cannot_be_cancelled(alice, bob):
    task = alice.send("bob", "a")
    answer_next(bob, "1")

    with pytest.raises(AlreadyResolvedError):
        task.cancel()


def test_a_task_of_others_is_unknown(alice, hub_of):
    task = alice.send("bob", "a")

    with pytest.raises(UnknownTaskError):
        hub_of("anna").task(task.id).entry()
    with pytest.raises(UnknownTaskError):
        alice.task(UUID(int=1)).result(timeout=0)


def test_many_tasks_are_sent_at_once(alice, bob):
    sent = alice.send_many(NewTask(to="bob", text=f"task {number}") for number in range(3))

    assert all(isinstance(task, TaskHandle) for task in sent)
    leased = bob.receive(most=10).leases
    assert [one.task.text for one in leased] == ["task 0", "task 1", "task 2"]
    assert [one.task.id for one in leased] == [task.id for task in sent]


def test_a_refused_task_keeps_no_other_from_being_sent(alice, bob):
    sent = alice.send_many([NewTask(to="nobody", text="a"), NewTask(to="bob", text="b"), NewTask(to="bob", text=" ")])

    assert [type(one) for one in sent] == [UnknownAgentError, TaskHandle, InvalidRequestError]
    assert all(isinstance(one, HubError | TaskHandle) for one in sent)
    assert [one.task.text for one in bob.receive(most=10).leases] == ["b"]


def test_many_long_tasks_go_in_several_requests(alice, bob):
    sent = alice.send_many(NewTask(to="bob", text="x" * 300_000) for _ in range(5))

    assert len({task.id for task in sent}) == 5
    assert sum(len(bob.receive(most=10, wait=0).leases) for _ in range(2)) == 5


@served
def test_work_that_may_be_done_twice_is_done_once(alice, bob):
    first = alice.send("bob", "a", idempotency_key="k")
    answer_next(bob, "1")

    again = alice.send("bob", "a", idempotency_key="k")

    assert first.result().text == again.result().text == "1"
    assert first.id != again.id
    assert bob.receive(wait=0).leases == []


@served
def test_a_tree_has_the_tasks_below_a_task(alice, bob):
    root = alice.send("bob", "root")
    child = alice.send("bob", "child", parent=root.id)

    assert [(node.depth, node.task.id, node.state) for node in root.tree()] == [
        (0, root.id, "queued"),
        (1, child.id, "queued"),
    ]

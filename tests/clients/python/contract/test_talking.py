from uuid import uuid4

import pytest

from a2a_hub_client import Answer, Update
from a2a_hub_client.models.wire import TextBlock
from a2a_hub_client.refusals import NotAskableError
from tests.clients.python.contract.conftest import served


@pytest.fixture
def task(alice):
    return alice.send("bob", "count")


@pytest.fixture
def lease(bob, task):
    (leased,) = bob.receive().leases
    return leased.lease


@served
def test_a_duplicate_that_waits_takes_no_message(alice, bob):
    leader, waiter = (alice.send("bob", "count", idempotency_key="k") for _ in range(2))

    with pytest.raises(NotAskableError):
        waiter.say("and the lines")

    assert [message.text for message in waiter.messages()] == ["count"]
    leader.say("and the lines")
    (leased,) = bob.receive(most=5).leases
    assert (leased.task.id, leased.turn) == (leader.id, 2)


def finish(bob, task, lease, **fields):
    bob.post_result(Answer(task_id=task.id, content="3", lease_id=lease.id, **fields))


def test_messages_are_listed_in_order(bob, task, lease):
    bob.post_updates(task.id, [Update.saying("one"), Update.of_progress(0.5, "half")], lease_id=lease.id)

    messages = list(task.messages())

    assert [(message.role, message.text) for message in messages] == [
        ("user", "count"),
        ("agent", "one"),
        ("agent", ""),
    ]
    assert messages[2].progress
    assert (messages[2].progress.fraction, messages[2].progress.note) == (0.5, "half")
    assert [message.seq for message in messages] == sorted(message.seq for message in messages)
    assert list(task.messages(after=messages[1].seq)) == messages[2:]


def test_updates_end_with_the_task(bob, task, lease):
    bob.post_updates(task.id, [Update.saying("one")], lease_id=lease.id)
    finish(bob, task, lease)

    updates = list(task.updates())

    assert [update.message.text for update in updates if update.message] == ["one"]
    assert updates[-1].state == "resolved"


def test_updates_come_as_they_happen(bob, task, lease):
    bob.post_updates(task.id, [Update.saying("one")], lease_id=lease.id)
    updates = task.updates()

    first = next(updates)
    bob.post_updates(task.id, [Update.saying("two")], lease_id=lease.id)
    second = next(updates)
    finish(bob, task, lease, message="bye")
    rest = list(updates)

    assert first.message
    assert (first.message.text, first.state) == ("one", "in_flight")
    assert second.message
    assert second.message.text == "two"
    assert [(update.message and update.message.text, update.state) for update in rest] == [("bye", "resolved")]


def test_a_repeated_update_is_posted_once(bob, task, lease):
    attempt = uuid4()

    for _ in range(2):
        bob.post_updates(task.id, [Update.saying("one")], lease_id=lease.id, attempt_id=attempt)

    assert [message.text for message in task.messages()] == ["count", "one"]


def test_a_question_ends_the_lease_and_the_answer_brings_a_new_one(alice, bob, task, lease):
    bob.post_updates(task.id, [Update.asking("which words?")], lease_id=lease.id)
    updates = task.updates()

    question = next(updates)
    assert (question.message and question.message.text, question.awaits) == ("which words?", "input")
    assert question.state == "interrupted"
    assert list(bob.leases()) == []

    said = task.say("all")
    (leased,) = bob.receive().leases

    assert said.turn == leased.turn == 2
    assert leased.message
    assert leased.message.text == "all"
    assert leased.lease.attempt == 2


def test_a_question_without_words_is_an_update(bob, task, lease):
    bob.post_updates(task.id, [Update.asking()], lease_id=lease.id)

    update = next(task.updates())

    assert (update.message, update.awaits, update.state) == (None, "input", "interrupted")


def test_a_repeated_message_is_stored_once(task, lease):
    attempt = uuid4()

    first, again = (task.say("more", attempt_id=attempt) for _ in range(2))

    assert first == again
    assert [message.text for message in task.messages()] == ["count", "more"]


def test_a_heartbeat_reports_a_further_message(bob, task, lease):
    task.say("more")

    assert bob.heartbeat(task.id, lease_id=lease.id).turn == 2


def test_artifacts_are_listed_with_their_chunks(bob, task, lease):
    chunks = [
        Update.with_artifact("a", artifact_id="page", name="Page"),
        Update.with_artifact("b", artifact_id="page", append=True, last_chunk=True),
    ]
    bob.post_updates(task.id, chunks, lease_id=lease.id)
    finish(bob, task, lease)

    (artifact,) = task.artifacts()

    assert (artifact.artifact_id, artifact.name, artifact.last_chunk) == ("page", "Page", True)
    assert artifact.content == [TextBlock("a"), TextBlock("b")]
    (named,) = task.result().artifacts
    assert (named.artifact_id, named.last_chunk) == ("page", True)


@served
def test_the_timeline_has_the_steps_of_the_task(bob, task, lease):
    finish(bob, task, lease)

    kinds = [event.kind for event in task.timeline()]

    assert [kind for kind in kinds if kind != "capability_check"] == [
        "a2a_task_sent",
        "a2a_task_leased",
        "a2a_result_posted",
    ]

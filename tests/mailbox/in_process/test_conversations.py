"""Conversations of code in this process."""

import threading
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection

from mailbox import Mailbox
from mailbox.access.callers import Caller
from mailbox.in_process import conversations
from mailbox.inspection import conversation
from mailbox.inspection.conversation import Reading
from mailbox.models import Task
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus, Words
from mailbox.words.errors import InvalidRequestError, UnknownTaskError
from tests.support import factories
from tests.support.factories import text
from tests.support.pauses import until_it_waits

MADE: Any = Update, ArtifactUpdate  # without the types of their fields
ASK = Update(status=UpdateStatus.INPUT_REQUIRED, message=text("which colour?"))


def test_a_question_is_answered_and_the_work_goes_on(box: Mailbox, alice: Caller, bob: Caller) -> None:
    lease = factories.leased_task(alice, bob)
    task_id = str(lease.task.uuid)

    asked = box.post_updates(task_id, [ASK], lease_id=str(lease.lease_id))
    sent = box.say(task_id, Words(content=text("green")))
    again = box.lease_task(task_id, attempt_id=uuid4())
    box.post_updates(task_id, [ArtifactUpdate(content=text("a ")), ArtifactUpdate(content=text("house"), append=True)])

    assert (asked.turn, sent.turn, again.attempt) == (1, 2, 2)
    read = box.messages(task_id)
    assert read.task.state == Task.State.IN_FLIGHT
    assert [message.words for message in read.page.items[1:]] == [text("which colour?"), text("green")]
    (house,) = box.artifacts(task_id)
    assert (house.artifact_id, house.blocks) == ("result", [*text("a "), *text("house")])


def test_an_artifact_that_is_replaced_between_two_pages_has_its_new_blocks_alone(
    box: Mailbox, alice: Caller, bob: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = factories.leased_task(alice, bob).task.uuid
    for number in range(3):
        box.post_updates(task_id, [ArtifactUpdate(content=text(f"old {number}"), append=number > 0)])
    read_page: Any = conversation.artifacts

    def read_and_replace(*about: Any, **how: Any) -> Any:
        page = read_page(*about, **how)
        if how["cursor"] is None:
            box.post_updates(task_id, [ArtifactUpdate(content=text("new"))])
        return page

    monkeypatch.setattr(conversations, "MOST_LISTED", 2)
    monkeypatch.setattr(conversation, "artifacts", read_and_replace)

    assert [one.blocks for one in box.artifacts(task_id)] == [text("new")]


@pytest.mark.django_db(transaction=True)
def test_a_read_waits_for_a_message(alice: Caller, bob: Caller) -> None:
    box, lease = Mailbox(), factories.leased_task(alice, bob)
    found: list[Reading] = []

    def read() -> None:
        found.append(box.messages(lease.task.uuid, after=1, timeout=None))
        connection.close()

    reader = threading.Thread(target=read)
    until_it_waits(reader)

    box.post_updates(lease.task.uuid, [Update(message=text("soon"))])

    reader.join()
    assert [message.words for message in found[0].page.items] == [text("soon")]


@pytest.mark.django_db(transaction=True)
def test_a_read_without_limit_ends_with_a_question_without_words(alice: Caller, bob: Caller) -> None:
    box, lease = Mailbox(), factories.leased_task(alice, bob)
    found: list[Reading] = []

    def read() -> None:
        found.append(box.messages(lease.task.uuid, after=1, timeout=None))
        connection.close()

    reader = threading.Thread(target=read, daemon=True)
    until_it_waits(reader)

    box.post_updates(lease.task.uuid, [Update(status=UpdateStatus.INPUT_REQUIRED)])

    reader.join()
    assert [(one.task.state, one.next_after) for one in found] == [("interrupted", 3)]
    assert not box.messages(lease.task.uuid, after=3)


@pytest.mark.parametrize("overdue", ["deadline", "work timeout"])
def test_a_read_expires_a_task_past_its_time(box: Mailbox, alice: Caller, bob: Caller, overdue: str) -> None:
    if overdue == "deadline":
        task_id = factories.sent_task(alice, bob).uuid
        Task.objects.update(deadline_ms=1)
    else:
        task_id = factories.leased_task(alice, bob, work_timeout=timedelta(milliseconds=1)).task.uuid

    read = box.messages(task_id)

    assert (read.task.state, read.task.outcome) == ("resolved", "expired")
    assert factories.last_event().kind == "a2a_task_expired"


def test_an_absent_task_is_unknown(box: Mailbox) -> None:
    calls: list[Any] = [
        lambda task_id: box.lease_task(task_id),
        lambda task_id: box.say(task_id, Words(content=text("a"))),
        lambda task_id: box.post_updates(task_id, [ASK]),
        lambda task_id: box.messages(task_id),
        lambda task_id: box.artifacts(task_id),
    ]
    for call in calls:
        with pytest.raises(UnknownTaskError):
            call(uuid4())
        with pytest.raises(InvalidRequestError):
            call("no id")


@pytest.mark.parametrize(
    ("updates", "path"),
    [
        (["done"], "updates.0"),
        ([ASK, MADE[0](progress="half")], "updates.1.progress"),
        ([MADE[0](message=7)], "updates.0.message"),
        ([MADE[1](content=text("a"), artifact_id=7)], "updates.0.artifact_id"),
        ([], "updates"),
    ],
)
def test_wrong_updates_are_named(box: Mailbox, alice: Caller, bob: Caller, updates: Any, path: str) -> None:
    lease = factories.leased_task(alice, bob)

    with pytest.raises(InvalidRequestError) as refused:
        box.post_updates(lease.task.uuid, updates)

    assert path in refused.value.fields


@pytest.mark.parametrize("how", [{"after": -1}, {"after": "1"}, {"limit": 0}, {"timeout": 5}])
def test_wrong_reads_are_named(box: Mailbox, alice: Caller, bob: Caller, how: Any) -> None:
    task = factories.sent_task(alice, bob)

    with pytest.raises(InvalidRequestError) as refused:
        box.messages(task.uuid, **how)

    assert list(refused.value.fields) == list(how)


def test_a_message_must_be_words(box: Mailbox, alice: Caller, bob: Caller) -> None:
    task = factories.sent_task(alice, bob)
    wrong: Any = "green"

    with pytest.raises(InvalidRequestError, match="must be a Words"):
        box.say(task.uuid, wrong)
    with pytest.raises(InvalidRequestError, match="content"):
        box.say(task.uuid, Words(content=wrong))

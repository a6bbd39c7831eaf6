"""Webhooks that come with a message, and what a repeat of such a message is."""

from datetime import timedelta
from uuid import uuid4

import pytest

from mailbox.access.callers import Caller
from mailbox.life import conversation, push_configs, sending, updates
from mailbox.models import PushConfig, Task
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from mailbox.words import secret_box
from mailbox.words.conversation import Update, UpdateStatus, Words
from mailbox.words.errors import InvalidRequestError, TaskConflictError
from mailbox.words.push import PushTarget
from tests.support import factories
from tests.support.factories import text
from tests.support.webhook_rounds import leased, sent, webhook

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]
AT_ONCE = Retention(acked=timedelta(0), delivered=timedelta(0))
URL = "https://hooks.example/a2a?key=t0ken"


def target(**fields):
    return PushTarget(**{"url": URL, **fields})


def test_a_repeated_send_with_the_same_webhook_is_the_same_task(alice, bob):
    task_id, push = uuid4(), target(token="t0k3n")
    first = sent(alice, bob, id=task_id, push=push)

    again = sent(alice, bob, id=task_id, push=push)

    assert (again.pk, again.was_sent_before) == (first.pk, True)
    assert PushConfig.objects.count() == 1
    for other in (None, target(token="other"), target(url="https://other.example/"), target(config_id="x")):
        with pytest.raises(TaskConflictError):
            sent(alice, bob, id=task_id, push=other)


def test_a_send_without_a_webhook_is_not_repeated_by_one_with_it(alice, bob):
    task_id = uuid4()
    task = sent(alice, bob, id=task_id)
    webhook(alice, task, URL)

    assert sent(alice, bob, id=task_id).was_sent_before
    with pytest.raises(TaskConflictError):
        sent(alice, bob, id=task_id, push=target())


def test_a_send_is_repeated_although_its_webhook_was_changed_deleted_or_compacted(alice, bob):
    task_id, push = uuid4(), target(config_id="mine")
    task = sent(alice, bob, id=task_id, push=push)
    webhook(alice, task, "https://hooks.example/new", config_id="mine")
    assert sent(alice, bob, id=task_id, push=push).was_sent_before

    push_configs.delete_config(alice, task_id, "mine", recipient=bob.agent)
    assert sent(alice, bob, id=task_id, push=push).was_sent_before

    sending.cancel(alice, task_id)
    assert compaction.compact(Caller.command_line(), AT_ONCE) == 1
    assert sent(alice, bob, id=task_id, push=push).was_sent_before
    with pytest.raises(TaskConflictError):
        sent(alice, bob, id=task_id, push=target(url="https://other.example/"))


def test_only_tasks_of_the_protocol_come_with_a_webhook(alice, bob):
    with pytest.raises(InvalidRequestError, match="push"):
        factories.sent_task(alice, bob, push=target())
    task = factories.interrupted_task(alice, bob)
    with pytest.raises(InvalidRequestError, match="push"):
        conversation.say(alice, task.uuid, Words(content=text("this")), push=target())
    assert Task.objects.get(pk=task.pk).state == Task.State.INTERRUPTED


def test_a_repeated_answer_has_the_same_webhook(alice, bob):
    task = leased(alice, bob).task
    updates.post_updates(bob, task.uuid, [Update(status=UpdateStatus.INPUT_REQUIRED, message=text("which?"))])
    words, attempt_id = Words(content=text("this")), uuid4()
    first = conversation.say(alice, task.uuid, words, attempt_id=attempt_id, push=target())

    again = conversation.say(alice, task.uuid, words, attempt_id=attempt_id, push=target())

    assert again.message.pk == first.message.pk
    assert PushConfig.objects.get().position == (3, 2)
    for other in (None, target(token="x"), target(config_id="x")):
        if other is None or other.config_id:
            with pytest.raises(InvalidRequestError, match="attempt_id"):
                conversation.say(alice, task.uuid, words, attempt_id=attempt_id, push=other)


def test_the_webhook_of_each_message_without_an_id_is_the_same(alice, bob):
    task = leased(alice, bob, push=target()).task
    conversation.say(alice, task.uuid, Words(content=text("more")), push=target(token="new"))

    config = PushConfig.objects.get()
    assert secret_box.unseal(config.sealed_token or "") == "new"
    assert config.position == (1, 2)

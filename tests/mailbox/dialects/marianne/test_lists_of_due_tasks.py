"""A list of an inbox shows a task that is out of time as the task's own route does, even if no sweep has run."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.dialects.marianne.inbox import A2AInbox
from mailbox.models import AuditEvent
from mailbox.words.kinds import Kind
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db
INBOX = "/a2a/inboxes/bob"


@pytest.fixture
def due(alice, bob):
    """Send two tasks an hour ago: one is past its work timeout, the other past its deadline."""
    with time_machine.travel(timezone.now() - timedelta(hours=1), tick=False):
        leased = factories.leased_task(alice, bob, work_timeout=timedelta(seconds=1)).task
        return leased, factories.sent_task(alice, bob, deadline_ms=epoch_ms(timezone.now()) + 1000)


def exported_in_process(reader):
    return A2AInbox("j", "bob").to_dict()["tasks"]


def exported(reader):
    return Api(reader).get(f"{INBOX}/export").json()["tasks"]


def listed(reader):
    return {task["task_id"]: task for task in Api(reader).get(f"{INBOX}/tasks").json()["tasks"]}


def listed_as_failed(reader):
    return {task["task_id"]: task for task in Api(reader).get(f"{INBOX}/tasks?status=failed").json()["tasks"]}


@pytest.mark.parametrize("shown", [exported_in_process, exported, listed, listed_as_failed])
def test_a_list_shows_a_due_task_as_failed(due, bob, shown):
    tasks = shown(bob)

    assert {(task_id, task["status"], task["failure_reason"]) for task_id, task in tasks.items()} == {
        (str(due[0].uuid), "failed", "Task timed out"),
        (str(due[1].uuid), "failed", "deadline exceeded"),
    }
    assert [factories.life_of(task)[-1] for task in due] == [Kind.TASK_EXPIRED] * 2


@pytest.mark.parametrize("status", ["pending", "accepted"])
def test_a_due_task_is_not_listed_as_unfinished(due, bob, status):
    assert Api(bob).get(f"{INBOX}/tasks?status={status}").json()["tasks"] == []


def test_a_list_expires_no_task_that_its_reader_may_not_see(due, mallory):
    assert listed(mallory) == {}
    assert not AuditEvent.objects.filter(kind=Kind.TASK_EXPIRED).exists()


def test_a_list_without_due_tasks_writes_nothing(alice, bob):
    factories.sent_task(alice, bob)
    before = AuditEvent.objects.count()

    assert [task["status"] for task in listed(bob).values()] == ["pending"]
    assert AuditEvent.objects.count() == before

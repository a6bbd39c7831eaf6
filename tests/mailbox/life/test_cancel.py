import pytest

from mailbox.life import leasing, sending
from mailbox.models import Lease, Result, Task
from mailbox.words.errors import AlreadyResolvedError, UnknownTaskError
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_a_queued_task_is_cancelled_with_an_error_result(alice, bob):
    task = factories.sent_task(alice, bob)

    sending.cancel(alice, task.uuid, reason=" not needed ")

    task.refresh_from_db()
    result = Result.objects.get(task=task)
    assert (task.state, task.outcome) == (Task.State.RESOLVED, Task.Outcome.CANCELLED)
    assert (result.status, result.posted_by) == (Result.Status.ERROR, None)
    assert result.error_message == "cancelled by the sender: not needed"
    assert factories.life_of(task) == ["a2a_task_sent", "a2a_task_cancelled"]
    assert factories.last_event().fields == {"reason": "not needed"}
    assert leasing.lease_tasks(bob) == []


def test_cancelling_a_leased_task_ends_the_lease(alice, bob):
    lease = factories.leased_task(alice, bob)

    sending.cancel(alice, lease.task.uuid)

    lease.refresh_from_db()
    assert (lease.end, lease.ended_at is None) == (Lease.End.CANCEL, False)
    assert factories.life_of(lease.task)[-1] == "a2a_task_cancelled"


def test_cancelling_twice_changes_nothing(alice, bob):
    task = factories.sent_task(alice, bob)
    sending.cancel(alice, task.uuid)
    rows = factories.journal_length()

    sending.cancel(alice, task.uuid)

    assert factories.journal_length() == rows


def test_an_answered_task_cannot_be_cancelled(alice, bob):
    result = factories.resolved_task(alice, bob)
    rows = factories.journal_length()

    with pytest.raises(AlreadyResolvedError):
        sending.cancel(alice, result.task.uuid)

    result.task.refresh_from_db()
    assert result.task.outcome == Task.Outcome.OK
    assert factories.journal_length() == rows


def test_only_the_sender_can_cancel_a_task(alice, bob, mallory, olga):
    task = factories.sent_task(alice, bob)

    for other in (bob, mallory, olga):
        with pytest.raises(UnknownTaskError):
            sending.cancel(other, task.uuid)

    task.refresh_from_db()
    assert task.state == Task.State.QUEUED

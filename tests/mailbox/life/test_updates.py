import hashlib
from uuid import uuid4

import pytest

from mailbox.life import leasing, updates
from mailbox.models import Message
from mailbox.words.conversation import Update
from mailbox.words.errors import InvalidRequestError, NotInFlightError
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = pytest.mark.django_db

SAID = [Update(message=[{"type": "text", "text": "reading"}]), Update(progress=0.1, note="a tenth")]


@pytest.fixture
def task(alice, bob):
    return factories.leased_task(alice, bob).task


def said_of(task):
    return [message.blocks for message in Message.objects.filter(task=task).in_order()]


def test_a_repeated_attempt_posts_its_updates_once(bob, task):
    attempt = uuid4()
    first = updates.post_updates(bob, task.uuid, SAID, attempt_id=attempt)
    after = updates.post_updates(bob, task.uuid, SAID, attempt_id=uuid4())

    assert updates.post_updates(bob, task.uuid, SAID, attempt_id=attempt) == first
    assert first.seq < after.seq
    assert said_of(task) == [update.blocks for update in SAID] * 2
    assert len(factories.journal(Kind.TASK_UPDATED)) == 4


def test_updates_without_an_attempt_are_posted_each_time(bob, task):
    assert updates.post_updates(bob, task.uuid, SAID).seq < updates.post_updates(bob, task.uuid, SAID).seq
    assert len(said_of(task)) == 4


@pytest.mark.parametrize("other", [SAID[:1], [*SAID, SAID[0]], [SAID[0], Update(progress=0.2, note="a tenth")]])
def test_an_attempt_with_other_updates_is_refused(bob, task, other):
    attempt = uuid4()
    updates.post_updates(bob, task.uuid, SAID, attempt_id=attempt)

    with pytest.raises(InvalidRequestError) as refusal:
        updates.post_updates(bob, task.uuid, other, attempt_id=attempt)

    assert refusal.value.fields == {"attempt_id": "was used for other updates of this task"}
    assert len(said_of(task)) == 2


def test_an_attempt_id_counts_within_one_task(alice, bob, task):
    attempt, other = uuid4(), factories.leased_task(alice, bob).task
    for one in (task, other):
        updates.post_updates(bob, one.uuid, SAID, attempt_id=attempt)

    assert said_of(task) == said_of(other) == [update.blocks for update in SAID]


def test_repeated_updates_get_the_same_answer_once_the_lease_has_ended(bob, task):
    attempt = uuid4()
    first = updates.post_updates(bob, task.uuid, SAID, attempt_id=attempt)
    leasing.release(bob, task.uuid, reason="tired")

    assert updates.post_updates(bob, task.uuid, SAID, attempt_id=attempt) == first
    with pytest.raises(NotInFlightError):
        updates.post_updates(bob, task.uuid, SAID, attempt_id=uuid4())
    assert len(said_of(task)) == 2


def test_the_journal_holds_number_size_and_hash_of_an_update_and_not_its_text(alice, bob):
    lease = factories.leased_task(alice, bob)
    update = Update(message=[{"type": "text", "text": "a secret é"}], progress=0.5, note="another secret")

    updates.post_updates(bob, lease.task.uuid, [update])

    message = Message.objects.get()
    (row,) = factories.journal(Kind.TASK_UPDATED)
    assert row.fields == {
        "lease_id": str(lease.lease_id),
        "message_number": row.seq,
        "message_bytes": len(message.content.encode()),
        "message_sha256": hashlib.sha256(message.content.encode()).hexdigest(),
        "progress": 0.5,
    }
    assert "secret" not in row.data

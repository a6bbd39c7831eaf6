"""A result answers other tasks only if it answers the first words alone, for both sides of a cached result."""

from __future__ import annotations

import pytest

from mailbox.models import ReplayEntry
from mailbox.verbs.life import conversation, leasing, results
from mailbox.words.conversation import Words
from tests.support import factories
from tests.support.factories import text

pytestmark = pytest.mark.django_db

MORE = Words(content=text("In green, please."))


@pytest.fixture
def promise():
    return factories.idempotent()


@pytest.fixture
def lease(alice, bob, promise):
    """Return the live lease of a task whose duplicates wait on it."""
    return factories.leased_task(alice, bob, idempotency=promise)


def test_the_result_of_a_conversation_answers_no_duplicate(alice, bob, promise, lease):
    waiter = factories.sent_task(alice, bob, idempotency=promise)
    conversation.say(alice, lease.task.uuid, MORE)
    results.post_result(bob, factories.result_envelope(lease.task))

    later = factories.sent_task(alice, bob, idempotency=promise)

    assert not ReplayEntry.objects.exists()
    assert [one.task for one in leasing.lease_tasks(bob, limit=10)] == [waiter]
    assert later.waits_on == waiter


def test_a_waiting_duplicate_with_a_further_message_runs_by_itself(alice, bob, promise, lease):
    silent = factories.sent_task(alice, bob, idempotency=promise)
    talking = [factories.sent_task(alice, bob, idempotency=promise) for _ in range(2)]
    for task in talking:
        conversation.say(alice, task.uuid, MORE)
    results.post_result(bob, factories.result_envelope(lease.task))

    (woken,) = leasing.lease_tasks(bob, limit=10)
    results.post_result(bob, factories.result_envelope(woken.task))
    (last,) = leasing.lease_tasks(bob, limit=10)

    silent.refresh_from_db()
    assert (silent.state, silent.outcome) == ("resolved", "ok")
    assert [woken.task, last.task] == talking
    assert ReplayEntry.objects.get().source_task_id == lease.task.uuid

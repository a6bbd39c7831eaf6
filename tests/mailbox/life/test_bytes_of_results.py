"""Results and updates count for the bytes of their task's sender, and are never refused."""

from datetime import timedelta
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.db import OperationalError, connection

from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.life import leasing, results, task_limits, updates
from mailbox.life.fast_path import plain
from mailbox.models import Message, SenderStock
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from mailbox.words.conversation import Update
from mailbox.words.errors import InvalidRequestError, TaskTooLargeError
from tests.support import factories
from tests.support.factories import accepts

# A refusal undoes the statement of the fast form, and on PostgreSQL the test's own transaction with it.
pytestmark = pytest.mark.django_db(transaction=connection.vendor == "postgresql")
SIZE = len("summarise the report") + len("{}")


@pytest.fixture(params=["fast form", "whole form"])
def form_of_results(request, monkeypatch):
    if request.param == "whole form":
        monkeypatch.setattr(plain, "post_result", lambda *_: None)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("form_of_results")
def test_results_count_for_the_bytes_of_their_task_s_sender(alice, bob, settings, monkeypatch):
    monkeypatch.setattr(quotas, "GROWN_AT_ONCE", 100)
    content = [{"type": "text", "text": "x" * 100}]
    lease = factories.leased_task(alice, bob)

    result = results.post_result(bob, factories.result_envelope(lease.task, content=content))
    lease.task.refresh_from_db()
    assert lease.task.size == SIZE + result.size > SIZE + 100

    settings.A2A_QUOTA_BYTES = 2 * SIZE + result.size
    assert accepts(alice, bob)
    assert SenderStock.objects.get().size == 2 * SIZE + result.size
    assert not accepts(alice, bob)
    (second,) = leasing.lease_tasks(bob)
    assert results.post_result(bob, factories.result_envelope(second.task, content=content)).size == result.size


@pytest.mark.django_db(transaction=True)
def test_a_result_from_the_cache_counts_like_a_posted_one(alice, bob, monkeypatch):
    monkeypatch.setattr(quotas, "GROWN_AT_ONCE", 1)
    same = factories.idempotent()
    lease = factories.leased_task(alice, bob, idempotency=same)
    result = results.post_result(bob, factories.result_envelope(lease.task))

    again = factories.sent_task(alice, bob, idempotency=same)
    quotas.store_grown()

    again.refresh_from_db()
    assert again.size == SIZE + result.size
    assert SenderStock.objects.get().size == 2 * (SIZE + result.size)


@pytest.mark.django_db(transaction=True)
def test_the_bytes_of_small_results_wait_for_more(alice, bob):
    result = factories.resolved_task(alice, bob)

    quotas.store_grown()

    assert SenderStock.objects.get().size == SIZE < result.task.size


@pytest.mark.django_db(transaction=True)
def test_bytes_that_the_database_did_not_take_are_stored_later(alice, bob, monkeypatch):
    monkeypatch.setattr(quotas, "GROWN_AT_ONCE", 1)
    task = factories.resolved_task(alice, bob).task

    with monkeypatch.context() as patch:
        patch.setattr(quotas, "grow", Mock(side_effect=OperationalError))
        with pytest.raises(OperationalError):
            quotas.store_grown()
    quotas.store_grown()

    assert SenderStock.objects.get().size == task.size


def post(lease, text, *, by, attempt_id=None):
    update = Update(message=[{"type": "text", "text": text}])
    updates.post_updates(by, lease.task.uuid, [update], attempt_id=attempt_id)


def test_updates_count_for_the_bytes_of_their_task_s_sender(alice, bob):
    lease = factories.leased_task(alice, bob)
    attempt = uuid4()
    for _ in range(3):
        post(lease, "half", by=bob, attempt_id=attempt)  # the second and third repeat the first

    lease.task.refresh_from_db()
    assert SenderStock.objects.get().size == lease.task.size == SIZE + len('[{"type":"text","text":"half"}]')


def test_a_compacted_task_gives_the_bytes_of_its_updates_back(alice, bob):
    lease = factories.leased_task(alice, bob)
    post(lease, "half", by=bob)
    results.post_result(bob, factories.result_envelope(lease.task))
    results.drain_results(alice)
    results.ack_results(alice, [lease.task.uuid])

    compaction.compact(Caller.local(), Retention(acked=timedelta(0)))

    assert SenderStock.objects.get().size == 0


def test_the_bytes_of_the_updates_of_one_task_are_bounded(alice, bob, settings):
    settings.A2A_TASK_MAX_BYTES = 100
    lease = factories.leased_task(alice, bob)
    for _ in range(2):
        post(lease, "x" * 20, by=bob)

    with pytest.raises(TaskTooLargeError, match="at most 100 bytes"):
        post(lease, "x" * 20, by=bob)
    assert Message.objects.count() == 2


def test_the_rows_of_one_task_are_bounded(alice, bob, monkeypatch):
    monkeypatch.setattr(task_limits, "MOST_ROWS", 4)
    lease = factories.leased_task(alice, bob)  # which has two numbers in the journal
    for _ in range(2):
        post(lease, "x", by=bob)

    with pytest.raises(InvalidRequestError, match="at most 4 journal rows"):
        post(lease, "x", by=bob)
    assert Message.objects.count() == 2

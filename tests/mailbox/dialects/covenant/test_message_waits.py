"""Waits for messages over HTTP, while the time of their task runs out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from mailbox.database.bell.waiters import Waiter
from mailbox.models import Task
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db(transaction=True)

SOON = timedelta(milliseconds=700)


def deadline_ms():
    """Return a deadline shortly after the wait for its task has begun."""
    return epoch_ms(timezone.now() + SOON)


@pytest.fixture
def rings(monkeypatch):
    """Return a list with one value for each wait for a ring: whether a ring came in time."""
    wait, heard = Waiter.wait, []

    def listen(waiter, seconds):
        heard.append(wait(waiter, seconds))
        return heard[-1]

    monkeypatch.setattr(Waiter, "wait", listen)
    return heard


@pytest.mark.parametrize(
    "make",
    [
        lambda alice, bob: factories.sent_task(alice, bob, deadline_ms=deadline_ms()),
        lambda alice, bob: factories.interrupted_task(alice, bob, deadline_ms=deadline_ms()),
        lambda alice, bob: factories.leased_task(alice, bob, work_timeout=SOON).task,
    ],
    ids=["queued", "interrupted", "leased"],
)
def test_a_wait_ends_at_the_deadline_or_work_timeout(alice, bob, make, rings):
    task = make(alice, bob)
    last = Task.objects.get(pk=task.pk).journal_seq

    read = Api(alice).get(f"/a2a/tasks/{task.uuid}/messages", after=last, wait_ms=10_000).json()

    assert (read["state"], read["messages"], False in rings) == ("resolved", [], False)
    assert Task.objects.get(pk=task.pk).outcome == "expired"

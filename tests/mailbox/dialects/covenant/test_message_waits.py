"""Waits for messages over HTTP, while the time of their task runs out."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.database.bell import ringing
from mailbox.database.bell.waiters import Waiter
from mailbox.database.bell.watch import Watch
from mailbox.models import Task
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.api import Api
from tests.support.chance import MOMENT

pytestmark = pytest.mark.django_db

PAUSE = timedelta(milliseconds=250)
SOON = 3 * PAUSE


def deadline_ms():
    """Return a deadline shortly after the wait for its task has begun."""
    return epoch_ms(timezone.now() + SOON)


@pytest.fixture
def rings(monkeypatch):
    """Let each pause of a wait take a part of the set time, and the watch look at its end.

    Return a list with one value for each pause: whether the watch rang.
    """
    monkeypatch.setattr(ringing, "begin", lambda: None)
    monkeypatch.setattr("mailbox.database.bell.watch._checks", [])
    wait, heard = Waiter.wait, []
    with time_machine.travel(MOMENT, tick=False) as clock:
        the_watch = Watch()

        def pause(waiter, _):
            clock.shift(PAUSE)
            waiter.look(lambda: None)  # forgets a ring of another thread, such as that of a listener that came back
            the_watch.look()
            heard.append(waiter.is_rung)
            return wait(waiter, 0) or timezone.now() < MOMENT + SOON

        monkeypatch.setattr(Waiter, "wait", pause)
        yield heard


@pytest.mark.parametrize(
    "make",
    [
        lambda alice, bob: factories.sent_task(alice, bob, deadline_ms=deadline_ms()),
        lambda alice, bob: factories.interrupted_task(alice, bob, deadline_ms=deadline_ms()),
        lambda alice, bob: factories.leased_task(alice, bob, work_timeout=SOON).task,
    ],
    ids=["queued", "interrupted", "leased"],
)
def test_a_wait_ends_at_the_deadline_or_work_timeout(alice, bob, rings, make):
    task = make(alice, bob)
    last = Task.objects.get(pk=task.pk).journal_seq

    read = Api(alice).get(f"/a2a/tasks/{task.uuid}/messages", after=last, wait_ms=10_000).json()

    assert (read["state"], read["messages"]) == ("resolved", [])
    assert rings == [True, False, True]  # the watch sees the task for the first time, as before, and out of time
    assert Task.objects.get(pk=task.pk).outcome == "expired"

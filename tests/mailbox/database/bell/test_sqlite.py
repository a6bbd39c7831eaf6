"""On SQLite each process follows the journal while it has waiters."""

import contextlib
import sys
import threading
from uuid import uuid4

import pytest
from django.db import connection  # noqa: F401 (the condition of the mark names it)

from mailbox.access import audit
from mailbox.database.bell import ringing, sqlite, topics, waiters
from mailbox.database.bell.sqlite import Follower
from mailbox.journal import access_entries, task_entries
from mailbox.life import leasing, results
from tests.support import factories
from tests.support.pauses import Clock, until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL has notifications"),
]


class EndingFollower(Follower):
    """A follower whose thread can end."""

    is_over = False

    def run(self):
        with contextlib.suppress(SystemExit):
            super().run()

    def _follow(self, own):
        if self.is_over:
            sys.exit()
        super()._follow(own)


@pytest.fixture
def follow(monkeypatch):
    """Return a function that waits for topics while a thread follows the journal. Rings of this process do nothing."""
    monkeypatch.setattr(ringing, "ring", lambda _: None)
    monkeypatch.setattr(sqlite, "time", Clock())
    follower = EndingFollower()
    waiting, threads = [], []

    def begin(*named):
        waiting.append(waiters.waiting(named))
        waiter = waiting[-1].__enter__()
        threads.append(threading.Thread(target=follower.run, daemon=True))
        threads[-1].start()
        until(waiters.is_hearing)
        waiter.look(lambda: None)
        return waiter

    yield begin
    follower.is_over = True
    for one in waiting:
        one.__exit__(None, None, None)
    until(lambda: not waiters.is_hearing())
    with waiters.waiting([]):
        for thread in threads:
            thread.join()


def test_a_task_wakes_its_recipient_and_its_result_the_sender(alice, bob, follow):
    recipient = follow(topics.agent(bob.agent.pk))
    with waiters.waiting([topics.sender(alice.agent.pk)]) as sender:
        task = factories.sent_task(alice, bob)
        assert recipient.wait(None)
        assert not sender.is_rung

        leasing.lease_tasks(bob)
        with waiters.waiting([topics.task(task.uuid)]) as reader:
            results.post_result(bob, factories.result_envelope(task))
            assert sender.wait(None)
            assert reader.wait(None)


def test_a_row_without_a_task_rings_what_its_kind_rings(alice, follow):
    waiter = follow(topics.CALLBACKS)
    audit.note(alice, task_entries.PushResentEntry(uuid4(), "x", task_id=uuid4()))

    assert waiter.wait(None)


def test_more_rows_than_one_statement_reads_are_all_read(alice, bob, follow, monkeypatch):
    monkeypatch.setattr(sqlite, "MOST_ROWS", 1)
    monkeypatch.setattr(sqlite, "NEW_ROWS", sqlite.NEW_ROWS.replace("LIMIT 1000", "LIMIT 1"))
    waiter = follow(topics.agent(bob.agent.pk))
    with audit.decision(alice) as journal:
        for number in range(5):
            journal.beside(access_entries.AuthenticationFailedEntry(str(number), 1))
    factories.sent_task(alice, bob)

    assert waiter.wait(None)

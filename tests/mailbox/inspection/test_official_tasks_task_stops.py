"""The stop of a task: one look for all requests of a process that wait."""

import threading

import pytest
from django.db import OperationalError

from mailbox.inspection import official_tasks, task_events
from mailbox.life import results
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_task_that_stops_is_brought_up_to_date_with_its_result(alice, bob):
    task = factories.leased_task(alice, bob).task
    woken = threading.Event()
    with official_tasks.awaiting(task, woken.set) as awaited:
        assert awaited.read() is None
        results.post_result(bob, factories.result_envelope(task))
        assert woken.wait()
        stop = awaited.read()

    assert stop is not None
    assert task_events.view_of(stop.of(task)) == task_events.view_of(official_tasks.now(task))


def test_one_statement_reads_all_stops_and_leaves_out_other_tasks(alice, bob, django_assert_num_queries):
    ended, running = [factories.leased_task(alice, bob).task for _ in range(2)]
    results.post_result(bob, factories.result_envelope(ended))

    with django_assert_num_queries(1):
        found = official_tasks._stopped([ended.uuid, running.uuid])

    assert list(found) == [ended.uuid]


def test_a_failed_look_is_reported_to_the_request_that_waits(alice, bob, monkeypatch):
    def fail(ids):
        raise OperationalError("gone")

    monkeypatch.setattr(official_tasks._look, "_look", fail)
    woken = threading.Event()
    with official_tasks.awaiting(factories.leased_task(alice, bob).task, woken.set) as awaited:
        assert woken.wait()
        with pytest.raises(OperationalError):
            awaited.read()

"""Repeated sends and results under real threads, against the compaction of their task."""

from functools import partial

import pytest
from django.db import connection  # noqa: F401 (a condition reads it)

from mailbox.access.callers import Role
from mailbox.life import leasing, push_configs, results, sending
from mailbox.models import Task
from mailbox.upkeep import compaction
from tests.support import factories
from tests.support.compacting import EVERY_FIELD, EVERYTHING, compact, named
from tests.support.races import ROUNDS, race

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _anywhere(monkeypatch):
    monkeypatch.setattr(push_configs, "judge", lambda url: None)


@pytest.mark.parametrize("_round", ROUNDS)
def test_repeated_sends_and_results_against_a_compaction(alice, bob, _round):
    ada = factories.person("ada", Role.ADMIN)
    envelope = named(bob, **EVERY_FIELD)
    task = sending.send_task(alice, envelope)
    leasing.lease_tasks(bob)
    answer = factories.result_envelope(task)
    results.post_result(bob, answer)
    results.ack_results(alice, [task.uuid])

    def repeatedly(act, times=5):
        return [act() for _ in range(times)]

    def compact_the_task():
        while not compaction.compact(ada, EVERYTHING):  # it skips a task that a result has locked
            pass

    _, *repeats = race(
        compact_the_task,
        *[partial(repeatedly, partial(sending.send_task, alice, envelope))] * 3,
        *[partial(repeatedly, partial(results.post_result, bob, answer))] * 2,
    )

    assert [repeat.refusal for repeat in repeats] == [None] * 5
    assert {sent.outcome for repeat in repeats[:3] for sent in repeat.value} == {"ok"}
    assert all(posted.blocks == factories.SOME_TEXT for repeat in repeats[3:] for posted in repeat.value)
    assert not Task.objects.exists()


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite locks the whole database")
def test_a_send_reads_the_journal_after_the_row(alice, bob, monkeypatch):
    """The compaction commits after the send read the task's row, and before it reads the task's callback."""
    envelope = named(bob, **EVERY_FIELD)
    task = sending.send_task(alice, envelope)
    sending.cancel(alice, task.uuid)
    results.ack_results(alice, [task.uuid])
    asked_again = push_configs.has_same_callback
    done: list[object] = []

    def compact_first(earlier, repeat):
        if not done:
            done.append(race(compact))
        return asked_again(earlier, repeat)

    monkeypatch.setattr(push_configs, "has_same_callback", compact_first)

    assert sending.send_task(alice, envelope).outcome == "cancelled"

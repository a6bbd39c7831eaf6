"""Cached event logs: within their bounds, and read again where what was cached is no longer so."""

import time

import pytest

from mailbox.access.callers import Caller
from mailbox.inspection import event_log
from mailbox.inspection.event_log import EventLogCache
from mailbox.life import results
from mailbox.models import Task
from mailbox.upkeep import erasure
from tests.support import factories, talking

pytestmark = pytest.mark.django_db


def now(task):
    return Task.objects.get(pk=task.pk)


def sent(alice, bob, count):
    return [factories.leased_task(alice, bob).task for _ in range(count)]


def is_kept(kept, task):
    """Whether the life that is returned is the one of before. It is the one used last then."""
    before = kept.of(now(task))
    return kept.of(now(task)) is before


def test_a_life_is_kept_and_grows(alice, bob):
    (task,), kept = sent(alice, bob, 1), EventLogCache()
    life = kept.of(now(task))
    talking.told(bob, task, "reading")

    assert kept.of(now(task)) is life
    assert [event.position.seq for event in life.events] == [1, 2, 3]


def test_nothing_is_read_for_a_task_that_did_not_move(alice, bob, django_assert_num_queries):
    (task,), kept = sent(alice, bob, 1), EventLogCache()
    task = now(task)
    kept.of(task)

    with django_assert_num_queries(0):
        kept.of(task)


def test_the_lives_used_longest_ago_make_room(alice, bob, monkeypatch):
    tasks, kept = sent(alice, bob, 3), EventLogCache()
    monkeypatch.setattr(event_log, "MOST_BYTES", sum(now(task).size + 3 * 1024 for task in tasks[:2]))
    first, second, _ = found = [kept.of(now(task)) for task in tasks[:2]] + [kept.of(now(tasks[0]))]
    assert found[2] is first

    kept.of(now(tasks[2]))

    assert kept.of(now(tasks[0])) is first
    assert kept.of(now(tasks[1])) is not second


def test_a_life_above_the_bound_is_kept_while_it_is_the_last(alice, bob, monkeypatch):
    monkeypatch.setattr(event_log, "MOST_BYTES", 1)
    tasks, kept = sent(alice, bob, 2), EventLogCache()

    assert is_kept(kept, tasks[0])
    first = kept.of(now(tasks[0]))
    assert is_kept(kept, tasks[1])
    assert kept.of(now(tasks[0])) is not first


def test_a_life_that_rested_too_long_is_dropped(alice, bob, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    tasks, kept = sent(alice, bob, 2), EventLogCache()
    life, other = (kept.of(now(task)) for task in tasks)
    clock[0] += event_log.LONGEST_REST
    assert kept.of(now(tasks[0])) is life
    clock[0] += 1

    assert kept.of(now(tasks[0])) is life
    assert kept.of(now(tasks[1])) is not other


def test_an_erased_task_is_read_again(alice, bob):
    (task,), kept = sent(alice, bob, 1), EventLogCache()
    talking.told(bob, task, "a secret")
    results.post_result(bob, factories.result_envelope(task, content=()))
    assert "a secret" in str(kept.of(now(task)).events)

    erasure.erase_task(Caller.command_line(), task.uuid, reason="asked for")

    assert "a secret" not in str(kept.of(now(task)).events)

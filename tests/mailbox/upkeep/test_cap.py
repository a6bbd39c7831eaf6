"""The cap drops tasks of one sender and one dialect, and only those whose result has reached the sender."""

from datetime import UTC, datetime

import pytest
import time_machine

from mailbox.access.callers import Caller, Role
from mailbox.life import results
from mailbox.models import Task
from mailbox.upkeep import compaction
from tests.support import factories
from tests.support.compacting import acked_task, answered_task

pytestmark = pytest.mark.django_db

NOW = datetime(2035, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def clock():
    with time_machine.travel(NOW, tick=False) as coordinates:
        yield coordinates


@pytest.fixture
def ada() -> Caller:
    return factories.person("ada", Role.ADMIN)


def test_a_sender_under_its_cap_loses_no_task(alice, bob, ada):
    for _ in range(3):
        acked_task(alice, bob, dialect="corvid")

    assert compaction.cap_sent(ada, dialect="corvid", cap=3) == 0
    assert compaction.cap_sent(alice, dialect="corvid", cap=3, sender=alice.agent) == 0
    assert Task.objects.count() == 3


@pytest.mark.parametrize("names_its_sender", [True, False])
def test_a_sender_over_its_cap_loses_its_oldest_tasks_with_a_result_that_reached_it(alice, bob, ada, names_its_sender):
    kept = [factories.leased_task(alice, bob, dialect="corvid").task]
    for _ in range(2):
        acked_task(alice, bob, dialect="corvid")
    drained = answered_task(alice, bob, dialect="corvid")
    results.drain_results(alice)
    kept += [acked_task(alice, bob), answered_task(alice, bob, dialect="corvid")]

    sender = alice.agent if names_its_sender else None
    dropped = compaction.cap_sent(ada, dialect="corvid", cap=4, cycle=2, sender=sender)

    assert dropped == 2
    assert set(Task.objects.all()) == {*kept, drained}
    assert [row.fields["reason"] for row in factories.journal("a2a_tasks_compacted")] == ["cap"] * 2
    assert compaction.cap_sent(ada, dialect="corvid", cap=0, sender=sender) == 1


def test_a_sender_at_its_cap_loses_no_task(alice, bob, ada):
    for _ in range(2):
        acked_task(alice, bob, dialect="corvid")

    assert compaction.cap_sent(ada, dialect="corvid", cap=2) == 0
    assert compaction.cap_sent(ada, dialect="corvid", cap=1, cycle=1) == 1


@pytest.mark.parametrize("names_its_sender", [True, False])
def test_the_cap_never_drops_a_task_whose_result_has_not_reached_its_sender(alice, bob, ada, names_its_sender):
    factories.leased_task(alice, bob, dialect="corvid")
    answered_task(alice, bob, dialect="corvid")
    factories.sent_task(alice, bob, dialect="corvid")

    sender = alice.agent if names_its_sender else None
    assert compaction.cap_sent(ada, dialect="corvid", cap=0, sender=sender) == 0
    assert Task.objects.count() == 3


def test_the_cap_counts_and_drops_each_senders_tasks_alone(alice, bob, ada):
    factories.grant(bob, "a2a.send.*")
    factories.grant(alice, "a2a.respond.*")
    for _ in range(3):
        acked_task(alice, bob, dialect="corvid")
    kept = [acked_task(bob, alice, dialect="corvid") for _ in range(2)]

    assert compaction.cap_sent(bob, dialect="corvid", cap=2, sender=bob.agent) == 0
    assert compaction.cap_sent(ada, dialect="corvid", cap=2) == 3
    assert set(Task.objects.all()) == set(kept)


def test_a_result_shown_by_a_poll_may_be_dropped_by_the_cap_but_stays_pending(alice, bob, ada):
    result = answered_task(alice, bob, dialect="corvid").result

    results.mark_shown(bob, result)
    not_by_the_recipient = compaction.cap_sent(ada, dialect="corvid", cap=0)
    results.mark_shown(alice, result)
    result.refresh_from_db()

    assert (not_by_the_recipient, result.delivery, result.shown_at) == (0, "pending", NOW)
    assert compaction.cap_sent(ada, dialect="corvid", cap=0) == 1

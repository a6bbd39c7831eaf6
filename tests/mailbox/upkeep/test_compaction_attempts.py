"""Compaction keeps the ids of receive attempts for a while after they were spent."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine

from mailbox.access.callers import Caller, Role
from mailbox.life import leasing, results
from mailbox.models import Result
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from tests.support import factories

pytestmark = pytest.mark.django_db

NOW, DAY = datetime(2035, 1, 1, tzinfo=UTC), timedelta(days=1)
SPENT, MOMENT = compaction.SPENT_IDS_KEPT, timedelta(microseconds=1)


@pytest.fixture(autouse=True)
def clock():
    with time_machine.travel(NOW, tick=False) as coordinates:
        yield coordinates


@pytest.fixture
def ada() -> Caller:
    return factories.person("ada", Role.ADMIN)


CLEANERS: dict[str, Callable[[Caller], int]] = {
    "compact": lambda ada: compaction.compact(ada, Retention(acked=timedelta(0), delivered=timedelta(0))),
    "cap_sent": lambda ada: compaction.cap_sent(ada, dialect="corvid", cap=0),
    "clear": lambda ada: compaction.clear(ada, dialect="corvid"),
}


@pytest.mark.parametrize("drop", CLEANERS.values(), ids=CLEANERS)
@pytest.mark.parametrize("is_acked", [True, False])
@pytest.mark.parametrize("of", ["lease", "result"])
def test_a_spent_attempt_id_outlives_compaction(alice, bob, ada, clock, drop, is_acked, of):
    lease_attempt, attempt = (uuid4(), None) if of == "lease" else (None, uuid4())
    task = factories.sent_task(alice, bob, dialect="corvid")
    leasing.lease_tasks(bob, attempt_id=lease_attempt)
    results.post_result(bob, factories.result_envelope(task))
    if of == "result":
        clock.shift(DAY)
    results.drain_results(alice, attempt_id=attempt)
    if is_acked:
        clock.shift(SPENT - MOMENT)
        results.ack_results(alice, [task.uuid])
    if is_acked and of == "lease":
        clock.shift(-SPENT + MOMENT)

    clock.shift(SPENT - MOMENT)
    assert drop(ada) == 0
    clock.shift(MOMENT)
    assert drop(ada) == 1


def test_attempts_spent_lately_do_not_hold_up_other_work(alice, bob, ada, monkeypatch):
    monkeypatch.setattr(compaction, "BATCH", 2)
    for attempt in (uuid4(), uuid4(), None, uuid4(), None):
        task = factories.resolved_task(alice, bob).task
        results.drain_results(alice, attempt_id=attempt)
        results.ack_results(alice, [task.uuid])

    assert compaction.compact(ada, factories.AT_ONCE) == 2
    assert Result.objects.filter(receive_attempt_id__isnull=False).count() == 3

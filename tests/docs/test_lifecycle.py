from datetime import timedelta

import pytest

from mailbox.life.outbox import BACK_OFF
from mailbox.models import Lease, Result, Task
from tests.support import pages

pytestmark = pytest.mark.one_database

PAGE = " ".join(pages.page("docs/concepts/lifecycle.md").split())
WEBHOOKS = " ".join(pages.page("docs/guides/webhooks.md").split())
SPELLED = {
    timedelta(seconds=1): "1 s",
    timedelta(seconds=5): "5 s",
    timedelta(seconds=30): "30 s",
    timedelta(minutes=5): "5 minutes",
    timedelta(hours=1): "1 hour",
}


def test_the_states_of_a_task_and_of_its_result_are_described() -> None:
    states = [*Task.State.values, *Result.Delivery.values]

    assert [state for state in states if f"**{state}**" not in PAGE] == []


def test_every_outcome_and_every_way_back_to_the_queue_is_in_the_picture() -> None:
    picture = PAGE.partition("```text")[2].partition("```")[0]
    ways = [*Task.Outcome.values, Lease.End.REQUEUE, Lease.End.RELEASE, Lease.End.FORCE_ERROR, Lease.End.CANCEL]

    assert [way for way in ways if way not in picture] == []


def test_the_pauses_between_callback_attempts_are_described() -> None:
    *first, last = [SPELLED[pause] for pause in BACK_OFF]

    assert f"after {', '.join(first)} and {last}" in WEBHOOKS

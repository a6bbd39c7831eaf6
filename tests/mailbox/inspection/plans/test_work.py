"""The lists of needed attention and the charts are read by index, also on a large hub."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from mailbox.inspection.statistics import history, standing
from mailbox.inspection.statistics.history import Span
from mailbox.upkeep import rollups
from tests.support.queries import assert_no_walk, assert_uses, plan_of

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def test_late_queues_are_found_by_index(at):
    assert_uses(standing.late_queues(at.now), "task_lease_order", "mailbox_task")


def test_callbacks_that_keep_failing_are_found_by_index(at):
    pending, telling = standing.failing_callbacks(standing.failing_before(at.now))

    assert re.search("push_due|push_by_state", plan_of(pending))
    assert "push_telling" in plan_of(telling)


def test_error_spikes_are_found_by_roll_ups_in_one_query(at):
    with CaptureQueriesContext(connection) as made:
        standing.error_shares(at.now)

    assert len(made) == 1
    assert_no_walk(made)


@pytest.mark.parametrize("party", [None, 1])
@pytest.mark.parametrize("hours", [1, 84 * 2])
def test_a_history_and_its_marks_walk_through_no_table(at, party, hours):
    span = Span(start=at.now - hours * HOUR, step=hours * HOUR / 60, slots=60)

    with CaptureQueriesContext(connection) as made:
        history.read(span, party)
        history.marks(span.start, at.now)

    assert_no_walk(made)


def test_the_measurement_of_a_minute_walks_through_no_table(at):
    with CaptureQueriesContext(connection) as made:
        assert rollups.measure(at.now) > 1

    assert_no_walk([one for one in made if one["sql"].startswith("SELECT")])

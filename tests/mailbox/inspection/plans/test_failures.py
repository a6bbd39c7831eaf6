"""Failures and pairs are read by index: nothing reads a whole table."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from mailbox.inspection.statistics import agents, failures
from mailbox.models import Agent
from mailbox.upkeep import rollups
from tests.support.queries import assert_no_walk

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


def test_a_range_of_failures_is_grouped_without_a_walk_through_a_large_table(at):
    with CaptureQueriesContext(connection) as made:
        found = failures.read(at.now - timedelta(days=1), slot=60 * MINUTE, agent=Agent.objects.last())

    assert not found.is_behind
    assert_no_walk(made)


@pytest.mark.parametrize("is_counted", [False, True])
def test_pairs_are_read_without_a_walk_through_a_large_table(at, is_counted):
    if is_counted:
        rollups.count_pairs(at.now)

    with CaptureQueriesContext(connection) as made:
        found = agents.read_pairs((at.now - timedelta(days=1)).replace(minute=0, second=0, microsecond=0), span=60)

    assert len(found.pairs) >= 100
    assert_no_walk(made)

"""The order of agents, the dealings of one agent and the texts to compare are read by index, also on a large hub."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from mailbox.inspection import journal, tasks
from mailbox.inspection.statistics import agents
from mailbox.inspection.statistics.agents import Trouble
from mailbox.inspection.statistics.backlogs import Limits
from mailbox.models import Agent, Task
from tests.support.queries import assert_no_walk, explained

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)

WHOLE = r"SCAN mailbox_(task|lease|result|auditevent|rollup)\b"  # also of an index


@pytest.fixture
def trouble(at):
    early = at.now - 5 * MINUTE
    return Trouble(now=at.now, limits=Limits(early, early, early))


@pytest.fixture
def rare(at):
    return Agent.objects.get(display="rare@local")


@pytest.mark.parametrize("by", ["-trouble", "queued", "-leased", "errors", "-called"])
def test_agents_are_ordered_by_numbers_that_an_index_has(trouble, by):
    with CaptureQueriesContext(connection) as made:
        found = agents.sorted_keys(Agent.objects.all(), by, trouble)

    assert found is not None
    assert len(found) == Agent.objects.count()
    assert_by_index(made)


def test_of_too_many_agents_none_is_measured(trouble, monkeypatch):
    monkeypatch.setattr(agents, "SORTED_TO", 3)

    with CaptureQueriesContext(connection) as made:
        assert agents.sorted_keys(Agent.objects.all(), "-trouble", trouble) is None

    assert len(made) == 1
    assert not re.search("mailbox_(task|lease|rollup)", made[0]["sql"])


def test_the_dealings_of_an_agent_are_read_by_index(rare):
    with CaptureQueriesContext(connection) as made:
        assert agents.counterparts(rare, most=5)
        assert agents.last_leased_at(rare)
        agents.next_queued(rare, most=5)

    assert_by_index(made)


def test_the_texts_to_compare_are_chosen_by_index_and_without_contents(at):
    task, other = Task.objects.filter(idempotency_key__isnull=False)[:2]

    with CaptureQueriesContext(connection) as made:
        tasks.whole_task(task.uuid)
        journal.copied_from(task.uuid)
        found = tasks.results_of_alike(task, most=10, original=str(other.uuid))

    assert found
    assert {"content", "error_message"} <= found[0].get_deferred_fields()
    assert_by_index(made)


def assert_by_index(made):
    assert_no_walk(made)
    for query in made:
        plan = explained(query["sql"])
        assert not re.search(rf"Seq Scan on mailbox_rollup|{WHOLE}", plan), plan

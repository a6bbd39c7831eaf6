from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from mailbox.access.agents import registration
from mailbox.inspection.statistics import backlogs
from mailbox.models import Agent, ApiKey, SigningKey
from tests.support import factories
from tests.support.signing import Signer

pytestmark = pytest.mark.django_db


def names(agents):
    return [agent.display for agent in agents]


def test_the_agent_with_most_work_is_listed_first(alice, bob):
    carol = factories.agent("carol")
    oldest = factories.sent_task(alice, carol)
    factories.sent_task(alice, carol)
    factories.leased_task(alice, bob)

    agents: Any = backlogs.busiest_first(backlogs.with_oldest(backlogs.with_backlog(Agent.objects.all())))

    assert [(agent.display, agent.queued, agent.leased, agent.waits_since) for agent in agents] == [
        ("carol@local", 2, 0, oldest.queued_at),
        ("bob@local", 0, 1, None),
        ("alice@local", 0, 0, None),
    ]


def test_a_backlog_is_counted_no_further_than_its_limit(alice, bob):
    for _ in range(3):
        factories.sent_task(alice, bob)

    agent: Any = backlogs.with_backlog(Agent.objects.filter(display="bob@local"), most=1).get()

    assert agent.queued == 2


def test_an_agent_with_a_key_and_work_is_quiet_until_it_calls(alice, bob):
    now = timezone.now()
    factories.key_of(bob, created_at=now - timedelta(hours=1))
    factories.sent_task(alice, bob)

    assert names(backlogs.quiet(now - backlogs.QUIET_AFTER)) == ["bob@local"]
    assert names(backlogs.quiet(now - timedelta(hours=2))) == [], "its key is younger"

    ApiKey.objects.filter(agent=bob.agent).update(last_used_at=now)
    assert names(backlogs.quiet(now - backlogs.QUIET_AFTER)) == []


def test_an_agent_that_signs_its_requests_is_not_quiet(alice, bob):
    now = timezone.now()
    factories.key_of(bob, created_at=now - timedelta(hours=1))
    factories.sent_task(alice, bob)
    Signer(bob)
    SigningKey.objects.update(last_used_at=now)

    assert names(backlogs.quiet(now - backlogs.QUIET_AFTER)) == []
    row = backlogs.with_signs(Agent.objects.filter(pk=bob.agent.pk), now).get()
    assert row.last_called_at() == SigningKey.objects.get().last_used_at


def test_a_paused_agent_has_work_while_tasks_are_queued(alice, bob, olga):
    registration.pause_agent(olga, bob.agent, reason="maintenance")
    assert names(backlogs.paused_with_work()) == []

    factories.sent_task(alice, bob)

    assert names(backlogs.paused_with_work()) == ["bob@local"]


def test_the_oldest_waiting_task_and_result_are_one_value_each(alice, bob):
    assert [*backlogs.oldest_waiting(), *backlogs.oldest_owed()] == [{"since": None}, {"since": None}]

    result = factories.resolved_task(alice, bob)
    task = factories.sent_task(alice, factories.agent("carol"))
    factories.sent_task(alice, bob)

    assert backlogs.oldest_waiting().get() == {"since": task.queued_at}
    assert backlogs.oldest_owed().get() == {"since": result.posted_at}

"""Decisions and health checks about late queues, error spikes and callbacks that keep failing."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from mailbox.inspection.health import report
from mailbox.inspection.health.checks import HealthStatus
from mailbox.models import PushDelivery, Task
from mailbox.upkeep import rollups
from mailbox.words.envelopes import ResultStatus
from tests.dashboard.overview.test_decisions import called, decisions
from tests.support import factories

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def clock():
    with time_machine.travel(timezone.now().replace(second=30), tick=False) as coordinates:
        yield coordinates


def check(name):
    (found,) = [one for one in report.look(timezone.now()).checks if one.name == name]
    return found.word, found.saw


def queued(alice, agent, *, ago):
    task = factories.sent_task(alice, agent)
    Task.objects.filter(pk=task.pk).update(queued_at=timezone.now() - ago)
    return task


def failed(alice, bob, times=1, *, well=0):
    for _ in range(times):
        factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message="no", content=[])
    for _ in range(well):
        factories.resolved_task(alice, bob)


def worker(name):
    agent = factories.agent(name)
    factories.grant(agent, "a2a.respond.*")
    return agent


def test_an_agent_that_calls_and_leaves_its_queue_needs_a_decision(ana, alice, bob):
    called(bob, ago=0 * MINUTE)
    queued(alice, bob, ago=14 * MINUTE)
    assert decisions(ana) == []
    assert check("Agents' queues") == (HealthStatus.OK, "no task queued for over 15 m")

    queued(alice, bob, ago=91 * MINUTE)

    text = "not picking up tasks: oldest queued 1 h 31 min · 2 queued"
    assert decisions(ana) == [("bob@local", text, "/ops/agents/bob@local/")]
    assert [row.agent.display for row in ana.get("/ops/agents/?state=unserved").context["rows"]] == ["bob@local"]
    page = ana.get("/ops/")
    assert 'class="s warn"' in page.text
    assert "Backlogged" in page.text
    assert check("Agents' queues") == (HealthStatus.DEGRADED, "task queued for over 15 m: bob@local")


def test_an_agent_that_works_and_is_late_falls_behind(ana, alice, bob, clock):
    factories.leased_task(alice, bob)
    rollups.roll(timezone.now() + 3 * MINUTE)
    queued(alice, bob, ago=20 * MINUTE)

    ((_, text, _),) = decisions(ana)

    assert text == "falling behind: oldest queued 20 min · 1 queued, 1 leased"


def test_a_late_queue_of_a_quiet_agent_is_one_decision(ana, alice, bob):
    called(bob, ago=30 * MINUTE)
    queued(alice, bob, ago=30 * MINUTE)

    assert [text for _, text, _ in decisions(ana)] == ["no contact for 30 min · 1 queued"]


def test_late_queues_after_the_third_are_linked(ana, alice):
    for number in range(5):
        queued(alice, factories.agent(f"worker{number}"), ago=30 * MINUTE)

    assert decisions(ana)[3:] == [("2 more agents", "with a backlog", "/ops/agents/?state=unserved")]


@pytest.mark.parametrize("rolled", [False, True])
def test_an_agent_with_many_errors_needs_a_decision(ana, alice, bob, clock, rolled):
    failed(alice, bob, 4, well=4)
    assert decisions(ana) == [], "4 errors are too few"
    assert check("Errors") == (HealthStatus.OK, "no error spike")
    failed(alice, bob)
    if rolled:
        clock.shift(4 * MINUTE)
        rollups.roll()

    ((subject, text, url),) = decisions(ana)

    assert (subject, text) == ("bob@local", "56 % errors in the last 15 min: 5 of 9 results")
    assert ana.get(url).context["count"] == 5
    assert check("Errors") == (HealthStatus.DEGRADED, "error spike: bob@local 56 %")


def test_few_errors_among_many_results_need_no_decision(ana, alice, bob, settings):
    failed(alice, bob, 5, well=16)
    assert decisions(ana) == []

    settings.A2A_ATTENTION_ERROR_SHARE = 23

    assert [subject for subject, *_ in decisions(ana)] == ["bob@local"]


def test_an_agent_without_any_success_in_an_hour_needs_a_decision(ana, alice, bob, clock):
    failed(alice, bob, 3)
    clock.shift(40 * MINUTE)

    ((subject, text, url),) = decisions(ana)

    assert (subject, text) == ("bob@local", "100 % errors in the last 1 h: 3 of 3 results")
    assert ana.get(url).context["count"] == 3
    failed(alice, bob, 0, well=1)
    assert decisions(ana) == []


def test_errors_spread_over_many_agents_are_a_decision_of_the_hub(ana, alice):
    for number in range(5):
        failed(alice, worker(f"worker{number}"), well=1)

    ((subject, text, _),) = decisions(ana)

    assert (subject, text) == ("Whole hub", "50 % errors in the last 15 min: 5 of 10 results")


def test_the_worst_agents_come_first_and_the_others_are_summed_up(ana, alice):
    for number in range(5):
        failed(alice, worker(f"worker{number}"), 5, well=number)

    found = [(subject, text) for subject, text, _ in decisions(ana)]

    assert [subject for subject, _ in found] == ["worker0@local", "worker1@local", "worker2@local", "2 more agents"]
    assert found[-1][1] == "with an error spike"


@pytest.mark.parametrize("state", PushDelivery.UNDER_WAY)
def test_a_callback_that_keeps_failing_needs_a_decision(ana, alice, bob, state):
    task = factories.sent_task(alice, bob)
    row = factories.PushDeliveryFactory.create(
        task_uuid=task.uuid, sender=alice.agent, state=state, attempts=4, created_at=timezone.now() - 4 * MINUTE
    )
    assert decisions(ana) == []
    assert check("Callback retries") == (HealthStatus.OK, "no callback failing")

    PushDelivery.objects.filter(pk=row.pk).update(created_at=timezone.now() - 6 * MINUTE)

    ((subject, text, url),) = decisions(ana)
    assert (subject, text) == ("1 callback", "failing for over 5 min, still retrying")
    assert [delivery.pk for delivery in ana.get(url).context["page"].items] == [row.pk]
    assert check("Callback retries") == (HealthStatus.DEGRADED, "1 failing for over 5 m")

    PushDelivery.objects.filter(pk=row.pk).update(forgiven=3)
    assert decisions(ana) == [], "it was sent again, and is tried for the first time"


def test_every_decision_is_shown(ana, alice, bob):
    for number in range(4):
        queued(alice, factories.agent(f"late{number}"), ago=30 * MINUTE)
        failed(alice, worker(f"wrong{number}"), 5)
    for state in ("disabled", "pending"):
        factories.PushDeliveryFactory.create(
            task_uuid=factories.sent_task(alice, bob).uuid,
            sender=alice.agent,
            state=state,
            attempts=5,
            created_at=timezone.now() - 60 * MINUTE,
        )

    page = ana.get("/ops/")

    found = page.context["findings"].decisions
    assert len(found) == 10
    assert all(one.url.replace("&", "&amp;") in page.text for one in found)

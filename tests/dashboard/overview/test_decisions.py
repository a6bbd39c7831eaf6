from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from dashboard.figures import thresholds
from dashboard.overview import views
from mailbox.access import audit
from mailbox.access.agents import registration
from mailbox.access.callers import Caller, Role
from mailbox.inspection.statistics import backlogs
from mailbox.models import ApiKey, AuditEvent, RollUp, rollup
from mailbox.upkeep import rollups
from mailbox.words.kinds import Entry, Kind
from tests.dashboard.test_leases import aged
from tests.support import factories

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _stopped_clock():
    """Stop the clock, so that a slow page shows the same ages as a fast page."""
    with time_machine.travel(timezone.now(), tick=False):
        yield


def decisions(ana):
    findings = ana.get("/ops/").context["findings"]
    return [(one.subject, one.text, one.url) for one in findings.decisions]


def called(caller, *, ago):
    """Give the agent a key that it last used ``ago`` before now. None means never."""
    factories.key_of(caller, created_at=timezone.now() - 10 * HOUR)
    ApiKey.objects.filter(agent=caller.agent).update(last_used_at=timezone.now() - ago if ago is not None else None)


class Scan(Entry, kind=Kind.AUTO_RETRY_SCAN):
    error: str | None


def scanned(error=None):
    caller = Caller(name="scheduler@hub", source=AuditEvent.Source.SCHEDULER)
    audit.note(caller, Scan(error))


@pytest.mark.parametrize(
    ("ago", "words"),
    [(38 * timedelta(minutes=1), "no contact for 38 min · 2 queued"), (None, "never connected · 2 queued")],
    ids=["38 minutes ago", "never"],
)
def test_a_quiet_agent_with_work_needs_a_decision(ana, alice, bob, ago, words):
    called(bob, ago=ago)
    assert decisions(ana) == [], "it has no work"

    factories.sent_task(alice, bob)
    factories.sent_task(alice, bob)

    assert decisions(ana) == [("bob@local", words, "/ops/agents/bob@local/")]
    assert [row.agent.display for row in ana.get("/ops/").context["rows"] if row.agent.is_quiet] == ["bob@local"]
    assert [row.agent.display for row in ana.get("/ops/agents/?state=quiet").context["rows"]] == ["bob@local"]


@pytest.mark.parametrize("ago", [timedelta(0), timedelta(minutes=4)], ids=["now", "4 minutes ago"])
def test_an_agent_that_calls_or_has_no_key_needs_no_decision(ana, alice, bob, ago):
    factories.sent_task(alice, bob)
    assert decisions(ana) == [], "it has no key: code in the hub's own process works for it"

    called(bob, ago=ago)

    assert decisions(ana) == []


def test_leased_tasks_of_a_quiet_agent_count_as_work(ana, alice, bob):
    factories.leased_task(alice, bob)
    called(bob, ago=HOUR)

    assert decisions(ana) == [("bob@local", "no contact for 1 h · 1 leased", "/ops/agents/bob@local/")]


def test_quiet_agents_after_the_third_are_summed_up(ana, alice):
    for number in range(5):
        agent = factories.agent(f"worker{number}")
        factories.sent_task(alice, agent)
        called(agent, ago=HOUR)

    assert [subject for subject, *_ in decisions(ana)][3:] == ["2 more agents"]
    assert ana.get("/ops/").context["findings"].count == 5
    assert backlogs.quiet(thresholds.limits(timezone.now()).quiet_before).count() == 5


@pytest.mark.parametrize(("busiest", "queries"), [(50, 17), (5, 18)])
def test_a_quiet_agent_is_listed_among_many_busier_agents(
    ana, alice, bob, monkeypatch, django_assert_max_num_queries, busiest, queries
):
    monkeypatch.setattr(views, "BUSIEST", busiest)
    paused = factories.agent("paused")
    for busy in (factories.agent(f"busy{number}") for number in range(12)):
        factories.sent_task(alice, busy)
        factories.sent_task(alice, busy)
    factories.leased_task(alice, bob)
    called(bob, ago=2 * HOUR)
    factories.sent_task(alice, paused)
    registration.pause_agent(factories.person("olga", Role.OPERATOR), factories.row_of(paused), reason="disk full")

    with django_assert_max_num_queries(queries):
        page = ana.get("/ops/")

    assert [one.subject for one in page.context["findings"].decisions] == ["bob@local", "paused@local"]
    assert not {"bob@local", "paused@local"} & {row.agent.display for row in page.context["rows"]}


def test_paused_agents_after_the_third_are_summed_up(ana, alice):
    olga = factories.person("olga", Role.OPERATOR)
    for number in range(5):
        agent = factories.agent(f"worker{number}")
        if number:
            factories.sent_task(alice, agent)
        registration.pause_agent(olga, factories.row_of(agent), reason="disk full")

    assert [subject for subject, *_ in decisions(ana)][3:] == ["1 more agent"]


def test_a_paused_agent_with_work_needs_a_decision(ana, alice, bob):
    olga = factories.person("olga", Role.OPERATOR)
    registration.pause_agent(olga, factories.row_of(bob), reason="disk full")
    assert decisions(ana) == []

    factories.sent_task(alice, bob)

    assert decisions(ana) == [("bob@local", "paused · 1 queued", "/ops/agents/bob@local/")]


def test_disabled_callbacks_need_a_decision_and_are_counted(ana, alice, bob):
    task = factories.sent_task(alice, bob)
    for state in ("disabled", "pending", "delivered", "disabled"):
        factories.PushDeliveryFactory.create(task_uuid=task.uuid, sender=alice.agent, state=state)

    ((subject, _, url),) = decisions(ana)

    assert subject == "2 callbacks"
    assert len(ana.get(url).context["page"].items) == 2


def test_a_scheduler_that_is_on_but_idle_or_failing_is_reported(ana, settings):
    assert decisions(ana) == [], "it is off"
    settings.A2A_AUTO_RETRY = {**settings.A2A_AUTO_RETRY, "SCHEDULER": "1"}
    assert [text for _, text, _ in decisions(ana)] == ["on, but no run yet"]

    scanned()
    assert decisions(ana) == []

    scanned(error="database is gone")
    assert [text for _, text, _ in decisions(ana)] == ["last run failed: database is gone"]


def test_a_stopped_task_cluster_is_reported(ana, alice, bob):
    factories.resolved_task(alice, bob)
    rollups.roll(timezone.now() + 3 * timedelta(minutes=1))
    assert decisions(ana) == []

    RollUp.objects.all().delete()
    RollUp.objects.create(minute=rollup.floor(timezone.now() - HOUR), last_result=0)

    ((subject, text, _),) = decisions(ana)
    assert subject == "Background worker"
    assert "stopped at" in text
    page = ana.get("/ops/")
    assert "Roll-ups stopped at" in page.text
    assert page.context["trend"].last.results == 1, "the result is read from its row"


def test_decisions_are_ordered_by_urgency_and_counted(ana, alice, bob):
    aged(factories.leased_task(alice, bob), hours=1)
    called(bob, ago=HOUR)

    page = ana.get("/ops/")

    assert [one.subject for one in page.context["findings"].decisions] == ["1 stale lease", "bob@local"]
    assert "Needs a decision (2)" in page.text

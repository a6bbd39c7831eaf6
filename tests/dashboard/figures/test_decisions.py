from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from dashboard.figures import thresholds
from mailbox.gate import audit
from mailbox.gate.callers import Caller, Role
from mailbox.inspection import backlogs
from mailbox.models import ApiKey, AuditEvent, RollUp, rollup
from mailbox.verbs.agents import registration
from mailbox.verbs.upkeep import rollups
from mailbox.words.kinds import Entry, Kind
from tests.dashboard.views.test_leases import aged
from tests.support import factories

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _stopped_clock():
    """Let a page that takes its time to come say the same ages as one that comes at once."""
    with time_machine.travel(timezone.now(), tick=False):
        yield


def decisions(ana):
    findings = ana.get("/ops/").context["findings"]
    return [(one.subject, one.text, one.url) for one in findings.decisions]


def called(caller, *, ago):
    """Give the agent a key that it used so long ago, None for never."""
    factories.key_of(caller, created_at=timezone.now() - 10 * HOUR)
    ApiKey.objects.filter(agent=caller.agent).update(last_used_at=timezone.now() - ago if ago is not None else None)


def scanned(*, ago=timedelta(0), **data):
    caller = Caller(name="scheduler@hub", source=AuditEvent.Source.SCHEDULER)
    audit.note(caller, Entry(Kind.AUTO_RETRY_SCAN, {"error": None, **data}))


@pytest.mark.parametrize(
    ("ago", "words"),
    [(38 * timedelta(minutes=1), "has not called for 38 m; 2 queued"), (None, "has never called; 2 queued")],
)
def test_an_agent_with_work_that_does_not_call_is_named(ana, alice, bob, ago, words):
    called(bob, ago=ago)
    assert decisions(ana) == [], "it has nothing to do"

    factories.sent_task(alice, bob)
    factories.sent_task(alice, bob)

    assert decisions(ana) == [("bob@local", words, "/ops/agents/bob@local/")]
    assert [row.agent.display for row in ana.get("/ops/").context["rows"] if row.agent.is_quiet] == ["bob@local"]
    assert [row.agent.display for row in ana.get("/ops/agents/?state=quiet").context["rows"]] == ["bob@local"]


@pytest.mark.parametrize("ago", [timedelta(0), timedelta(minutes=4)])
def test_an_agent_that_calls_or_never_could_is_not(ana, alice, bob, ago):
    factories.sent_task(alice, bob)
    assert decisions(ana) == [], "it has no key: code in the hub's own process works for it"

    called(bob, ago=ago)

    assert decisions(ana) == []


def test_what_is_held_counts_as_work_too(ana, alice, bob):
    factories.leased_task(alice, bob)
    called(bob, ago=HOUR)

    assert decisions(ana) == [("bob@local", "has not called for 1 h; 1 leased", "/ops/agents/bob@local/")]


def test_many_quiet_agents_are_a_number_with_a_link(ana, alice):
    for number in range(5):
        agent = factories.agent(f"worker{number}")
        factories.sent_task(alice, agent)
        called(agent, ago=HOUR)

    assert [subject for subject, *_ in decisions(ana)][3:] == ["2 more agents"]
    assert ana.get("/ops/").context["findings"].count == 5
    assert backlogs.quiet(thresholds.quiet_before(timezone.now())).count() == 5


def test_a_quiet_agent_is_found_however_many_others_are_busier(ana, alice, bob, django_assert_max_num_queries):
    paused = factories.agent("paused")
    for busy in (factories.agent(f"busy{number}") for number in range(12)):
        factories.sent_task(alice, busy)
        factories.sent_task(alice, busy)
    factories.leased_task(alice, bob)
    called(bob, ago=2 * HOUR)
    factories.sent_task(alice, paused)
    registration.pause_agent(factories.person("olga", Role.OPERATOR), factories.row_of(paused), reason="disk full")

    with django_assert_max_num_queries(10):
        page = ana.get("/ops/")

    assert [one.subject for one in page.context["findings"].decisions] == ["bob@local", "paused@local"]
    assert not {"bob@local", "paused@local"} & {row.agent.display for row in page.context["rows"]}


def test_many_paused_agents_are_a_number_with_a_link(ana, alice):
    olga = factories.person("olga", Role.OPERATOR)
    for number in range(5):
        agent = factories.agent(f"worker{number}")
        if number:
            factories.sent_task(alice, agent)
        registration.pause_agent(olga, factories.row_of(agent), reason="disk full")

    assert [subject for subject, *_ in decisions(ana)][3:] == ["1 more agent"]


def test_a_paused_agent_with_work_is_named(ana, alice, bob):
    olga = factories.person("olga", Role.OPERATOR)
    registration.pause_agent(olga, factories.row_of(bob), reason="disk full")
    assert decisions(ana) == []

    factories.sent_task(alice, bob)

    assert decisions(ana) == [("bob@local", "is paused; 1 queued", "/ops/agents/bob@local/")]


def test_callbacks_that_were_given_up_are_counted(ana, alice, bob):
    task = factories.sent_task(alice, bob)
    for state in ("disabled", "pending", "delivered", "disabled"):
        factories.PushDeliveryFactory.create(task_uuid=task.uuid, sender=alice.agent, state=state)

    ((subject, _, url),) = decisions(ana)

    assert subject == "2 callbacks"
    assert len(ana.get(url).context["page"].items) == 2


def test_a_scheduler_that_is_on_must_run_and_succeed(ana, settings):
    assert decisions(ana) == [], "it is off"
    settings.A2A_AUTO_RETRY = {**settings.A2A_AUTO_RETRY, "SCHEDULER": "1"}
    assert [text for _, text, _ in decisions(ana)] == ["is on, and its last pass was never"]

    scanned()
    assert decisions(ana) == []

    scanned(error="database is gone")
    assert [text for _, text, _ in decisions(ana)] == ["failed in its last pass: database is gone"]


def test_a_cluster_that_stands_still_is_noticed(ana, alice, bob):
    factories.resolved_task(alice, bob)
    rollups.roll(timezone.now() + 3 * timedelta(minutes=1))
    assert decisions(ana) == []

    RollUp.objects.all().delete()
    RollUp.objects.create(minute=rollup.floor(timezone.now() - HOUR), last_result=0)

    ((subject, text, _),) = decisions(ana)
    assert subject == "The task cluster"
    assert "stand still" in text
    page = ana.get("/ops/")
    assert "The roll-ups end at" in page.text
    assert page.context["trend"].last.results == 1, "the result is read from its row"


def test_decisions_come_with_the_most_urgent_first_and_add_up(ana, alice, bob):
    aged(factories.leased_task(alice, bob), hours=1)
    called(bob, ago=HOUR)

    page = ana.get("/ops/")

    assert [one.subject for one in page.context["findings"].decisions] == ["1 lease", "bob@local"]
    assert "Needs a decision (2)" in page.text

"""The lists of the operator pages walk an index for what people often look for: nothing reads a whole table."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from mailbox.inspection.health import gauges
from mailbox.inspection.search import queries
from mailbox.inspection.statistics import backlogs
from mailbox.models import Agent, AuditEvent, Task
from mailbox.words.ids import IdPattern
from tests.support.queries import assert_no_walk, assert_uses, plan_of

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)
TASKS = {
    "from:rare@local": "task_by_sender",
    "to:rare@local": "task_by_recipient",
    "state:error": "task_not_ok",
    "state:in_flight": "lease_one_live_per_task|lease_live_by",
    "state:interrupted": "task_interrupted|task_questions_",
    "awaits:input": "task_interrupted|task_questions_",
    "state:stale": "lease_one_live_per_task|lease_live_by",
    "key:inv-402": "task_by_key_or_prefix",
    "context:talk-405": "task_by_context",
    "kind:book": "task_by_kind",
    "failure:c0ffee00c0ffee00": "task_pkey|PRIMARY KEY",
}
EVENTS = {
    "kind:a2a_repair_applied": "audit_by_kind|audit_repairs",
    "kind:agent_paused": "audit_by_kind",
    "kind:agent_*": "audit_by_kind",
    "actor:user:ana": "audit_by_people",
    "actor:rare@local": "audit_actor",
    "source:dashboard": "audit_by_source",
}


RESULTS = {
    "status:error": "result_not_ok",
    "from:rare@local": "task_by_sender",
    "to:rare@local": "task_by_recipient",
    "agent:rare@local": "task_by_",
    "from:rare@local delivery:pending": "result_pending_by_sender|task_by_sender",
    "key:inv-402": "task_by_key_or_prefix",
    "kind:book": "task_by_kind",
}


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite compares a prefix without an index")
def test_tasks_are_found_by_the_beginning_of_their_key(at):
    assert "inv-4" in plan_of(queries.tasks("key:inv-4*", at).order_by("-pk")[:51]).split("Index Cond")[1]


@pytest.mark.parametrize(("text", "index"), RESULTS.items())
@pytest.mark.parametrize("page", [51, 10_001])
def test_results_are_found_by_index(at, text, index, page):
    assert_uses(queries.results(text, at).select_related("task").order_by("-pk")[:page], index, "mailbox_result")


@pytest.mark.parametrize("text", ["posted:{}..{}", "posted:{}..", "age:<1d status:ok"])
def test_results_of_a_span_of_time_are_found_by_roll_ups(at, text):
    since = at.now - timedelta(days=1)
    moments = [f"{moment:%Y-%m-%dT%H:%MZ}" for moment in (since, since + 10 * MINUTE)]

    assert re.search("roll_?up", plan_of(queries.results(text.format(*moments), at).order_by("-pk")[:51]))


@pytest.mark.parametrize(("text", "index"), TASKS.items())
@pytest.mark.parametrize("page", [51, 10_001])
def test_tasks_are_found_by_index(at, text, index, page):
    assert_uses(queries.tasks(text, at).order_by("-pk")[:page], index, "mailbox_task")


@pytest.mark.parametrize("party", ["rare@local", None])
def test_the_beginning_of_an_id_is_found_by_its_index(at, party):
    visible = Task.objects.visible_to(party and Agent.objects.get(display=party))

    assert_uses(visible.matching(IdPattern("6f1c")).order_by("-pk")[:11], "uuid", "mailbox_task")


@pytest.mark.parametrize("written", ["6f1c", "6f1c…2a87"])
def test_ids_in_part_are_found_by_index(at, written):
    assert_uses(queries.tasks(f"id:{written}", at).order_by("-pk")[:51], "uuid", "mailbox_task")
    assert_uses(queries.tasks(f"parent:{written}", at).order_by("-pk")[:51], "children", "mailbox_task")
    assert_uses(
        queries.leases(f"id:{written}", at).order_by("leased_at")[:51], "lease_id|lease_live_by", "mailbox_lease"
    )
    assert_uses(queries.events(f"task:{written}", at).order_by("-pk")[:51], "task_id|audit_task", "mailbox_auditevent")


@pytest.mark.parametrize(("text", "index"), EVENTS.items())
@pytest.mark.parametrize("page", [51, 10_001])
def test_events_are_found_by_index(at, text, index, page):
    assert_uses(queries.events(text, at).order_by("-pk")[:page], index, "mailbox_auditevent")


def test_tasks_finished_in_a_span_of_time_are_found_by_roll_ups(at):
    since = at.now - timedelta(days=1)
    text = f"finished:{since:%Y-%m-%dT%H:%MZ}..{since + 10 * MINUTE:%Y-%m-%dT%H:%MZ}"

    assert 15 <= queries.tasks(text, at).count() <= 20
    assert re.search("roll_?up", plan_of(queries.tasks(text, at).order_by("-pk")[:51]))


def test_events_of_a_span_of_time_are_found_by_roll_ups(at):
    since = (at.now - timedelta(days=1)).replace(second=0, microsecond=0)
    span = f"at:{since:%Y-%m-%dT%H:%MZ}..{since + 10 * MINUTE:%Y-%m-%dT%H:%MZ}"
    expected = AuditEvent.objects.filter(at__gte=since, at__lt=since + 10 * MINUTE)

    assert set(queries.events(span, at)) == set(expected)
    assert len(expected) == 20
    assert re.search("roll_?up", plan_of(queries.events(span, at).order_by("-pk")[:51]))


@pytest.mark.parametrize("text", ["age:>1d", "age:<1h", "-age:<1h", "from:nobody@local", "-from:nobody@local"])
def test_bounds_and_unknown_names_keep_the_results_right(at, text):
    found = set(queries.tasks(text, at).values_list("pk", flat=True))

    day, hour = at.now - timedelta(days=1), at.now - timedelta(hours=1)
    expected = {
        "age:>1d": Task.objects.filter(sent_at__lte=day),
        "age:<1h": Task.objects.filter(sent_at__gt=hour),
        "-age:<1h": Task.objects.filter(sent_at__lte=hour),
        "from:nobody@local": Task.objects.none(),
        "-from:nobody@local": Task.objects.all(),
    }
    assert found == set(expected[text].values_list("pk", flat=True))


@pytest.mark.parametrize("text", ["since:1h", "since:>1d", "-since:1h", "kind:capability_*", "-kind:a2a_repair_*"])
def test_events_are_found_as_completely_as_by_a_plain_query(at, text):
    day, hour = at.now - timedelta(days=1), at.now - timedelta(hours=1)
    expected = {
        "since:1h": AuditEvent.objects.filter(at__gt=hour),
        "since:>1d": AuditEvent.objects.filter(at__lte=day),
        "-since:1h": AuditEvent.objects.filter(at__lte=hour),
        "kind:capability_*": AuditEvent.objects.filter(kind="capability_check"),
        "-kind:a2a_repair_*": AuditEvent.objects.exclude(kind="a2a_repair_applied"),
    }

    found = queries.events(text, at).values_list("pk", flat=True)

    assert set(found) == set(expected[text].values_list("pk", flat=True))


def test_the_backlog_of_agents_is_counted_by_index(at):
    plan = plan_of(backlogs.busiest_first(backlogs.with_oldest(backlogs.with_backlog(Agent.objects.all())))[:200])

    assert "task_lease_order" in plan
    assert "lease_live_by_holder" in plan
    assert "Seq Scan on mailbox_task" not in plan


def test_open_questions_are_counted_by_index(at):
    plan = plan_of(backlogs.with_questions(Agent.objects.filter(display="rare@local")))

    assert "task_questions_of" in plan
    assert "task_questions_to" in plan
    assert "Seq Scan on mailbox_task" not in plan


def test_the_oldest_open_question_is_found_by_index(at):
    assert_uses(backlogs.oldest_asking(), "task_questions_of", "mailbox_task")


def test_the_numbers_for_monitoring_take_few_queries_and_no_walk_through_a_table(at):
    with CaptureQueriesContext(connection) as made:
        found = gauges.read(at.now, stale_after=at.stale_after, most_agents=20)

    assert len(found.queues) == 6
    assert min(found.queued, found.leased, found.interrupted) >= 40
    assert len(made) == gauges.QUERIES
    assert_no_walk(made)

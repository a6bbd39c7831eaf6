"""The page of charts: of the hub and of an agent, with links, marks and a table."""

import re
from datetime import timedelta
from html import unescape

import pytest
import time_machine

from mailbox.access.agents import registration
from mailbox.access.callers import Role
from mailbox.models import AuditEvent
from mailbox.upkeep import rollups
from tests.support import factories
from tests.support.chance import MOMENT

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("scale", ["1h", "6h", "24h", "7d"])
def test_an_empty_hub_has_four_empty_charts(vic, scale):
    page = vic.get(f"/ops/charts/?range={scale}")

    assert page.status_code == 200
    assert [one.name for one in page.context["charts"] if one.is_empty] == ["work", "queue", "wait", "run"]
    assert page.text.count("No data in the last") == 4


def test_each_bar_links_to_the_tasks_that_ended_in_its_time(ana, alice, bob):
    for _ in range(3):
        factories.resolved_task(alice, bob)

    page = ana.get("/ops/charts/")

    links = {unescape(one) for one in re.findall(r'href="(/ops/tasks/\?finished=[^"]+)"', page.text)}
    assert sum(len(ana.get(link).context["page"].items) for link in links) == 3
    assert "3 arrived, 3 ok" in page.text


def test_the_charts_of_an_agent_leave_out_the_others(ana, alice, bob):
    factories.resolved_task(alice, bob)
    factories.sent_task(alice, alice)

    of_bob = ana.get("/ops/charts/?agent=bob@local")

    assert (of_bob.context["totals"].arrivals, of_bob.context["totals"].ok) == (1, 1)
    assert ana.get("/ops/charts/").context["totals"].arrivals == 2
    assert "q=to:bob@local&amp;finished=" in of_bob.text
    assert "agent=bob%40local" in ana.get("/ops/agents/bob@local/").text
    assert ana.get("/ops/charts/?agent=nobody").status_code == 404


def test_the_charts_of_a_quiet_hub_move_with_the_clock(ana, alice, bob):
    look, charts = {"HX-Request": "true"}, "/ops/charts/"
    with time_machine.travel(MOMENT, tick=False) as clock:
        factories.resolved_task(alice, bob)
        version = ana.get(charts, headers=look).context["version"]

        assert ana.get(charts, headers={**look, "X-Seen": version}).status_code == 204
        clock.shift(timedelta(minutes=1))
        assert ana.get(charts, headers={**look, "X-Seen": version}).status_code == 200


def test_a_measured_queue_is_drawn_and_listed(ana, alice, bob):
    factories.sent_task(alice, bob)
    assert "Not measured yet" in ana.get("/ops/").text

    rollups.measure()

    page = ana.get("/ops/charts/?table=results")
    assert "1 queued, 0 in flight, 0 stale" in page.text
    assert '<th scope="col">From</th>' in page.text
    assert "Not measured yet" not in ana.get("/ops/").text


def test_a_pause_is_marked_with_a_link_to_its_event(ana, alice, bob):
    assert "k-event" not in ana.get("/ops/charts/").text
    factories.resolved_task(alice, bob)
    registration.pause_agent(factories.person("olga", Role.OPERATOR), factories.row_of(bob), reason="disk full")

    page = ana.get("/ops/charts/")

    (mark,) = page.context["marks"]
    assert 0 <= mark.x <= 720
    assert mark.url == f"/ops/audit/{AuditEvent.objects.latest('pk').pk}/"
    assert f'href="{mark.url}"' in page.text


@pytest.mark.parametrize("path", ["/ops/charts/", "/ops/charts/?agent=bob@local&range=7d"])
def test_the_page_of_charts_needs_few_queries(ana, alice, bob, path, django_assert_max_num_queries):
    factories.resolved_task(alice, bob)

    with django_assert_max_num_queries(18):
        ana.get(path)


def test_an_unknown_range_is_refused(vic):
    assert vic.get("/ops/charts/?range=2h").status_code == 400

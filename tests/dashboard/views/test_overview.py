from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest

from dashboard.figures import charts
from dashboard.figures.charts import HOUR
from mailbox.inspection.series import Point
from mailbox.words.envelopes import ResultStatus
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of
from tests.dashboard.views.test_leases import aged
from tests.support import factories
from tests.support.markup import squeezed

NOON = datetime(2026, 1, 1, 12, 0, 30, tzinfo=UTC)
FIVE = timedelta(minutes=5)
SECOND = timedelta(seconds=1)


@pytest.mark.django_db
@pytest.mark.parametrize("threshold_ms", ["300000", "420000", "60000", "86400000"])
def test_tile_histogram_title_and_list_count_the_same_leases(ana, alice, bob, settings, threshold_ms):
    settings.A2A_AUTO_RETRY = {**settings.A2A_AUTO_RETRY, "MIN_LEASE_AGE_MS": threshold_ms}
    for minutes in (0, 1, 4, 5, 6, 7, 8, 20, 90, 600, 3000):
        aged(factories.leased_task(alice, bob), minutes=minutes)

    page = ana.get("/ops/")
    listed = ana.get("/ops/leases/?state=stale").context["page"].items

    bars = page.context["histogram"]
    standing = page.context["standing"]
    assert sum(bar.count for bar in bars) == standing.in_flight == 11
    assert sum(bar.count for bar in bars if bar.kind == "stale") == standing.stale == len(listed)
    assert page.context["stale"].value == len(listed)
    for bar in bars:
        assert len(ana.get(f"/ops/leases/?{bar.query}").context["page"].items) == bar.count


@pytest.mark.django_db
def test_the_overview_asks_little(ana, alice, bob, django_assert_max_num_queries):
    for _ in range(10):
        factories.resolved_task(alice, bob)

    with django_assert_max_num_queries(10):
        ana.get("/ops/")


@pytest.mark.django_db
def test_each_number_leads_to_the_list_it_counts(ana, alice, bob):
    factories.resolved_task(alice, bob)
    factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message="no", content=[])
    factories.sent_task(alice, bob)

    page = ana.get("/ops/")

    tile = r'<li><a href="([^"]+)"><span class="l">(?:Queued|Pending|Throughput|Errors)'
    links = re.findall(tile, squeezed(page.text))
    rows = [len(ana.get(unescape(link)).context["page"].items) for link in links]
    standing, trend = page.context["standing"], page.context["trend"]
    assert rows == [standing.queued.value, standing.pending.value, trend.last.results, trend.last.error] == [1, 2, 2, 1]


@pytest.mark.django_db
def test_what_needs_a_decision_stands_first(ana, alice, bob):
    assert "Nothing needs a decision" in ana.get("/ops/").text

    aged(factories.leased_task(alice, bob, idempotency=factories.idempotent()), hours=1)
    aged(factories.leased_task(alice, bob), hours=1)

    text = ana.get("/ops/").text
    assert "Needs a decision (2)" in text
    assert text.index("Needs a decision") < text.index("Queued")


def test_a_minute_holds_its_results_and_no_others():
    points = [
        Point(NOON - timedelta(seconds=30), ok=1),
        Point(NOON - 91 * SECOND, error=1),
        Point(NOON - 2 * HOUR.span, ok=1),
    ]

    found = charts.buckets(points, HOUR, NOON)

    assert [(bucket.start.minute, bucket.sum.ok, bucket.sum.error) for bucket in found if bucket.sum.results] == [
        (58, 0, 1),
        (0, 1, 0),
    ]


@pytest.mark.parametrize("scale", charts.RANGES)
def test_bars_follow_one_another_up_to_now_and_stay_within_the_picture(scale):
    points = [Point(NOON - scale.step * back, ok=back + 1, error=1) for back in range(scale.bars)]

    found = charts.buckets(points, scale, NOON)
    bars = [bar for pile in charts.stacked(found) for bar in pile]

    assert [bucket.sum.ok for bucket in found] == list(range(scale.bars, 0, -1))
    assert [bucket.end for bucket in found[:-1]] == [bucket.start for bucket in found[1:]]
    assert found[-1].start <= NOON < found[-1].end
    assert len(bars) == 2 * scale.bars
    assert all(0 <= bar.y <= 140 and bar.height >= 0 and bar.x + bar.width <= 720 for bar in bars)


def test_a_band_with_one_lease_among_many_can_be_seen():
    young, *_, old = charts.bands(FIVE)

    bars = charts.histogram([(young, 10**9), (old, 1)], FIVE)

    assert bars[1].height >= 2
    assert [bar.kind for bar in bars] == ["leased", "stale"]


@pytest.mark.parametrize("threshold", [timedelta(0), timedelta(seconds=1), FIVE, timedelta(days=3)])
def test_bands_follow_one_another_without_gap(threshold):
    found = charts.bands(threshold)

    assert found[0].least == timedelta(0)
    assert found[-1].most is None
    assert [band.most for band in found[:-1]] == [band.least for band in found[1:]]
    assert threshold in [band.least for band in found]


@pytest.mark.django_db
def test_an_agent_is_paused_and_resumed_with_a_reason(ana, alice, bob):
    path = "/ops/agents/bob@local/"

    assert ana.post(path, {**fields_of(ana.get(path)), "reason": ""}).status_code == 422
    paused = ana.post(path, {**fields_of(ana.get(path)), "reason": "disk full"}, follow=True)
    resumed = ana.post(path, {**fields_of(ana.get(path)), "reason": "disk cleared"}, follow=True)

    assert "bob@local is paused" in paused.text
    assert "bob@local leases again" in resumed.text
    (event,) = factories.journal(Kind.AGENT_PAUSED)
    assert (event.actor, event.fields["reason"]) == ("user:ana", "disk full")
    assert len(factories.journal(Kind.AGENT_RESUMED)) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["", "?state=paused", "?q=bob"])
def test_the_list_of_agents_asks_little(ana, alice, bob, query, django_assert_max_num_queries):
    factories.sent_task(alice, bob)

    with django_assert_max_num_queries(6):
        page = ana.get(f"/ops/agents/{query}")

    if query == "?q=bob":
        assert [(agent.display, agent.queued) for agent in page.context["page"].items] == [("bob@local", 1)]


@pytest.mark.django_db
def test_an_agent_that_is_none_has_no_page(ana):
    assert ana.get("/ops/agents/nobody@local/").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("scale", charts.RANGES)
def test_a_bar_of_a_chart_longer_than_a_day_names_its_day(ana, alice, bob, scale):
    factories.resolved_task(alice, bob)

    text = squeezed(ana.get(f"/ops/?range={scale.name}").text)

    (said,) = re.findall(r"<title>([-0-9: ]+): 1 ok</title>", text)

    assert len(said) == len("02:14" if scale.span < timedelta(days=1) else "2026-01-31 02:14")

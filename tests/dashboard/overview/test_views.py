import gzip
import re
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
import time_machine
from django.utils import timezone

from dashboard.figures import plots
from dashboard.figures.plots import HOUR
from dashboard.overview import decisions
from mailbox.inspection.statistics.series import Point
from mailbox.models import RollUp, Task
from mailbox.words.envelopes import ResultStatus
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of
from tests.dashboard.test_leases import aged
from tests.support import factories
from tests.support.chance import MOMENT
from tests.support.markup import squeezed
from tools.screenshots import hub

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
def test_the_overview_needs_few_queries(ana, alice, bob, django_assert_max_num_queries):
    for _ in range(10):
        factories.resolved_task(alice, bob)

    with django_assert_max_num_queries(18):
        ana.get("/ops/")


@pytest.mark.django_db
def test_each_tile_links_to_the_rows_it_counts(ana, alice, bob):
    factories.resolved_task(alice, bob)
    factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message="no", content=[])
    factories.sent_task(alice, bob)

    page = ana.get("/ops/")

    tile = r'<li><a href="([^"]+)"><span class="l">(?:Queued|Pending|Throughput|Errors)'
    links = re.findall(tile, squeezed(page.text))
    rows = [len(ana.get(unescape(link)).context["page"].items) for link in links]
    standing, trend = page.context["standing"].figures, page.context["trend"]
    assert rows == [standing.queued, standing.pending, trend.last.results, trend.last.error] == [1, 2, 2, 1]


@pytest.mark.django_db
def test_the_tile_of_open_questions_counts_and_links_to_them(ana, alice, bob):
    assert "no open question" in ana.get("/ops/").text
    tasks = [factories.interrupted_task(alice, bob) for _ in range(2)]
    Task.objects.filter(pk=tasks[0].pk).update(status_at=NOON)

    page = ana.get("/ops/")

    standing = page.context["standing"].figures
    assert (standing.interrupted, standing.asks_since) == (2, NOON)
    assert "longest <time" in squeezed(page.text)
    assert len(ana.get("/ops/tasks/?state=interrupted").context["page"].items) == 2


@pytest.mark.django_db
def test_leases_that_need_a_decision_are_shown_first(ana, alice, bob):
    assert "Nothing needs a decision" in ana.get("/ops/").text

    aged(factories.leased_task(alice, bob, idempotency=factories.idempotent()), hours=1)
    aged(factories.leased_task(alice, bob), hours=1)

    text = ana.get("/ops/").text
    assert "Needs a decision (2)" in text
    assert text.index("Needs a decision") < text.index("Queued")


def test_a_bucket_of_a_chart_holds_only_the_results_of_its_time():
    points = [
        Point(NOON - timedelta(seconds=30), ok=1),
        Point(NOON - 91 * SECOND, error=1),
        Point(NOON - 2 * HOUR.span, ok=1),
    ]

    buckets = plots.buckets(points, HOUR, NOON)

    assert [(bucket.start.minute, bucket.sum.ok, bucket.sum.error) for bucket in buckets if bucket.sum.results] == [
        (58, 0, 1),
        (0, 1, 0),
    ]


def test_a_bar_of_one_lease_among_many_is_visible():
    young, *_, old = decisions.bands_of(FIVE)

    bars = decisions.histogram([(young, 10**9), (old, 1)], FIVE)

    assert bars[1].height >= 2
    assert [bar.kind for bar in bars] == ["leased", "stale"]


@pytest.mark.parametrize("threshold", [timedelta(0), timedelta(seconds=1), FIVE, timedelta(days=3)], ids=str)
def test_age_bands_are_contiguous_and_split_at_the_threshold(threshold):
    bands = decisions.bands_of(threshold)

    assert bands[0].least == timedelta(0)
    assert bands[-1].most is None
    assert [band.most for band in bands[:-1]] == [band.least for band in bands[1:]]
    assert threshold in [band.least for band in bands]


@pytest.mark.django_db
def test_an_agent_is_paused_and_resumed_with_a_reason(ana, alice, bob):
    path = "/ops/agents/bob@local/"

    assert ana.post(path, {**fields_of(ana.get(path)), "reason": ""}).status_code == 422
    paused = ana.post(path, {**fields_of(ana.get(path)), "reason": "disk full"}, follow=True)
    resumed = ana.post(path, {**fields_of(ana.get(path)), "reason": "disk cleared"}, follow=True)

    assert "bob@local paused: new tasks wait" in paused.text
    assert "bob@local resumed." in resumed.text
    (event,) = factories.journal(Kind.AGENT_PAUSED)
    assert (event.actor, event.fields["reason"]) == ("user:ana", "disk full")
    assert len(factories.journal(Kind.AGENT_RESUMED)) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["", "?state=paused", "?q=bob"])
def test_the_list_of_agents_needs_few_queries(ana, alice, bob, query, django_assert_max_num_queries):
    factories.sent_task(alice, bob)

    # three for the person, one each for saved views, names, signs, errors, outages, quotas, profiles and more
    with django_assert_max_num_queries(13):
        page = ana.get(f"/ops/agents/{query}")

    if query == "?q=bob":
        assert [(agent.display, agent.queued) for agent in page.context["page"].items] == [("bob@local", 1)]


@pytest.mark.django_db
def test_an_unknown_agent_has_no_page(ana):
    assert ana.get("/ops/agents/nobody@local/").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("scale", plots.RANGES.values(), ids=lambda scale: scale.name)
def test_bars_of_a_chart_of_a_day_or_more_show_the_date(ana, alice, bob, scale):
    factories.resolved_task(alice, bob)

    text = squeezed(ana.get(f"/ops/?range={scale.name}").text)

    (label,) = re.findall(r"<title>([-0-9: ]+): 1 arrived, 1 ok</title>", text)

    assert len(label) == len("02:14" if scale.span < timedelta(days=1) else "2026-01-31 02:14")


@pytest.mark.django_db(transaction=True)
def test_a_tick_of_an_overview_with_an_hour_of_work_is_at_most_4_kb_compressed(vic):
    hub.on_fire()

    tick = vic.get("/ops/", headers={"HX-Request": "true"})

    assert len(gzip.compress(tick.content)) <= 4096


@pytest.mark.django_db
def test_a_chart_is_shown_as_a_table_only_on_request(ana, alice, bob):
    factories.resolved_task(alice, bob)
    aged(factories.leased_task(alice, bob), minutes=4)

    plain, ages, over_time = (ana.get(f"/ops/?range=6h{more}").text for more in ("", "&table=ages", "&table=results"))

    assert [text.count('<th scope="col">Age</th>') for text in (plain, ages, over_time)] == [0, 1, 0]
    assert [text.count('<th scope="col">From</th>') for text in (plain, ages, over_time)] == [0, 0, 1]
    assert 'href="?range=6h&amp;table=ages"' in plain
    assert 'href="?range=6h"' in ages


@pytest.mark.django_db
def test_the_link_to_a_table_changes_a_page_that_is_already_shown(ana):
    shown = ana.get("/ops/").context["version"]

    answer = ana.get("/ops/?table=ages", headers={"HX-Request": "true", "X-Seen": shown})

    assert answer.status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("place", ["/ops/?range=24h", "/ops/agents/bob@local/?range=24h", "/ops/charts/?range=24h"])
def test_one_more_result_among_thousands_is_sent_to_a_live_page(ana, bob, place):
    with time_machine.travel(MOMENT, tick=False):
        minute = timezone.now().replace(second=0) - timedelta(hours=3)  # the tiles show the last hour alone
        for agent in (None, factories.row_of(bob)):
            RollUp.objects.create(agent=agent, minute=minute, ok=5_000, last_result=0)
        version = ana.get(place, headers={"HX-Request": "true"}).context["version"]
        look = {"HX-Request": "true", "X-Seen": version}

        assert ana.get(place, headers=look).status_code == 204
        RollUp.objects.update(ok=5_001)
        assert ana.get(place, headers=look).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("place", ["/ops/", "/ops/agents/bob@local/"])
def test_a_live_page_without_work_is_not_sent_again_a_minute_later(ana, bob, place):
    with time_machine.travel(MOMENT, tick=False) as clock:
        version = ana.get(place, headers={"HX-Request": "true"}).context["version"]
        clock.shift(timedelta(minutes=1))

        answer = ana.get(place, headers={"HX-Request": "true", "X-Seen": version})

    assert answer.status_code == 204

"""Every number links to a list of exactly the rows that it counts."""

import re
from datetime import timedelta
from html import unescape
from urllib.parse import urljoin

import pytest
from django.utils import timezone

from mailbox.access.agents import registration
from mailbox.access.callers import Caller
from mailbox.life import results
from mailbox.models import Result
from mailbox.repairs import auto_retry
from mailbox.words import errors
from mailbox.words.envelopes import ResultStatus
from tests.dashboard.test_deliveries import given_up
from tests.dashboard.test_idempotency import cached
from tests.dashboard.test_leases import aged
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = pytest.mark.django_db

BOB = "/ops/agents/bob@local/"
FAILED = {"status": ResultStatus.ERROR, "error_message": "no", "content": []}


@pytest.fixture
def answers(alice, bob):
    """Bob answered twice and failed once within the hour, and answered once three hours ago. Alice answered once."""
    factories.grant(bob, "a2a.send.*")
    factories.grant(alice, "a2a.respond.*")
    old = factories.resolved_task(alice, bob)
    Result.objects.filter(pk=old.pk).update(posted_at=timezone.now() - timedelta(hours=3))
    for fields in ({}, {}, FAILED):
        factories.resolved_task(alice, bob, **fields)
    factories.resolved_task(bob, alice)


def failed_task(alice, bob, **fields):
    lease = factories.leased_task(alice, bob, **fields)
    results.post_result(bob, factories.result_envelope(lease.task, **FAILED))


def rows_behind(browser, page, link):
    """Return the number of rows in the list that a link of ``page`` opens."""
    answer = browser.get(urljoin(page, unescape(link)))
    assert answer.status_code == 200
    return len(answer.context["page"].items)


def tile(text, words):
    return re.findall(rf'<a href="([^"]+)"><span class="l">{words}', squeezed(text))[0]


def test_the_tiles_of_an_agent_link_to_its_results_of_the_hour(ana, answers):
    page = ana.get(BOB)

    counted = {
        words: rows_behind(ana, BOB, tile(page.text, words))
        for words in ("Results, 1 h", "Lease → result, 1 h", "Errors, 1 h")
    }

    assert page.context["row"].hour.results == 3
    assert counted == {"Results, 1 h": 3, "Lease → result, 1 h": 3, "Errors, 1 h": 1}


def test_the_error_share_in_the_list_of_agents_links_to_the_errors(ana, answers):
    page = ana.get("/ops/agents/")

    (link,) = re.findall(r'<a href="([^"]+)">33 %</a>', squeezed(page.text))

    assert rows_behind(ana, "/ops/agents/", link) == 1


@pytest.mark.parametrize(("page", "ok"), [("/ops/", 3), (BOB, 2), (f"{BOB}?range=6h", 3)])
def test_a_chart_links_each_status_to_its_results(ana, answers, page, ok):
    text = squeezed(ana.get(f"{page}{'&' if '?' in page else '?'}table=results").text)

    legend = re.findall(r'<ul class="legend">(.*?)</ul>', text)[0]
    cells = re.findall(r'aria-label="Work over time">(.*?)</table>', text)[0]
    links = re.findall(r'<a href="([^"]+status=(\w+))">(\d+)</a>', legend + cells)

    assert [int(count) for _, _, count in links[:2]] == [ok, 1]
    assert all(rows_behind(ana, page, link) == int(count) for link, _, count in links)
    assert sum(int(count) for _, status, count in links[2:] if status == "ok") == ok
    assert "partial 0" in legend


def test_the_stale_count_of_a_tile_links_to_those_leases(ana, alice, bob):
    factories.leased_task(alice, bob)
    assert "none stale" in ana.get("/ops/").text
    for _ in range(2):
        aged(factories.leased_task(alice, bob), minutes=20)

    (link,) = re.findall(r'<a class="s warn" href="([^"]+)">2 stale</a>', ana.get("/ops/").text)

    assert rows_behind(ana, "/ops/", link) == 2


def test_the_hit_count_of_a_cached_result_links_to_its_tasks(ana, alice, bob):
    factories.grant(bob, "a2a.send.*")
    factories.grant(alice, "a2a.respond.*")
    entry = cached(alice, bob, duplicates=2)
    factories.sent_task(bob, alice, idempotency=factories.idempotent("inv-7"))

    text = squeezed(ana.get("/ops/idempotency/").text)

    (link,) = re.findall(r'<a href="([^"]+)">2<span class="vh"> tasks answered by it', text)

    assert entry.source_task_id
    assert rows_behind(ana, "/ops/idempotency/", link) == 2


def test_failed_and_stale_counts_of_a_tree_link_to_those_rows(ana, alice, bob):
    root = factories.leased_task(alice, bob).task
    aged(factories.leased_task(alice, bob, parent=root.uuid, intent_text="hangs"), minutes=20)
    failed_task(alice, bob, parent=root.uuid, intent_text="breaks")
    address = f"/ops/trees/{root.uuid}/"
    text = ana.get(address).text

    (failed,) = re.findall(r'<a class="pill error" href="([^"]+)">1 failed', text)
    (stale,) = re.findall(r'<a class="pill stale" href="([^"]+)">1 stale', text)

    for link, name in ((failed, "breaks"), (stale, "hangs")):
        rows = ana.get(urljoin(address, unescape(link))).context["rows"]
        assert [one["bar"].name for one in rows[1:]] == [name]


@pytest.mark.parametrize("kind", [{}, {"task_kind": "page.fetch"}])
def test_the_counts_of_a_group_link_to_its_tasks_by_state(ana, alice, bob, kind):
    root = factories.leased_task(alice, bob, intent_text="read the site").task.uuid
    fields = {"parent": root, "intent_text": 'fetch "page"', **kind}
    for _ in range(2):
        failed_task(alice, bob, **fields)
    for minutes in (1, 20, 30):
        aged(factories.leased_task(alice, bob, **fields), minutes=minutes)
    for _ in range(4):
        factories.sent_task(alice, bob, **fields)
    address = f"/ops/trees/{root}/"

    page = ana.get(address)

    (group,) = [one for one in page.context["rows"] if one["row"].group]
    counts = {state: rows_behind(ana, address, f"/ops/tasks/?q={query}") for state, _, query in group["counts"]}
    assert counts == {"queued": 4, "error": 2, "stale": 2, "in_flight": 1}
    assert dict(group["row"].group.counts) == counts


def test_a_retry_pass_links_to_the_task_it_requeued(ana, alice, bob, olga):
    aged(factories.leased_task(alice, bob, idempotency=factories.idempotent("k")), minutes=20)
    aged(factories.leased_task(alice, bob), minutes=20)
    scan = auto_retry.run_once(olga, reason="pod lost", worded=errors.text_for_person)

    text = ana.get(f"/ops/scheduler/scans/{scan.pk}/").text

    assert '<a href="#requeued">1 requeued</a>' in text
    assert '<a href="#left">1 skipped</a>' in text
    assert text.count("/ops/tasks/") == 2
    assert "Only counts are kept." in text


def test_a_stale_lease_is_marked_on_every_page_that_shows_it(ana, alice, bob):
    root = factories.leased_task(alice, bob)
    lease = aged(
        factories.leased_task(alice, bob, parent=root.task.uuid, idempotency=factories.unsafe("k")), minutes=20
    )
    pages = {
        "/ops/tasks/?state=stale": 2,  # the row and the tab
        f"/ops/tasks/{lease.task.uuid}/": 1,
        f"/ops/tasks/{root.task.uuid}/": 1,
        f"/ops/leases/{root.lease_id}/force-error/": 1,
        f"/ops/trees/{root.task.uuid}/?focus={lease.task.uuid}": 1,
    }

    shown = {page: ana.get(page).text.count("</span> Stale</span>") for page in pages}

    assert shown == pages


def test_an_agent_with_a_stale_lease_is_not_shown_as_ok(ana, alice, bob):
    aged(factories.leased_task(alice, bob), minutes=20)

    for page in ("/ops/", "/ops/agents/", BOB):
        assert "</span> Stale lease</span>" in ana.get(page).text
    (link,) = re.findall(r'holds <a href="([^"]+)">stale leases</a>', squeezed(ana.get(BOB).text))
    assert rows_behind(ana, BOB, link) == 1


def test_the_menu_counts_link_to_the_rows_they_count(ana, alice, bob):
    factories.resolved_task(alice, bob)
    factories.leased_task(alice, bob)
    aged(factories.leased_task(alice, bob), minutes=20)
    given_up(alice, bob)
    registration.pause_agent(Caller.command_line(), alice.agent, reason="disk full")
    text = squeezed(ana.get("/ops/").text)

    counts = dict(re.findall(r'<a class="count[^"]*" href="([^"]+)" data-count="\w+">(\d+) ', text))

    assert len(counts) == 4
    assert {link: rows_behind(ana, "/ops/", link) for link in counts} == {
        link: int(count) for link, count in counts.items()
    }


def test_a_filtered_list_does_not_show_the_stale_count_of_all_leases(ana, alice, bob):
    aged(factories.leased_task(alice, bob), minutes=20)

    whole, narrower = (squeezed(ana.get(f"/ops/leases/{query}").text) for query in ("", "?agent=alice"))

    assert re.search(r'Stale \(≥ [^)]+\)\s*<b class="count warn">1</b>\s*</a>', whole)
    assert re.search(r"Stale \(≥ [^)]+\)\s*</a>", narrower)

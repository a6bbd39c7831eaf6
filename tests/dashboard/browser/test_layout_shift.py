"""Live pages update their numbers in place and move nothing else."""

from datetime import timedelta

import pytest
from django.utils import timezone

from mailbox.life import leasing
from mailbox.models import ApiKey
from tests.support import factories
from tests.support.browser import stale

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

WATCH = """() => { window.shifted = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({type: 'layout-shift', buffered: false}); }"""
TICK = """() => { const rows = document.querySelector('#rows');
  rows.dataset.old = ''; rows.dispatchEvent(new Event('live:tick')); }"""
SWAPPED = "() => !document.querySelector('#rows:is([data-old], .htmx-added, .htmx-settling, .htmx-swapping)')"
SHIFTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(window.shifted))))"


@pytest.mark.parametrize("width", [1440, 390])
def test_twenty_refreshes_of_a_busy_overview_shift_nothing(browse, alice, bob, width):
    factories.grant(bob, "a2a.send.*")
    factories.key_of(bob, last_used_at=timezone.now())
    for _ in range(12):
        factories.resolved_task(alice, bob)
    page = browse("ana", width=width)
    page.goto("/ops/")
    page.evaluate(WATCH)

    for tick in range(20):
        factories.sent_task(alice, bob)
        if tick % 3 == 0:
            leasing.lease_tasks(bob, limit=2)
        if tick % 5 == 4:
            stale(bob, alice)
            ApiKey.objects.update(last_used_at=timezone.now() - tick * timedelta(hours=1))
        page.evaluate(TICK)
        page.wait_for_function(SWAPPED)

    assert page.evaluate(SHIFTED) <= 0.02
    assert "Needs a decision" in page.inner_text(".decide")


def test_an_unchanged_overview_is_not_sent_again(browse, alice, bob):
    factories.resolved_task(alice, bob)
    page = browse("ana")
    page.goto("/ops/")
    statuses = []

    for _ in range(3):
        with page.expect_response(lambda response: response.url.endswith("/ops/")) as answered:
            page.evaluate(TICK)
        statuses.append(answered.value.status)
        if answered.value.status == 200:
            page.wait_for_function(SWAPPED)

    assert 204 in statuses, "at most one new minute begins during this test"

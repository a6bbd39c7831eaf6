"""Printed pages show whole dates and ids, and no controls."""

import re

import pytest

from mailbox.models import Lease
from tests.support import factories
from tests.support.browser import stale
from tests.support.plans import planned

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

A4 = {"width": 718, "height": 1000}  # the paper inside the margins of a browser
DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? UTC")
SEEN = """() => {
  const shown = el => el.checkVisibility() && el.getClientRects().length > 0;
  const all = selector => [...document.querySelectorAll(selector)].filter(shown);
  const onPaper = el => { const after = getComputedStyle(el, '::after').content;
    return parseFloat(getComputedStyle(el).fontSize) ? el.textContent : JSON.parse(after); };
  return {
    pressed: all('button, .button, input, select, textarea, nav, .pager, .pulse, .tabs, .ago, summary').map(
      el => el.outerHTML),
    ids: all('main code').map(onPaper),
    moments: all('main time:not(.age), main time:has(+ .ago)').map(onPaper),
    header: document.querySelector('.asof').innerText,
    over: document.documentElement.scrollWidth - innerWidth,
  };
}"""


@pytest.mark.parametrize("times", ["relative", "absolute"])
def test_printed_pages_show_whole_dates_and_ids_and_no_controls(browse, live_server, alice, bob, olga, times):
    lease = stale(alice, bob, intent_text="book a hotel near the old town")
    Lease.objects.filter(pk=lease.pk).update(last_seen_at=lease.task.sent_at)
    factories.resolved_task(alice, bob)
    plan = planned(olga, [lease], query="state:stale")
    page = browse("ana")
    page.context.add_cookies([{"name": "ops_times", "value": times, "url": f"{live_server.url}/ops/"}])
    page.set_viewport_size(A4)
    page.emulate_media(media="print")
    paths = {
        "audit/": str(lease.task.uuid),
        f"repairs/{plan.pk}/": str(lease.lease_id),
        "leases/": str(lease.lease_id),
        "tasks/": str(lease.task.uuid),
        f"tasks/{lease.task.uuid}/": str(lease.lease_id),
        f"leases/{lease.lease_id}/": str(lease.lease_id),
    }

    for path, name in paths.items():
        page.goto(f"/ops/{path}")
        seen = page.evaluate(SEEN)

        assert seen["pressed"] == [], path
        assert name in seen["ids"], path
        assert not any("…" in one for one in seen["ids"]), path
        assert path == "leases/" or seen["moments"], path
        assert [one for one in seen["moments"] if not DATE.fullmatch(one)] == [], path
        assert re.fullmatch(r"Opened \d{4}-\d\d-\d\d \d\d:\d\d:\d\d · as of \d\d:\d\d:\d\d UTC", seen["header"])
        assert seen["over"] <= 0, path

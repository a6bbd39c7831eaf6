"""The charts of the overview in a browser: their labels can be read at every width."""

from __future__ import annotations

import pytest

from tests.dashboard.views.test_leases import aged
from tests.support import factories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

OVERLAPS = """() => {
  const picture = document.querySelector('.hist').getBoundingClientRect();
  const texts = [...document.querySelectorAll('.hist text')].map(one => [one.textContent, one.getBoundingClientRect()]);
  const outside = texts.filter(([, box]) => box.left < picture.left - 1 || box.right > picture.right + 1);
  const found = outside.map(([text]) => [text, 'is cut']);
  texts.forEach(([text, a], at) => { for (const [other, b] of texts.slice(at + 1)) {
    if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom) found.push([text, other]);
  } });
  return found;
}"""


@pytest.mark.parametrize("threshold_ms", ["60000", "300000", "1230000", "86370000"])
def test_labels_of_the_lease_age_chart_never_overlap(browse, alice, bob, settings, threshold_ms):
    settings.A2A_AUTO_RETRY = {**settings.A2A_AUTO_RETRY, "MIN_LEASE_AGE_MS": threshold_ms}
    for minutes in (0, int(threshold_ms) / 60_000 + 0.1, int(threshold_ms) / 60_000 + 0.2, 20):
        aged(factories.leased_task(alice, bob), minutes=minutes)
    page = browse("ana")
    page.goto("/ops/")

    for width in (1440, 1000, 768, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})

        assert page.evaluate(OVERLAPS) == [], width

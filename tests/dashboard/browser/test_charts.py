"""The charts in a browser: they change by themselves, a drag filters, and labels can be read at every width."""

import pytest

from tests.dashboard.test_leases import aged
from tests.support import factories
from tools.screenshots import hub

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

TICK = "document.dispatchEvent(new Event('visibilitychange'))"
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


def test_the_charts_of_an_hour_change_by_themselves_and_a_drag_filters_the_tasks(browse):
    scene = hub.calm()
    page = browse("ana", live=5)
    for path, part in (("/ops/", "#chart-work .legend .k-arrivals"), ("/ops/charts/", "#chart-work .plane")):
        page.goto(path)
        before = page.locator(part).inner_html()
        scene.send("planner", "writer", "Summarise it again")

        page.evaluate(TICK)

        page.wait_for_function(
            "([part, before]) => document.querySelector(part).innerHTML !== before", arg=[part, before]
        )

    box = page.locator("#chart-work .plane").bounding_box()
    page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 40, steps=4)
    width = page.locator(".pick").get_attribute("width")
    page.mouse.up()
    page.wait_for_url("**/ops/tasks/?finished=**")

    assert 170 < float(width) < 190
    assert page.locator("#rows tbody tr").count() in range(15, 35), "a quarter of an hour of 90 tasks"


@pytest.mark.smoke
def test_a_bar_is_a_link_without_scripts(browse):
    hub.calm()
    page = browse("ana", scripts=False)
    page.goto("/ops/charts/")

    page.locator("#chart-work .plane a").nth(20).click()

    page.wait_for_url("**/ops/tasks/?finished=**")
    assert page.locator("#rows tbody tr").count() in (1, 2, 3)

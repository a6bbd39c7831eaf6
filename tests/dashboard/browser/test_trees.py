"""The chart of a tree in a browser: a window chosen by dragging, and the same by links without scripts."""

import re

import pytest

from tools.screenshots import hub

CUT = """lines => lines.filter(line => line.scrollWidth > line.clientWidth
  || line.getBoundingClientRect().right > line.closest('tr').getBoundingClientRect().right + 1
).map(line => line.innerText)"""

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def window_of(page):
    """Return the window of the address, in seconds since the start of the tree."""
    found = re.search(r"from=(\d+)&to=(\d+)", page.url)
    return tuple(int(number) / 1000 for number in found.groups()) if found else None


def test_a_window_is_dragged_on_the_map_and_left_by_a_link(browse):
    root = hub.tree_of_six()
    page = browse("ana")
    page.goto(f"/ops/trees/{root.uuid}/")
    box = page.locator("[data-map]").bounding_box()
    wall = int(page.locator("[data-map]").get_attribute("data-map")) / 1000
    bars = page.locator(".wave g").count()

    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 10)
    page.mouse.up()
    page.wait_for_url("**from=*")

    start, end = window_of(page)
    assert start == pytest.approx(wall * 0.25, rel=0.05)
    assert end == pytest.approx(wall * 0.75, rel=0.05)
    assert page.locator(".wave g").count() < bars
    page.click("text=Whole tree")
    page.wait_for_url(f"**/trees/{root.uuid}/?")
    assert page.locator(".wave g").count() == bars


def test_a_click_on_the_map_chooses_no_window(browse):
    root = hub.tree_of_six()
    page = browse("ana")
    page.goto(f"/ops/trees/{root.uuid}/")

    page.locator("[data-map]").click()
    page.click("a[title='Zoom in']")
    page.wait_for_url("**from=*")

    wall = int(page.locator("[data-map]").get_attribute("data-map")) / 1000
    start, end = window_of(page)
    assert end - start == pytest.approx(wall / 2, rel=0.05)


def test_links_zoom_and_move_without_scripts(browse):
    root = hub.tree_of_six()
    page = browse("ana", scripts=False)
    page.goto(f"/ops/trees/{root.uuid}/")

    windows = []
    for move in ("Zoom in", "Earlier", "Later", "Zoom out"):
        page.click(f"a[title='{move}']")
        windows.append(window_of(page))

    inside, earlier, later, out = windows
    assert earlier[0] < inside[0]
    assert later == pytest.approx(inside, abs=0.01)
    assert out is None or out[1] - out[0] > inside[1] - inside[0]


@pytest.mark.smoke
def test_the_list_leads_to_the_chart(browse):
    root = hub.tree_of_six()
    page = browse("ana")

    page.goto("/ops/")
    page.click("nav >> text=Trees")
    page.click("text=Plan trip to Lisbon")

    page.wait_for_url(f"**/trees/{root.uuid}/")


@pytest.mark.parametrize("width", [1440, 390])
def test_what_is_known_of_a_row_is_never_cut(browse, width):
    root = hub.tree_of_six()
    page = browse("ana", width=width)
    page.goto(f"/ops/trees/{root.uuid}/")
    lines = page.locator(".tree .sub")

    assert any("requeued by" in line for line in lines.all_inner_texts())
    assert any("outlives its parent" in line for line in lines.all_inner_texts())
    assert lines.evaluate_all(CUT) == []

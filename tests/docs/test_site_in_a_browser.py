"""The site of the documentation, as a browser shows it under the hub's policy for scripts and styles."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.axe import WCAG, violations

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

lay_out = importlib.import_module("docs.lay_out")

THEMES = ("light", "dark")
LOOK = "[document.body.dataset.mdColorScheme, getComputedStyle(document.body).backgroundColor]"
SHOWS = "id => { const {top, bottom} = document.getElementById(id).getBoundingClientRect();"
SHOWS += " return top >= 0 && bottom <= innerHeight; }"
BROKEN_PICTURES = "[...document.images].filter(one => !one.naturalWidth).map(one => one.src)"


@pytest.fixture
def page(browse: Any, site: Path, live_server: Any, settings: Any) -> Iterator[Any]:
    """Open a page on a hub with the site. It may load nothing from elsewhere, and log no errors."""
    settings.A2A_SITE = site
    opened = browse("ana")
    requested: list[str] = []
    opened.on("request", lambda request: requested.append(request.url))
    yield opened
    assert requested
    assert [url for url in requested if not url.startswith(f"{live_server.url}/docs/")] == []


def test_the_search_finds_a_page_and_leads_to_it(page: Any) -> None:
    page.goto("/docs/start/install/")
    page.keyboard.press("/")
    page.get_by_role("combobox", name="Search").fill("fencing")
    page.get_by_role("option", name="Leases and fencing").first.click()

    page.wait_for_url("**/docs/concepts/leases-and-fencing/*")
    assert "A lease says who works on a task." in page.locator("article").inner_text()
    assert page.locator("h1 mark").inner_text() == "fencing"


def test_a_reader_chooses_the_theme_and_it_stays_on_other_and_on_known_pages(page: Any) -> None:
    page.emulate_media(color_scheme="light")
    page.goto("/docs/")
    light = page.evaluate(LOOK)
    page.get_by_title("Switch to the light theme").click()
    page.get_by_title("Switch to the dark theme").click()
    dark = page.evaluate(LOOK)
    page.goto("/docs/start/tour/")
    elsewhere = page.evaluate(LOOK)
    page.goto("/docs/")
    again = page.evaluate(LOOK)

    assert (light[0], dark[0]) == ("default", "slate")
    assert light[1] != dark[1]
    assert dark == elsewhere == again


def test_the_theme_is_that_of_the_system_until_a_reader_chooses(page: Any) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto("/docs/")

    assert page.evaluate(LOOK)[0] == "slate"


def test_a_link_to_a_heading_shows_the_heading(page: Any) -> None:
    page.goto("/docs/start/first-worker/#run-it")
    page.wait_for_function(SHOWS, arg="run-it")
    page.get_by_role("navigation", name="On this page").get_by_text("What the package does for it").click()

    page.wait_for_url("**#what-the-package-does-for-it")
    page.wait_for_function(SHOWS, arg="what-the-package-does-for-it")


def test_a_missing_page_is_a_404_with_the_look_the_menu_and_the_search_of_the_site(page: Any) -> None:
    answer = page.goto("/docs/no/such/page/")
    looks = page.evaluate(LOOK)
    assert answer.status == 404
    assert page.locator("h1").inner_text() == "Page not found"

    page.keyboard.press("/")
    page.get_by_role("combobox", name="Search").fill("glossary")
    page.get_by_role("option", name="Glossary").first.click()
    page.wait_for_url("**/docs/concepts/glossary/*")
    assert page.evaluate(LOOK) == looks
    page.goto("/docs/no-such-page")
    page.get_by_role("navigation", name="Tabs").get_by_text("Operate").click()
    page.wait_for_url("**/docs/operate/deploy/")


def test_the_pages_of_each_part_keep_the_policy_and_load_all_that_they_show(page: Any) -> None:
    one_of_each = {Path(place).parent: place for place in lay_out.pages().values()}
    for place in (*one_of_each.values(), "index.md", "contribute/architecture.md", "reference/states.md"):
        address = f"/docs/{place.removesuffix('.md').removesuffix('index').rstrip('/')}"
        answer = page.goto(address)
        assert answer.status == 200, address
        for summary in page.locator("article details > summary").all():
            summary.click()
        assert page.evaluate(BROKEN_PICTURES) == [], address


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("path", ["", "start/first-worker/", "reference/settings/"])
def test_a_page_keeps_the_rules_of_accessibility(page: Any, path: str, theme: str) -> None:
    page.emulate_media(color_scheme=theme)
    page.goto(f"/docs/{path}")

    assert violations(page, tags=WCAG) == []

"""The site of the documentation: its pages, its links and its files."""

import importlib
import re
import tomllib
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

lay_out = importlib.import_module("docs.lay_out")

PLACES = {"docs/start/tour.md": "start/tour.md", "docs/operate/keys.md": "operate/keys.md"}


def navigation(part: Any) -> Iterator[str]:
    """Yield the places of the pages in the menu."""
    if isinstance(part, str):
        yield part
    else:
        for inner in part.values() if isinstance(part, dict) else part:
            yield from navigation(inner)


def test_the_menu_has_each_page_once() -> None:
    menu = list(navigation(tomllib.loads(lay_out.CONFIGURATION.read_text())["project"]["nav"]))

    assert sorted(menu) == sorted(lay_out.pages().values())


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[keys](../operate/keys.md#a-key)", "[keys](../operate/keys.md#a-key)"),
        ("[home](../../README.md#install)", "[home](../index.md)"),
        ("[below](#two-agents)", "[below](#two-agents)"),
        ("[elsewhere](https://a2a.example/x.md)", "[elsewhere](https://a2a.example/x.md)"),
        ("[alerts](../../deploy/prometheus/alerts.yml)", "alerts (`deploy/prometheus/alerts.yml`)"),
        ("[`test_it`](../../tests/test_tour.py)", "`test_it`"),
        ("![all](../assets/all.png)", "![all](../assets/all.png)"),
        ("```py\nx[0](../../tests/test_tour.py)\n```", "```py\nx[0](../../tests/test_tour.py)\n```"),
        ("```js worker.mjs\n1\n```", '```js title="worker.mjs"\n1\n```'),
        (
            "```mermaid\na --> b\n```",
            '??? note "The diagram as text (Mermaid)"\n\n    ```mermaid\n    a --> b\n    ```\n',
        ),
    ],
)
def test_a_page_is_laid_out_for_the_site(written: str, shown: str) -> None:
    assert lay_out.laid_out(written, "docs/start/tour.md", PLACES) == shown


@pytest.mark.processes
def test_the_site_has_every_page_and_its_search_knows_them(site: Path) -> None:
    places = {place.removesuffix(".md").removesuffix("index").rstrip("/") for place in lay_out.pages().values()}
    search = (site / "search.json").read_text()

    assert [place for place in places if not (site / place / "index.html").is_file()] == []
    assert [place for place in places if f'"{place}/' not in search and place] == []


@pytest.mark.processes
def test_a_page_loads_nothing_from_another_host_and_keeps_the_policy_of_the_hub(site: Path) -> None:
    pages = {str(page.relative_to(site)): page.read_text() for page in site.rglob("*.html")}
    loads = re.compile(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(?:https?:)?//')

    assert [path for path, text in pages.items() if loads.search(text)] == []
    assert [path for path, text in pages.items() if re.search(r'<style|<[^>]+ (?:style|on\w+)="', text)] == []


@pytest.mark.processes
def test_every_link_of_a_page_leads_to_a_file_and_an_anchor_of_the_site(site: Path) -> None:
    texts = {file.relative_to(site).as_posix(): file.read_text() for file in site.rglob("*.html")}
    anchors = {path: {*re.findall(r' id="([^"]+)"', text)} for path, text in texts.items()}
    dead = []
    for path, text in texts.items():
        for link in re.findall(r' (?:href|src)="((?![a-z]+:)[^"]+)"', text):
            target = urlsplit(urljoin(f"/docs/{path}", unescape(link)))
            place = target.path.removeprefix("/docs/")
            file = f"{place}index.html" if place.endswith("/") or not place else place
            if not (site / file).is_file() or (target.fragment and target.fragment not in anchors[file]):
                dead.append((path, link))

    assert len(texts) > len(lay_out.pages())
    assert dead == []


@pytest.mark.processes
def test_the_sources_of_the_documentation_are_no_part_of_the_site(site: Path) -> None:
    assert [str(file) for file in site.rglob("*.py")] == []

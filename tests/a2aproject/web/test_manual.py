from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

import pytest
from django.test import Client

from a2aproject.web import manual

pytestmark = pytest.mark.one_database

SCRIPT = "document.title = 'A2A'"
PAGE = f'<!doctype html><script>{SCRIPT}</script><script id="data" type="application/json">{{}}</script>'


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Build a site with two pages and a script."""
    (tmp_path / "html" / "start").mkdir(parents=True)
    for name, text in {"index.html": PAGE, "start/index.html": "<p>Begin", "search.js": "find()"}.items():
        (tmp_path / "html" / name).write_text(text)
    (tmp_path / "secret.txt").write_text("secret")
    monkeypatch.setattr(manual, "SITE", tmp_path / "html")


@pytest.fixture
def get():
    """Return a function that gets a path below /docs/."""
    client = Client()
    return lambda path="", **headers: client.get(f"/docs/{path}", headers=headers)


@pytest.mark.usefixtures("site")
def test_a_page_and_a_file_are_served(get):
    assert get().text == PAGE
    assert get("start/").text == "<p>Begin"
    file = get("search.js")
    assert (file.text, file["Content-Type"]) == ("find()", "text/javascript")


@pytest.mark.usefixtures("site")
def test_a_page_may_run_its_own_inline_script_and_no_other(get):
    rules = dict(rule.split(" ", 1) for rule in get()["Content-Security-Policy"].split("; "))

    digest = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    assert rules["script-src"] == f"'self' 'sha256-{digest}'"
    assert rules["style-src"] == "'self'"
    assert "sha256" not in get("search.js")["Content-Security-Policy"]


@pytest.mark.usefixtures("site")
def test_the_address_of_a_page_without_its_slash_leads_to_the_page(get):
    answer = get("start")

    assert (answer.status_code, answer["Location"]) == (302, "/docs/start/")


@pytest.mark.usefixtures("site")
def test_a_browser_keeps_a_page_until_it_changes(get):
    first = get()
    again = get(**{"If-None-Match": first["ETag"]})

    assert first["Cache-Control"] == "no-cache"
    assert again.status_code == 304


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("path", ["nothing/", "../secret.txt", "%2e%2e/secret.txt", "start/..", "x" * 5000, "%00"])
def test_nothing_beside_the_site_is_served(get, path):
    answer = get(path)

    assert answer.status_code == 404
    assert answer.text == "The documentation has no such page. It begins at /docs/.\n"


@pytest.mark.parametrize("path", ["", "start/"])
def test_without_the_site_the_answer_says_how_to_build_it(get, path):
    answer = get(path)

    assert answer.status_code == 404
    assert "make site" in answer.text

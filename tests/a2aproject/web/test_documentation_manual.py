import gzip
import re
import shutil
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from django.test import Client
from drf_spectacular.views import SpectacularSwaggerView

from a2aproject.web import documentation

pytestmark = pytest.mark.one_database

SCRIPT = "document.title = 'A2A'"
GZIP = {"Accept-Encoding": "gzip"}
PAGE = f'<!doctype html><script>{SCRIPT}</script><script id="data" type="application/json">{{}}</script>'


@pytest.fixture
def two_pages(tmp_path, settings):
    """Build a site with two pages, a script and a page of missing addresses."""
    (tmp_path / "html" / "start").mkdir(parents=True)
    files = {"index.html": PAGE, "start/index.html": "<p>Begin", "search.js": "find()", "404.html": f"{PAGE}<p>Nothing"}
    for name, text in files.items():
        (tmp_path / "html" / name).write_text(text)
    (tmp_path / "secret.txt").write_text("secret")
    settings.A2A_SITE = tmp_path / "html"


@pytest.fixture
def get():
    """Return a function that gets a path below /docs/."""
    client = Client()
    return lambda path="", **headers: client.get(f"/docs/{path}", headers=headers)


@pytest.mark.usefixtures("two_pages")
def test_a_page_and_a_file_are_served(get):
    assert get().text == PAGE
    assert get("start/").text == "<p>Begin"
    file = get("search.js")
    assert (file.text, file["Content-Type"]) == ("find()", "text/javascript")


@pytest.mark.usefixtures("two_pages")
def test_a_page_may_run_its_own_inline_script_and_one_style_and_no_others(get):
    rules = dict(rule.split(" ", 1) for rule in get()["Content-Security-Policy"].split("; "))

    digest = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    assert rules["script-src"] == f"'self' 'sha256-{digest}'"
    assert re.fullmatch("'self' 'sha256-[^']+'", rules["style-src"])
    assert "sha256" not in get("search.js")["Content-Security-Policy"]


@pytest.mark.usefixtures("two_pages")
def test_the_address_of_a_page_without_its_slash_leads_to_the_page(get):
    answer = get("start")

    assert (answer.status_code, answer["Location"]) == (302, "/docs/start/")


@pytest.mark.usefixtures("two_pages")
def test_a_browser_keeps_a_page_until_it_changes(get):
    first = get()
    again = get(**{"If-None-Match": first["ETag"]})

    assert first["Cache-Control"] == "no-cache"
    assert again.status_code == 304
    assert again["Content-Security-Policy"] == first["Content-Security-Policy"]


@pytest.mark.usefixtures("two_pages")
@pytest.mark.parametrize("path", ["nothing/", "../secret.txt", "%2e%2e/secret.txt", "start/..", "x" * 5000, "%00"])
def test_nothing_beside_the_site_is_served(get, path):
    answer = get(path)

    assert (answer.status_code, answer.text) == (404, f"{PAGE}<p>Nothing")
    assert answer["Content-Type"] == "text/html"


@pytest.mark.usefixtures("two_pages")
def test_the_page_of_a_missing_address_may_run_its_inline_script_and_is_never_unchanged(get):
    first = get("nothing/")
    again = get("nothing/", **{"If-None-Match": first["ETag"]})

    assert first["Content-Security-Policy"] == get()["Content-Security-Policy"]
    assert again.status_code == 404


@pytest.mark.parametrize("path", ["", "start/"])
def test_without_the_site_the_answer_says_how_to_build_it(get, path):
    answer = get(path)

    assert answer.status_code == 404
    assert "make site" in answer.text


@pytest.mark.usefixtures("two_pages")
def test_while_another_site_replaces_it_the_answer_says_how_to_build_it(get, tmp_path, monkeypatch):
    def replaced(*_):
        yield tmp_path / "html" / "404.html"
        shutil.rmtree(tmp_path / "html")

    monkeypatch.setattr(Path, "rglob", replaced)

    answer = get("nothing/")

    assert answer.status_code == 404
    assert "make site" in answer.text


@pytest.mark.usefixtures("two_pages")
def test_the_site_is_read_and_compressed_once(get, tmp_path):
    paths = ["", "start/", "nothing/"]
    first = [get(path, **GZIP).content for path in paths]
    for name in ("index.html", "start/index.html", "start/nothing", "404.html"):
        (tmp_path / "html" / name).write_text("written in place")

    assert [get(path, **GZIP).content for path in paths] == first
    assert get("start/nothing").status_code == 404


@pytest.mark.usefixtures("two_pages")
def test_a_running_hub_serves_the_site_that_replaced_the_old_one(get, tmp_path):
    old, missing = get(), get("new/")
    (tmp_path / "new" / "new").mkdir(parents=True)
    for name in ("index.html", "new/index.html", "404.html"):
        (tmp_path / "new" / name).write_text(f"<p>A new {name}")
    (tmp_path / "html").rename(tmp_path / "old")
    (tmp_path / "new").rename(tmp_path / "html")

    assert (old.text, missing.status_code) == (PAGE, 404)
    assert (get().text, get("new/").text) == ("<p>A new index.html", "<p>A new new/index.html")


@pytest.mark.usefixtures("two_pages")
def test_a_page_is_compressed_if_that_is_shorter_and_both_forms_have_one_etag(get, tmp_path):
    (tmp_path / "html" / "index.html").write_text(PAGE * 9)
    plain, compressed, short = get(), get(**GZIP), get("search.js", **GZIP)

    assert gzip.decompress(compressed.content) == plain.content
    assert compressed["Content-Encoding"] == "gzip"
    assert plain["ETag"] == compressed["ETag"]
    assert plain["ETag"].startswith('W/"')
    assert plain["Vary"] == compressed["Vary"] == short["Vary"] == "Accept-Encoding"
    assert (short.text, "Content-Encoding" in short) == ("find()", False)
    again = [get(**headers, **{"If-None-Match": plain["ETag"]}) for headers in ({}, GZIP)]
    assert [(one.status_code, one["Vary"], "Content-Encoding" in one) for one in again] == [
        (304, "Accept-Encoding", False)
    ] * 2


def test_the_api_reference_is_rendered_once_from_nothing_of_a_client_s_request(client, monkeypatch):
    documentation._reference.cache_clear()
    first = client.get("/api/docs/?lang=fr&version=2", headers=GZIP)
    monkeypatch.setattr(SpectacularSwaggerView, "get", None)
    second = client.get("/api/docs/")

    assert gzip.decompress(first.content) == second.content
    assert "lang=" not in second.text
    assert "/api/schema/" in second.text
    assert client.get("/api/docs/", headers={"If-None-Match": first["ETag"]}).status_code == 304
    assert second["Cross-Origin-Opener-Policy"] == "unsafe-none"

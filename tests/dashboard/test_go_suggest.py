"""The command palette: objects, pages, keys and values that the text may mean."""

import re
from html import unescape

import pytest

from dashboard.templatetags.ops import short
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


LINE = re.compile(r'(?:href|data-fill)="([^"]*)"><span class="kind">([^<]*)</span> <bdi>([^<]*)</bdi>')


def lines(browser, text):
    """Return (kind, name, address or text of the box) of the lines, without the last, which searches for the text."""
    page = browser.get("/ops/go/suggest/", {"id": text}, headers={"hx-request": "true"})
    assert page.status_code == 200
    assert "<html" not in page.text
    found = LINE.findall(unescape(squeezed(page.text)))
    return [(kind, name, at) for at, kind, name in found if kind != "Search"]


def test_objects_are_suggested_by_their_ids_and_names(vic, alice, bob):
    task = factories.sent_task(alice, bob)

    for text in (task.uuid.hex[:9], short(task.uuid)):
        assert lines(vic, text)[0] == ("Task", str(task.uuid), f"/ops/tasks/{task.uuid}/")
    assert lines(vic, "bo")[0] == ("Agent", "bob@local", "/ops/agents/bob@local/")


def test_pages_keys_and_values_are_suggested(vic, bob):
    assert ("Page", "Leases", "/ops/leases/") in lines(vic, "lea")
    assert lines(vic, "") == lines(vic, " ")
    assert ("Key", "state:", "to:bob -state:") in lines(vic, "to:bob -sta")
    assert lines(vic, "to:bob state:er") == [("Query", "to:bob state:error", "/ops/go/?id=to%3Abob+state%3Aerror")]
    assert lines(vic, "from:bo") == [("Query", "from:bob@local", "/ops/go/?id=from%3Abob%40local")]
    assert lines(vic, "colour:re") == []


@pytest.mark.parametrize("text", ["\x00", "<b>", "x" * 900, "-", ":", '"', "state:\x00", "…"])
def test_odd_text_gets_suggestions_without_harm(vic, text):
    assert "<b>" not in vic.get("/ops/go/suggest/", {"id": text}).text
    lines(vic, text)


def test_suggestions_need_few_queries(vic, bob, django_assert_max_num_queries):
    with django_assert_max_num_queries(16):
        lines(vic, "cd53")

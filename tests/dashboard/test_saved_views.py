"""Saved views: a query of a page under a name, one click away."""

import re
from html import unescape
from typing import Any

import pytest
from django.urls import reverse

from dashboard import urls
from dashboard.saved_views import PAGES, SavablePage
from mailbox.models import SavedView
from tests.support.markup import squeezed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

VIEWS = "/ops/views/"


def form_on(page):
    """Return the page and the query that the form for a new view has."""
    found = re.search(r'name="page" value="([^"]*)"> <input type="hidden" name="query" value="([^"]*)"', squeezed(page))
    assert found, "no form"
    return {"page": found[1], "query": unescape(found[2])}


def chips(page):
    """Return the names of the views beside the search box, the current one with a star."""
    row = re.search(r'<ul class="tabs" aria-label="Saved views">.*?</ul>', squeezed(page), re.DOTALL)
    found = re.findall(r'<a href="[^"]*"( aria-current="true")?>\s*<bdi>([^<]*)</bdi>', row[0]) if row else []
    return [f"*{name}" if current else name for current, name in found]


def save(browser, path, name, **fields):
    shown = browser.get(path)
    return browser.post(VIEWS, {**form_on(shown.text), "name": name, **fields})


def test_every_page_with_views_has_its_own_class():
    views: list[Any] = [route.callback for route in urls.urlpatterns]
    routed = {view.view_class for view in views}

    assert {page.name for page in routed if issubclass(page, SavablePage)} == set(PAGES) == set(SavedView.Page.values)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("tasks/?state=error", "q=state%3Aerror"),
        ("tasks/?q=to:bob&foo=bar", "q=to%3Abob"),
        ("leases/?min_age=10m&sort=newest", "q=age%3A%3E%3D10m&sort=newest"),
        ("results/", "q=delivery%3Apending"),
        ("results/?delivery=all", "q="),
        ("failures/?agent=bob&range=7d", "range=7d&sort=count&agent=bob%40local"),
        ("audit/?follow=1&q=actor:ana", "q=actor%3Aana&follow=1"),
        ("deliveries/?state=disabled", "q=state%3Adisabled"),
        ("agents/?q=state:quiet&sort=name", "q=state%3Aquiet&sort=name"),
        ("trees/?state=open&agent=alice", "state=open&agent=alice"),
        ("charts/?range=24h&agent=bob", "range=24h&agent=bob%40local"),
        ("idempotency/?q=age:%3C1d", "q=age%3A%3C1d"),
        ("repairs/?q=since:24h", "q=since%3A24h"),
        ("repairs/plans/?q=state:done", "q=state%3Adone"),
        ("scheduler/?q=outcome:failed", "q=outcome%3Afailed"),
    ],
)
def test_a_view_leads_back_to_the_same_page(vic, bob, path, query):
    answer = save(vic, f"/ops/{path}", "mine")

    view = SavedView.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"{reverse(f'ops:{view.page}')}?{query}")
    page = vic.get(answer["Location"])
    assert (page.status_code, chips(page.text)) == (200, ["*mine"])
    assert form_on(page.text)["query"] == query


def test_the_current_view_is_marked_however_the_query_was_asked_for(vic):
    save(vic, "/ops/tasks/?state=error", "errors")
    save(vic, "/ops/tasks/?q=state:queued", "waiting")

    assert chips(vic.get("/ops/tasks/?q=state:error").text) == ["*errors", "waiting"]
    assert chips(vic.get("/ops/tasks/?state=queued").text) == ["errors", "*waiting"]
    assert chips(vic.get("/ops/tasks/").text) == ["errors", "waiting"]
    assert chips(vic.get("/ops/leases/").text) == []


def test_an_invalid_query_has_no_form_and_is_not_saved(vic):
    page = vic.get("/ops/tasks/?q=colour:red")

    assert (page.status_code, 'name="query"' in page.text) == (400, False)
    for fields in ({"page": "tasks", "query": "q=colour:red"}, {"page": "charts", "query": "range=9y"}):
        assert vic.post(VIEWS, {"name": "odd", **fields}).status_code == 400
    for page in ("settings", "https://elsewhere.example", ""):
        assert vic.post(VIEWS, {"name": "odd", "page": page, "query": "q="}).status_code == 400
    assert not SavedView.objects.exists()


def test_a_view_whose_query_is_no_longer_valid_opens_with_the_error_of_its_list(vic):
    save(vic, "/ops/tasks/?q=to:bob", "mine")
    SavedView.objects.update(query="q=colour%3Ared")

    page = vic.get("/ops/tasks/?q=colour%3Ared")

    assert (page.status_code, "Unknown key “colour”" in page.text, chips(page.text)) == (400, True, ["mine"])


def test_parameters_that_the_page_does_not_know_are_left_out(vic):
    vic.post(VIEWS, {"page": "tasks", "query": "q=to:bob&next=//elsewhere.example&cursor=x", "name": "mine"})

    assert SavedView.objects.get().query == "q=to%3Abob"


def test_a_refused_name_is_explained_beside_the_form_which_keeps_the_query(vic):
    save(vic, "/ops/tasks/?q=to:bob", "mine")

    page = save(vic, "/ops/tasks/?q=to:amy", "mine")

    assert page.status_code == 422
    assert "You already have a view “mine” on this page." in page.text
    assert form_on(page.text) == {"page": "tasks", "query": "q=to%3Aamy"}
    assert 'value="mine"' in page.text


def test_a_viewer_sees_shared_views_and_shares_none(ana, vic):
    save(ana, "/ops/tasks/?q=to:bob", "team", is_shared="1")

    tasks, views = vic.get("/ops/tasks/").text, squeezed(vic.get(VIEWS).text)
    assert (chips(tasks), 'name="is_shared"' in tasks) == (["team"], False)
    assert ("Shared by others" in views, 'value="unshare"' in views) == (True, False)
    assert save(vic, "/ops/tasks/?q=to:bob", "mine", is_shared="1").status_code == 403
    assert [view.name for view in SavedView.objects.all()] == ["team"]


def change(browser, view, act, **fields):
    return browser.post(f"{VIEWS}{view.pk}/", {"act": act, **fields})


def test_a_person_renames_shares_and_deletes_an_own_view(ana, vic):
    save(ana, "/ops/audit/?q=actor:ana", "mine")
    view = SavedView.objects.get()

    assert change(ana, view, "rename", name="ours").status_code == 303
    assert change(ana, view, "share").status_code == 303
    assert chips(vic.get("/ops/audit/").text) == ["ours"]
    assert change(ana, view, "unshare").status_code == 303
    assert chips(vic.get("/ops/audit/").text) == []
    assert change(ana, view, "rename", name=" ").status_code == 422
    assert change(ana, view, "delete").status_code == 303
    assert not SavedView.objects.exists()


@pytest.mark.parametrize("act", ["rename", "share", "unshare", "delete"])
def test_the_private_view_of_another_person_does_not_exist(ana, ben, act):
    save(ana, "/ops/tasks/?q=to:bob", "mine")

    page = change(ben, SavedView.objects.get(), act, name="theirs")

    assert (page.status_code, "mine" in page.text) == (404, False)
    assert chips(ben.get("/ops/tasks/").text) == []
    assert "mine" not in ben.get(VIEWS).text
    assert [view.name for view in SavedView.objects.all()] == ["mine"]


def test_an_unknown_number_and_an_unknown_act_are_refused(ana):
    save(ana, "/ops/tasks/", "mine")
    view = SavedView.objects.get()

    assert ana.post(f"{VIEWS}junk/", {"act": "delete"}).status_code == 404
    assert ana.post(f"{VIEWS}{'9' * 30}/", {"act": "delete"}).status_code == 404
    assert change(ana, view, "junk").status_code == 400
    assert ana.get(f"{VIEWS}{view.pk}/").status_code == 405


def test_a_form_without_a_token_changes_nothing(ana):
    save(ana, "/ops/tasks/", "mine")
    ana.handler.enforce_csrf_checks = True

    assert change(ana, SavedView.objects.get(), "delete").status_code == 403
    assert SavedView.objects.exists()


def test_many_views_of_a_page_lead_to_the_page_of_all(vic):
    for number in range(14):
        save(vic, "/ops/tasks/", f"view {number:02}")

    page = vic.get("/ops/tasks/").text

    assert (len(chips(page)), "More views" in page) == (12, True)
    assert all(f"view {number:02}" in vic.get(VIEWS).text for number in range(14))


def test_the_palette_suggests_views(ana, vic):
    save(ana, "/ops/tasks/?q=to:bob", "Slow bookings", is_shared="1")
    save(ana, "/ops/audit/", "Slow secrets")

    def suggested(browser, text):
        page = browser.get("/ops/go/suggest/", {"id": text}, headers={"hx-request": "true"})
        return re.findall(r'<span class="kind">View</span> <bdi>([^<]*)</bdi>', squeezed(page.text))

    assert suggested(ana, "slow") == ["Slow secrets", "Slow bookings"]
    assert suggested(vic, "slow") == ["Slow bookings"]
    assert suggested(vic, "nothing") == []

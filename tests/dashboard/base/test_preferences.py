from __future__ import annotations

import pytest

from dashboard.base.preferences import Preferences
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def save(browser, **choices):
    response = browser.post("/ops/settings/", choices)
    assert response.status_code == 303
    return browser.get("/ops/settings/")


@pytest.mark.parametrize(
    ("choice", "value", "shows"),
    [
        ("theme", "dark", 'data-theme="dark"'),
        ("density", "compact", 'data-density="compact"'),
        ("shortcuts", "off", 'data-shortcuts="off"'),
        ("live", "15", 'data-live-ms="15000"'),
        ("zone", "Asia/Tokyo", "JST"),
    ],
)
def test_a_choice_is_in_the_first_byte_of_every_page(ana, choice, value, shows):
    assert shows not in ana.get("/ops/tasks/").text

    save(ana, **{choice: value})

    assert shows in ana.get("/ops/tasks/").text


def test_moments_are_written_as_how_long_ago_where_that_was_chosen(ana, alice, bob):
    factories.sent_task(alice, bob)
    assert " ago<" not in ana.get("/ops/tasks/").text

    save(ana, times="relative")

    assert '</time><span class="ago"> ago</span></td>' in ana.get("/ops/tasks/").text


def test_payloads_stand_behind_a_click_where_that_was_chosen(ana, alice, bob):
    path = f"/ops/tasks/{factories.resolved_task(alice, bob).task.uuid}/"
    assert "Show what it carries" not in ana.get(path).text

    save(ana, hide_payloads="on")

    text = ana.get(path).text
    assert text.index("Show what it carries") < text.index("summarise the report</pre>")
    assert "Show the answer" in text


def test_one_choice_leaves_the_others_as_they_are(ana):
    save(ana, theme="dark", density="compact", hide_payloads="on")

    page = save(ana, live="0")

    kept = page.context["preferences"]
    assert kept == Preferences(theme="dark", density="compact", hide_payloads=True, live=0)


def test_what_does_not_fit_stays_as_it_was(ana):
    page = save(ana, theme="pink", density="tiny", live="1", shortcuts="perhaps", times="never", hide_payloads="")

    assert page.context["preferences"] == Preferences()


def test_a_zone_that_is_none_is_named_and_everything_typed_is_kept(ana):
    response = ana.post("/ops/settings/", {"zone": "Mars/Olympus", "theme": "dark"})

    assert response.status_code == 422
    assert 'value="Mars/Olympus"' in response.text
    assert 'aria-describedby="zone-problem"' in response.text
    assert 'value="dark" checked' in response.text
    assert ana.get("/ops/settings/").context["preferences"] == Preferences()


def test_a_forged_cookie_is_the_default(ana):
    ana.cookies["ops_density"] = '"><script>'

    assert ana.get("/ops/settings/").context["preferences"].density == "comfortable"


def test_nothing_that_was_chosen_can_lead_elsewhere(ana):
    response = ana.post("/ops/settings/", {"live": "0", "next": "https://elsewhere.example/"})

    assert response["Location"] == "/ops/settings/"

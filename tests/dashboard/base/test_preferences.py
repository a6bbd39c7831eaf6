import pytest

from dashboard.base.preferences import Preferences
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def save(browser, **choices):
    response = browser.post("/ops/settings/", choices)
    assert response.status_code == 303
    return browser.get("/ops/settings/")


@pytest.mark.parametrize(
    ("setting", "value", "shows"),
    [
        ("theme", "dark", 'data-theme="dark"'),
        ("density", "compact", 'data-density="compact"'),
        ("shortcuts", "off", 'data-shortcuts="off"'),
        ("live", "15", 'data-live-ms="15000"'),
        ("zone", "Asia/Tokyo", "JST"),
    ],
)
def test_a_saved_setting_shows_in_the_served_page(ana, setting, value, shows):
    assert shows not in ana.get("/ops/tasks/").text

    save(ana, **{setting: value})

    assert shows in ana.get("/ops/tasks/").text


def test_times_are_shown_as_ages_if_the_person_chose_that(ana, alice, bob):
    factories.sent_task(alice, bob)
    assert " ago<" not in ana.get("/ops/tasks/").text

    save(ana, times="relative")

    assert '</time><span class="ago"> ago</span></td>' in ana.get("/ops/tasks/").text


def test_payloads_are_collapsed_if_the_person_chose_that(ana, alice, bob):
    path = f"/ops/tasks/{factories.resolved_task(alice, bob).task.uuid}/"
    assert "Show the conversation" not in ana.get(path).text

    save(ana, hide_payloads="on")

    folded = ana.get(path).text.partition("<summary>Show the conversation</summary>")[2].partition("</section>")[0]
    assert "summarise the report</bdi></p>" in folded
    assert 'id="result"' in folded


def test_saving_one_setting_keeps_the_others(ana):
    save(ana, theme="dark", density="compact", hide_payloads="on")

    page = save(ana, live="0")

    kept = page.context["preferences"]
    assert kept == Preferences(theme="dark", density="compact", hide_payloads=True, live=0)


def test_unknown_setting_values_are_ignored(ana):
    page = save(ana, theme="pink", density="tiny", live="1", shortcuts="perhaps", times="never", hide_payloads="")

    assert page.context["preferences"] == Preferences()


def test_an_unknown_time_zone_is_reported_and_the_form_is_kept(ana):
    response = ana.post("/ops/settings/", {"zone": "Mars/Olympus", "theme": "dark"})

    assert response.status_code == 422
    assert 'value="Mars/Olympus"' in response.text
    assert 'aria-describedby="zone-problem"' in response.text
    assert 'value="dark" checked' in response.text
    assert ana.get("/ops/settings/").context["preferences"] == Preferences()


def test_a_forged_cookie_value_falls_back_to_the_default(ana):
    ana.cookies["ops_density"] = '"><script>'

    assert ana.get("/ops/settings/").context["preferences"].density == "comfortable"


def test_saving_settings_ignores_a_redirect_to_another_site(ana):
    response = ana.post("/ops/settings/", {"live": "0", "next": "https://elsewhere.example/"})

    assert response["Location"] == "/ops/settings/"

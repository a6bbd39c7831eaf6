"""Pictures and sounds of a task in Chromium, under the policy that forbids them to run."""

import pytest

from mailbox.life import updates
from mailbox.words.conversation import Update
from tests.dashboard.conftest import path_of
from tests.support import media, talking
from tests.support.hub import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

# The page of a sound runs no scripts, so no event of it calls back, and the test has to look again.
DURATION = "one => one.readyState ? one.duration : null"


def test_a_picture_is_shown_in_place_and_a_sound_is_played_alone(browse, bob, lease):
    talking.made(bob, lease.task, media.picture(64, 32), media.sound(0.5))
    page = browse("ana")

    page.goto(path_of(lease.task))
    picture = page.locator(".picture img")
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") == 64
    page.click("text=Open player")
    sound = page.locator("video")
    wait_until(lambda: sound.evaluate(DURATION) is not None)
    assert sound.evaluate(DURATION) == 0.5


def test_a_sound_plays_in_place_and_no_update_of_the_page_ends_it(browse, bob, lease):
    updates.post_updates(bob, lease.task.uuid, [Update(message=[media.sound(60)])])
    page = browse("ana", live=5)
    page.goto(path_of(lease.task))
    page.evaluate("() => { window.sound = document.querySelector('audio'); return window.sound.play(); }")
    page.wait_for_function("() => window.sound.currentTime > 0")

    talking.told(bob, lease.task, "and more")
    page.wait_for_function("() => window.sound.closest('[data-live]').hasAttribute('data-held')")
    with page.expect_response(lambda answer: answer.request.headers.get("hx-request") == "true"):
        page.evaluate("() => window.sound.closest('[data-live]').dispatchEvent(new Event('live:tick'))")

    page.wait_for_function("() => !document.querySelector('.htmx-request')")
    assert page.evaluate("() => window.sound.isConnected && !window.sound.paused")
    page.evaluate("() => window.sound.pause()")
    page.get_by_text("and more").first.wait_for()


def test_a_listener_moves_on_in_a_sound(browse, bob, lease):
    updates.post_updates(bob, lease.task.uuid, [Update(message=[media.sound(60)])])
    page = browse("ana")
    page.goto(path_of(lease.task))
    page.evaluate("() => { window.sound = document.querySelector('audio'); return window.sound.play(); }")

    page.evaluate("() => { window.sound.pause(); window.sound.currentTime = 40; }")

    page.wait_for_function("() => !window.sound.seeking")
    assert page.evaluate("() => window.sound.currentTime") == 40


def test_a_tree_of_json_opens_without_scripts(browse, bob, lease):
    talking.made(bob, lease.task, {"type": "json", "value": {"offers": [{"eur": 412}]}})
    page = browse("ana", scripts=False)

    page.goto(path_of(lease.task))
    for branch in ("offers", "0"):
        page.locator(".json summary", has_text=branch).last.click()

    assert page.get_by_text("412").first.is_visible()

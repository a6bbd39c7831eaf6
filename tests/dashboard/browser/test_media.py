"""Pictures and sounds of a task in Chromium, under the policy that forbids them to run."""

from __future__ import annotations

import pytest

from tests.dashboard.conftest import path_of
from tests.support import media, talking

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]


def test_a_picture_is_shown_in_place_and_a_sound_is_played_alone(browse, bob, lease):
    talking.made(bob, lease.task, media.picture(64, 32), media.sound(0.5))
    page = browse("ana")

    page.goto(path_of(lease.task))
    page.click("details.artifact summary")
    page.wait_for_function("[...document.images].map(one => one.naturalWidth).join() === '64'")
    page.click("text=Play it")
    page.wait_for_function("document.querySelector('video')?.duration === 0.5")


def test_a_tree_of_json_opens_without_scripts(browse, bob, lease):
    talking.made(bob, lease.task, {"type": "json", "value": {"offers": [{"eur": 412}]}})
    page = browse("ana", scripts=False)

    page.goto(path_of(lease.task))
    page.click("details.artifact > summary")
    for branch in ("offers", "0"):
        page.locator(".json summary", has_text=branch).last.click()

    assert page.get_by_text("412").first.is_visible()

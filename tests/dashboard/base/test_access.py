import re
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import get_resolver, reverse

from dashboard.base.page import DashboardView
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

OPEN = {"sign-in", "favicon"}  # without a session
# A POST that changes only what is the person's own.
OWN = {"views", "view", "sign-in", "second-step", "sign-out", "settings", "password", "second-factor"}
SAMPLES = {"uuid": str(uuid.UUID(int=1)), "int": "1", "slug": "csv", "str": "alice@local"}


def routes():
    """Yield (name, path, view) of each route under /ops/."""
    ops: Any = next(one for one in get_resolver().url_patterns if getattr(one, "app_name", None) == "ops")
    for pattern in ops.url_patterns:
        path = re.sub(r"<(\w+):\w+>", lambda match: SAMPLES[match[1]], str(pattern.pattern))
        yield pattern.name, f"/ops/{path}", pattern.callback.view_class


ROUTES = list(routes())


@pytest.mark.parametrize(("name", "path", "view"), ROUTES, ids=[name for name, *_ in ROUTES])
def test_every_page_except_sign_in_and_favicon_requires_a_session(name, path, view):
    response = Client().get(path)

    if name in OPEN:
        assert response.status_code == 200
    elif "get" in view.http_method_names:
        assert response.status_code == 302
        assert response["Location"].partition("?next=")[0] == reverse("ops:sign-in")
        assert bool(response["Location"].partition("?next=")[2]) is (name != "second-step")


@pytest.mark.parametrize(("name", "path", "view"), ROUTES, ids=[name for name, *_ in ROUTES])
def test_every_change_by_a_viewer_is_refused_and_journalled(vic, name, path, view):
    if not hasattr(view, "post") or name in OWN:
        return

    response = vic.post(path)

    assert issubclass(view, DashboardView)
    assert response.status_code == 403
    assert view.needs in response.text
    assert factories.last_event().kind == Kind.CAPABILITY_CHECK
    assert factories.last_event().actor == "user:vic"
    assert factories.last_event().source == "dashboard"


def test_a_person_without_a_group_sees_nothing(sign_in):
    assert sign_in("nobody", None).get("/ops/leases/").status_code == 403


def test_an_api_key_opens_no_page(olga):
    key = factories.key_of(olga)

    assert Client().get("/ops/leases/", headers={"authorization": f"Bearer {key}"}).status_code == 302


def test_a_session_opens_no_api(ana):
    assert ana.get("/a2a/queue").status_code == 401


def test_a_form_from_another_site_changes_nothing(ana):
    assert ana.post("/ops/settings/", {"theme": "dark"}, headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_failed_sign_ins_lock_out_the_account_from_that_address_only(settings):
    User.objects.create_user("ana", password="correct horse battery")

    wrong = {"username": "ana", "password": "wrong"}
    guesses = [Client().post("/ops/sign-in/", wrong) for _ in range(settings.AXES_FAILURE_LIMIT)]
    right = {"username": "ana", "password": "correct horse battery"}

    assert [guess.status_code for guess in guesses[-2:]] == [200, 429]
    assert Client().post("/ops/sign-in/", right).status_code == 429
    assert Client(REMOTE_ADDR="192.0.2.7").post("/ops/sign-in/", right).status_code == 302


def test_sign_in_returns_to_the_requested_page_of_this_hub_only():
    User.objects.create_user("ana", password="correct horse battery")
    form = {"username": "ana", "password": "correct horse battery"}

    inside = Client().post("/ops/sign-in/", {**form, "next": "/ops/leases/?state=stale"})
    outside = Client().post("/ops/sign-in/", {**form, "next": "https://elsewhere.example/"})

    assert inside["Location"] == "/ops/leases/?state=stale"
    assert outside["Location"] == "/ops/"


def test_the_content_security_policy_allows_no_inline_code(ana):
    policy = ana.get("/ops/leases/")["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "nonce" not in policy


def test_an_unknown_path_gets_a_404_page(ana):
    response = ana.get("/ops/nowhere/")

    assert response.status_code == 404
    assert "Page not found" in response.text


@pytest.mark.parametrize("path", [*(path for name, path, _ in ROUTES if name != "favicon"), "/ops/nowhere/", "/admin/"])
def test_no_cache_keeps_an_answer_to_a_person_or_a_stranger(ana, path):
    answers = [Client().get(path), ana.get(path), ana.post(path, headers={"Sec-Fetch-Site": "cross-site"})]

    assert ["no-store" in answer.get("Cache-Control", "") for answer in answers] == [True, True, True]


@pytest.mark.parametrize("path", ["repairs/1/discard/", "repairs/1/continue/", f"tasks/{uuid.UUID(int=9)}/read/"])
def test_a_post_only_path_answers_get_with_405_and_explains(ana, path):
    response = ana.get(f"/ops/{path}")

    assert (response.status_code, response["Allow"]) == (405, "POST")
    assert "Nothing was changed" in response.text
    assert ana.put("/ops/leases/").status_code == 405


def test_a_get_of_sign_out_keeps_the_person_signed_in(ana):
    assert ana.get("/ops/sign-out/", follow=True).redirect_chain[-1] == ("/ops/", 302)
    assert ana.get("/ops/").status_code == 200


def test_settings_are_kept_in_the_browser(ana):
    response = ana.post("/ops/settings/", {"theme": "dark", "zone": "Asia/Tokyo", "live": "0"})

    assert response.status_code == 303
    page = ana.get("/ops/settings/")
    assert 'data-theme="dark"' in page.text
    assert "JST" in page.text


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "\x00", ""])
def test_an_unknown_time_zone_is_refused(ana, zone):
    assert ana.post("/ops/settings/", {"zone": zone}).status_code == 422

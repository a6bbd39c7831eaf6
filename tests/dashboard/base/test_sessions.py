"""How long a session lasts, and how its person gets back to what they did."""

from datetime import timedelta

import pytest
import time_machine
from django.db import OperationalError, connection
from django.test import Client

from dashboard.base import sessions
from mailbox.access.callers import Role
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of
from tests.support import factories
from tests.support.cast import *  # noqa: F403 (fixtures)

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

START = "2026-01-01T12:00Z"
LIVE = {"hx-request": "true", "x-seen": "0", "hx-current-url": "http://testserver/ops/leases/?state=stale"}
DIALOG = {"hx-request": "true", "hx-current-url": "http://testserver/ops/leases/?state=stale"}
OWN = {"sec-fetch-site": "same-origin"}
BACK = "/ops/sign-in/?next=%2Fops%2Fleases%2F%3Fstate%3Dstale"


@pytest.fixture
def clock():
    with time_machine.travel(START, tick=False) as clock:
        yield clock


@pytest.mark.parametrize("path", ["/ops/leases/?state=stale", "/admin/?q=1"])
def test_an_idle_session_ends_and_leads_back_through_the_sign_in(clock, sign_in, path):
    ana = sign_in("ana", Role.OPERATOR)
    clock.shift(timedelta(minutes=60))

    ended = ana.get(path)

    assert ended.status_code == 302
    assert ended["Location"].partition("?next=")[2].replace("%3F", "?").replace("%3D", "=") == path
    (row,) = factories.journal(Kind.PERSON_SIGNED_OUT)
    assert (row.actor, row.fields) == ("user:ana", {"username": "ana", "reason": "idle"})


def test_a_used_session_ends_at_its_limit(clock, sign_in):
    ana = sign_in("ana", Role.OPERATOR)
    for _ in range(23):
        clock.shift(timedelta(minutes=30))
        assert ana.get("/ops/leases/").status_code == 200

    clock.shift(timedelta(minutes=30))

    assert ana.get("/ops/leases/").status_code == 302
    assert factories.journal(Kind.PERSON_SIGNED_OUT)[0].fields["reason"] == "limit"


def test_a_page_that_refreshes_itself_does_not_keep_a_session_alive(clock, sign_in):
    ana = sign_in("ana", Role.OPERATOR)
    for _ in range(59):
        clock.shift(timedelta(minutes=1))
        assert ana.get("/ops/leases/", headers=LIVE).status_code == 200

    clock.shift(timedelta(minutes=1))
    ended = ana.get("/ops/leases/?state=stale", headers=LIVE)

    assert ended.status_code == 204
    assert ended["X-Signed-Out"] == BACK
    assert "HX-Redirect" not in ended


def test_a_dialog_of_an_ended_session_leads_to_the_sign_in_and_back(clock, sign_in):
    ana = sign_in("ana", Role.OPERATOR)
    clock.shift(timedelta(hours=2))

    assert ana.get("/ops/leases/", headers=DIALOG)["HX-Redirect"] == BACK


def test_a_typed_form_outlives_the_session(clock, sign_in):
    ana = sign_in("ana", Role.OPERATOR)
    typed = {"recipient": "bob@local", "text": "pay <the> invoice", "reason": "", "old_password": "hidden"}
    clock.shift(timedelta(hours=2))

    kept = ana.post("/ops/send/?to=bob", typed, headers=OWN)
    again = fields_of(kept)

    assert kept.status_code == 403
    assert 'action="/ops/send/?to=bob"' in kept.text
    assert 'href="/ops/sign-in/" target="_blank"' in kept.text
    assert again.pop("csrfmiddlewaretoken")
    assert again == {"recipient": "bob@local", "text": "pay &lt;the&gt; invoice", "reason": ""}


def test_a_form_of_another_site_is_not_repeated():
    answer = Client().post("/ops/send/", {"text": "x"}, headers={"sec-fetch-site": "same-site"})

    assert answer.status_code == 302


def test_a_session_of_an_earlier_version_ends(sign_in):
    ana = sign_in("ana", Role.OPERATOR)
    kept = ana.session
    del kept[sessions.SIGNED_IN_AT]
    kept.save()

    assert ana.get("/ops/").status_code == 302


def test_a_database_that_takes_no_writes_still_shows_pages(clock, sign_in):
    ana = sign_in("ana", Role.OPERATOR)
    clock.shift(timedelta(minutes=5))

    def refuse(execute, sql, params, many, context):
        if sql.startswith("UPDATE"):
            raise OperationalError("read-only")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        assert ana.get("/ops/leases/").status_code == 200


def test_the_cookie_lasts_as_long_as_the_session(settings):
    assert settings.SESSION_COOKIE_AGE == 12 * 3600

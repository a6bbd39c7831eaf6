"""The one sign-in of the dashboard and of Django's admin: bounded, without hints about names, and journalled."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth import hashers
from django.contrib.auth.models import User
from django.test import Client

from mailbox.access.callers import Role
from mailbox.access.people import passwords
from mailbox.models import AuditEvent
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

PASSWORD = "correct horse battery"
DOORS = ("/ops/sign-in/", "/admin/login/")
RIGHT = {"username": "ana", "password": PASSWORD}
WRONG = {"username": "ana", "password": "wrong"}


@pytest.fixture
def person():
    """An operator who may also open Django's admin."""
    factories.person("ana", Role.OPERATOR)
    ana = User.objects.get(username="ana")
    ana.set_password(PASSWORD)
    ana.is_staff = True
    ana.save()
    return ana


def rows():
    return [(row.kind, row.actor, row.address, row.fields) for row in AuditEvent.objects.order_by("pk")]


@pytest.mark.parametrize("door", DOORS)
def test_a_fifth_password_at_once_is_refused_with_a_page(person, monkeypatch, door):
    begun, go_on = threading.Barrier(passwords.MOST_AT_ONCE + 1), threading.Event()

    def occupy():
        with passwords.admitted("ben", "192.0.2.9"):
            begun.wait()
            go_on.wait()

    with ThreadPoolExecutor(passwords.MOST_AT_ONCE) as threads:
        checks = [threads.submit(occupy) for _ in range(passwords.MOST_AT_ONCE)]
        begun.wait()
        busy = Client().post(door, RIGHT)
        shown = Client().get(door)
        go_on.set()
        for check in checks:
            check.result()
    after = Client().post(door, RIGHT)

    assert (busy.status_code, busy["Retry-After"]) == (503, "1")
    assert "busy with other sign-ins" in busy.text
    assert 'value="ana"' in busy.text
    assert PASSWORD not in busy.text
    assert (shown.status_code, after.status_code) == (200, 302)
    assert not factories.journal(Kind.PERSON_SIGN_IN_FAILED)


@pytest.mark.parametrize("name", ["ana", "nobody", "gone", "keyless"])
def test_every_name_costs_one_check_of_a_hash(person, monkeypatch, name):
    User.objects.create_user("gone", password=PASSWORD, is_active=False)
    User.objects.create_user("keyless", password=None)
    hashed = []
    quick = hashers.get_hasher().__class__
    encode = quick.encode

    def counted(self, password, salt):
        hashed.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(quick, "encode", counted)

    Client().post("/ops/sign-in/", {"username": name, "password": "wrong"})

    assert len(hashed) == 1


def test_a_locked_name_is_told_when_to_return(person, settings):
    for _ in range(settings.AXES_FAILURE_LIMIT):
        Client().post("/ops/sign-in/", WRONG)

    answer = Client().post("/ops/sign-in/", RIGHT)

    assert (answer.status_code, answer["Retry-After"]) == (429, "900")


@pytest.mark.parametrize("door", DOORS)
def test_a_sign_in_and_a_sign_out_are_journalled_with_the_address(person, door):
    browser = Client(REMOTE_ADDR="192.0.2.7")

    browser.post(door, RIGHT)
    browser.post("/ops/sign-out/" if door == DOORS[0] else "/admin/logout/")

    assert rows() == [
        (Kind.PERSON_SIGNED_IN, "user:ana", "192.0.2.7", {"username": "ana"}),
        (Kind.PERSON_SIGNED_OUT, "user:ana", "192.0.2.7", {"username": "ana", "reason": "person"}),
    ]


def test_a_sign_out_without_a_session_is_not_journalled():
    assert Client().post("/ops/sign-out/").status_code == 302
    assert rows() == []


def test_failures_and_the_lock_are_journalled_and_counted(person, settings):
    for _ in range(settings.AXES_FAILURE_LIMIT + 2):
        Client(REMOTE_ADDR="192.0.2.7").post("/ops/sign-in/", WRONG)

    assert rows() == [
        (Kind.PERSON_SIGN_IN_FAILED, "anonymous", "192.0.2.7", {"username": "ana", "reason": "password", "count": 1}),
        (Kind.PERSON_LOCKED_OUT, "anonymous", "192.0.2.7", {"username": "ana", "count": 1}),
    ]


def test_a_name_without_an_account_is_not_journalled():
    for name in ("my secret passphrase", "another one"):
        Client().post("/ops/sign-in/", {"username": name, "password": "x"})

    ((kind, actor, _, fields),) = rows()
    assert (kind, actor) == (Kind.PERSON_SIGN_IN_FAILED, "anonymous")
    assert fields == {"username": "unknown name", "reason": "password", "count": 1}


def test_a_person_who_may_not_open_the_admin_is_refused_there(ana):
    answer = ana.get("/admin/", follow=True)

    assert answer.status_code == 403
    assert "Access denied" in answer.text


def test_the_right_password_gets_in_after_the_delay_although_others_guess_on(person):
    def guesses():
        for number in range(passwords.OF_A_NAME.burst):
            Client(REMOTE_ADDR=f"2001:db8:{number:x}::1").post("/ops/sign-in/", WRONG)

    with time_machine.travel("2026-01-01T12:00Z", tick=False) as clock:
        guesses()
        browser = Client(REMOTE_ADDR="192.0.2.7")
        told = browser.post("/ops/sign-in/", RIGHT)
        clock.shift(timedelta(seconds=passwords.DELAY))
        guesses()
        entered = browser.post("/ops/sign-in/", {**RIGHT, "ticket": fields_of(told)["ticket"]})

    assert (told.status_code, told["Retry-After"]) == (429, "20")
    assert "Wait 20 seconds, then send it again." in told.text
    assert entered.status_code == 302
    assert factories.journal(Kind.PERSON_SIGNED_IN)


@pytest.mark.django_db
def test_a_head_request_to_the_sign_in_is_answered(client):
    assert client.head("/ops/sign-in/").status_code == 200

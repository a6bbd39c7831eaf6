"""The second factor on the pages: set up, checked at every door, required by a setting, removed."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from dashboard.people.sign_in import LASTS
from mailbox.access.callers import Role
from mailbox.access.people import second_factor
from mailbox.models import SecondFactor
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.codes import code_of

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

PAGE, STEP_TWO = "/ops/settings/second-factor/", "/ops/sign-in/code/"
PASSWORD = "correct horse battery"
RIGHT = {"username": "ada", "password": PASSWORD}


@pytest.fixture
def clock():
    with time_machine.travel("2026-01-01T12:00:05Z", tick=False) as clock:
        yield clock


@pytest.fixture
def ada(clock):
    """An admin who may open Django's admin."""
    factories.person("ada", Role.ADMIN)
    ada = User.objects.get(username="ada")
    ada.set_password(PASSWORD)
    ada.is_staff = True
    ada.save()
    return ada


@pytest.fixture
def enter(ada):
    """Return a function that gives the password at a door, and returns the browser and the answer."""

    def entered(door="/ops/sign-in/", after=""):
        browser = Client(REMOTE_ADDR="192.0.2.7")
        return browser, browser.post(door, {**RIGHT, "next": after})

    return entered


@pytest.fixture
def codes(ada, enter, clock):
    """The recovery codes of the admin, whose second factor is on."""
    browser, _ = enter()
    found = set_up(browser, ada)
    clock.shift(timedelta(minutes=1))
    return found


def set_up(browser, person):
    """Turn the second factor on; return the recovery codes that the page shows."""
    browser.post(PAGE, {"act": "start"})
    pending = second_factor.pending_of(person)
    assert pending is not None
    shown = browser.get(PAGE).text
    assert second_factor.typed_key(pending) in shown
    assert "data:image/svg+xml" in shown
    done = browser.post(PAGE, {"act": "confirm", "code": code_of(pending)})
    return re.findall(r"(?:[a-z2-7]{4}-){3}[a-z2-7]{4}", done.text)


def app_code(person, **later):
    return code_of(SecondFactor.objects.get(user=person), **later)


def is_in(browser):
    return browser.get("/ops/").status_code == 200


def test_the_recovery_codes_are_shown_once(codes, enter, ada):
    browser, _ = enter()
    browser.post(STEP_TWO, {"code": codes[0]})

    page = browser.get(PAGE).text
    assert len({*codes}) == 10
    assert not [code for code in codes if code in page]
    assert "9 recovery codes are left" in " ".join(page.split())


@pytest.mark.parametrize("door", ["/ops/sign-in/", "/admin/login/"])
def test_every_door_asks_for_a_code_and_leads_on(codes, enter, ada, door):
    browser, answer = enter(door, after="/admin/auth/user/")

    assert answer["Location"] == STEP_TWO
    for path in ("/ops/", "/admin/"):
        assert browser.get(path).status_code == 302
    assert len(factories.journal(Kind.PERSON_SIGNED_IN)) == 1
    entered = browser.post(STEP_TWO, {"code": app_code(ada)})
    assert entered["Location"] == "/admin/auth/user/"
    assert (is_in(browser), browser.get("/admin/auth/user/").status_code) == (True, 200)
    assert len(factories.journal(Kind.PERSON_SIGNED_IN)) == 2


def test_a_wrong_code_is_journalled_and_lets_nobody_in(codes, enter):
    browser, _ = enter()

    wrong = browser.post(STEP_TWO, {"code": "000000"})
    waiting = browser.post(STEP_TWO, {"code": "000000"})

    assert (wrong.status_code, waiting.status_code) == (422, 422)
    assert "Incorrect code" in wrong.text
    assert "Try again in 1 second" in waiting.text
    assert not is_in(browser)
    row = factories.journal(Kind.PERSON_SIGN_IN_FAILED)[0]
    assert (row.address, row.fields) == ("192.0.2.7", {"username": "ada", "reason": "code", "count": 1})


def test_the_second_step_waits_five_minutes(codes, enter, ada, clock):
    browser, _ = enter()
    clock.shift(timedelta(seconds=LASTS + 1))

    assert browser.post(STEP_TWO, {"code": app_code(ada)})["Location"] == "/ops/sign-in/"
    assert not is_in(browser)


@pytest.mark.parametrize("change", ["password", "inactive"])
def test_the_second_step_ends_with_the_password_or_the_account(codes, enter, ada, change):
    browser, _ = enter()
    if change == "password":
        ada.set_password("another long sentence")
    ada.is_active = change == "password"
    ada.save()

    assert browser.post(STEP_TWO, {"code": app_code(ada)})["Location"] == "/ops/sign-in/"
    assert not is_in(browser)


def test_the_second_step_alone_opens_nothing(codes, ada):
    assert Client().get(STEP_TWO)["Location"] == "/ops/sign-in/"
    assert Client().post(STEP_TWO, {"code": app_code(ada)})["Location"] == "/ops/sign-in/"


def test_turning_it_on_ends_sessions_that_began_without_a_code(enter, ada):
    (here, _), (elsewhere, _) = enter(), enter()

    set_up(here, ada)

    assert (is_in(here), is_in(elsewhere)) == (True, False)


def test_a_wrong_first_code_turns_nothing_on(enter, ada):
    browser, _ = enter()
    browser.post(PAGE, {"act": "start"})

    refused = browser.post(PAGE, {"act": "confirm", "code": "000000"})

    assert refused.status_code == 422
    assert second_factor.of_person(ada) is None


def test_a_person_removes_it_with_a_recent_proof(codes, enter, ada, clock):
    browser, _ = enter()
    browser.post(STEP_TWO, {"code": codes[0]})

    assert browser.post(PAGE, {"act": "remove"}).status_code == 303
    assert second_factor.of_person(ada) is None
    assert enter()[1]["Location"] == "/ops/"


@pytest.mark.parametrize(
    ("required", "role", "is_led"),
    [
        *(("off", Role.ADMIN, False), ("admins", Role.ADMIN, True), ("admins", Role.OPERATOR, False)),
        *(("everyone", Role.VIEWER, True), ("everyone", Role.ADMIN, True)),
    ],
)
def test_a_setting_leads_people_to_the_set_up_first(settings, sign_in, required, role, is_led):
    settings.A2A_REQUIRE_SECOND_FACTOR = required
    browser = sign_in("una", role)
    User.objects.filter(username="una").update(is_staff=True)

    answers = [browser.get("/ops/leases/?state=stale"), browser.get("/admin/?q=1"), browser.post("/ops/send/", {})]

    led = [answer.get("Location", "").startswith(f"{PAGE}?next=") for answer in answers]
    assert led == [is_led] * 3
    assert browser.get(PAGE).status_code == 200
    dialog = browser.get("/ops/leases/", headers={"hx-request": "true"})
    assert dialog.get("HX-Redirect", "").startswith(PAGE) is is_led
    assert browser.post("/ops/sign-out/").status_code == 302


def test_an_open_browser_neither_shows_nor_confirms_an_old_set_up(enter, ada, clock):
    browser, _ = enter()
    browser.post(PAGE, {"act": "start"})
    pending = second_factor.pending_of(ada)
    assert pending is not None
    clock.shift(second_factor.PENDING_FOR)

    shown = browser.get(PAGE)
    browser.post(PAGE, {"act": "confirm", "code": code_of(pending)})

    assert shown.status_code == 200
    assert second_factor.typed_key(pending) not in shown.text
    assert second_factor.of_person(ada) is None


def test_the_set_up_that_a_setting_requires_leads_on(settings, enter, ada):
    settings.A2A_REQUIRE_SECOND_FACTOR = "everyone"
    browser, _ = enter()
    led = browser.get("/ops/leases/?state=stale")["Location"]

    browser.post(led, {"act": "start"})
    pending = second_factor.pending_of(ada)
    assert pending is not None
    done = browser.post(led, {"act": "confirm", "code": code_of(pending)})

    assert 'href="/ops/leases/?state=stale"' in done.text
    assert browser.get("/ops/leases/").status_code == 200


def test_a_session_without_a_code_signs_in_again_where_a_setting_requires_one(settings, codes, sign_in, ada):
    browser = Client()
    browser.force_login(ada, backend="django.contrib.auth.backends.ModelBackend")
    settings.A2A_REQUIRE_SECOND_FACTOR = "admins"

    assert browser.get("/ops/leases/")["Location"] == "/ops/sign-in/?next=%2Fops%2Fleases%2F"
    assert not is_in(browser)
    (row,) = factories.journal(Kind.PERSON_SIGNED_OUT)
    assert (row.actor, row.fields) == ("user:ada", {"username": "ada", "reason": "second factor"})


def test_an_api_key_needs_no_second_factor(settings, codes):
    settings.A2A_REQUIRE_SECOND_FACTOR = "everyone"
    key = factories.key_of(factories.person("olga", Role.OPERATOR))

    assert Client().get("/a2a/queue", headers={"x-api-key": key}).status_code == 200


def test_the_admin_shows_no_keys_of_second_factors(enter, codes):
    browser, _ = enter()
    browser.post(STEP_TWO, {"code": codes[0]})

    assert browser.get("/admin/otp_totp/totpdevice/").status_code == 404
    assert browser.get("/admin/otp_static/staticdevice/").status_code == 404


def test_an_admin_removes_the_lost_second_factor_of_another_person(codes, sign_in, ada, clock):
    browser = sign_in("una", Role.ADMIN)
    User.objects.filter(username="una").update(is_staff=True)

    answer = browser.post("/admin/auth/user/", {"action": "reset_second_factor", "_selected_action": str(ada.pk)})

    assert answer.status_code == 302
    assert second_factor.of_person(ada) is None
    (row,) = factories.journal(Kind.SECOND_FACTOR_REMOVED)
    assert (row.actor, row.fields) == ("user:una", {"username": "ada"})

"""A person's own password and sessions."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from a2aproject.management.commands import serve
from mailbox.access.callers import Role
from mailbox.access.people.passwords import MOST_AT_ONCE, admitted
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

PAGE = "/ops/settings/password/"
OLD, NEW = "correct horse battery", "another long sentence"
CHANGE = {"act": "change", "old_password": OLD, "new_password1": NEW, "new_password2": NEW}


@pytest.fixture
def enter():
    """Return a function that signs the person in from an address, through the sign-in."""

    def entered(address="192.0.2.7", name="vic", password=OLD):
        browser = Client(REMOTE_ADDR=address)
        assert browser.post("/ops/sign-in/", {"username": name, "password": password}).status_code == 302
        return browser

    factories.person("vic", Role.VIEWER)
    vic = User.objects.get(username="vic")
    vic.set_password(OLD)
    vic.save()
    return entered


def is_signed_in(browser):
    return browser.get("/ops/").status_code == 200


def test_every_role_changes_its_own_password_which_ends_other_sessions(enter):
    here, elsewhere = enter(), enter("192.0.2.8")

    changed = here.post(PAGE, CHANGE)

    assert changed.status_code == 303
    assert "Password changed" in here.get(PAGE).text
    assert (is_signed_in(here), is_signed_in(elsewhere)) == (True, False)
    enter(password=NEW)
    (row,) = factories.journal(Kind.PERSON_CHANGED)
    assert (row.actor, row.address) == ("user:vic", "192.0.2.7")
    assert row.fields == {"username": "vic", "password": "changed"}


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("old_password", "wrong", "Incorrect current password."),
        ("old_password", "", "This field is required."),
        ("new_password1", "short", "password fields didn"),
        ("new_password2", "something else entirely", "password fields didn"),
    ],
)
def test_a_refused_change_changes_nothing_and_repeats_no_password(enter, field, value, problem):
    here = enter()

    refused = here.post(PAGE, {**CHANGE, field: value})

    assert refused.status_code == 422
    assert problem in refused.text
    assert OLD not in refused.text
    assert NEW not in refused.text
    assert User.objects.get(username="vic").check_password(OLD)


@pytest.mark.parametrize("weak", ["short", "startfinding"])
def test_a_weak_password_is_refused(enter, weak):
    refused = enter().post(PAGE, {**CHANGE, "new_password1": weak, "new_password2": weak})

    assert refused.status_code == 422
    assert "This password is too" in refused.text


def test_guesses_of_the_current_password_lock_as_at_the_sign_in(enter, settings):
    here = enter()

    answers = [here.post(PAGE, {**CHANGE, "old_password": "x"}) for _ in range(settings.AXES_FAILURE_LIMIT)]

    assert [answer.status_code for answer in answers][-2:] == [422, 429]
    assert is_signed_in(here)
    assert factories.journal(Kind.PERSON_LOCKED_OUT)


def test_a_busy_hub_says_when_to_try_again(enter):
    here = enter()
    blocks = [admitted(f"guess {number}", "192.0.2.9") for number in range(MOST_AT_ONCE)]
    for block in blocks:
        block.__enter__()

    busy = here.post(PAGE, CHANGE)

    for block in blocks:
        block.__exit__(None, None, None)
    assert (busy.status_code, busy["Retry-After"]) == (503, "1")
    assert here.post(PAGE, CHANGE).status_code == 303


def test_sessions_are_listed_and_ended_elsewhere(enter):
    here, elsewhere = enter(), enter("192.0.2.8")

    listed = here.get(PAGE).text
    ended = here.post(PAGE, {"act": "elsewhere", "old_password": OLD})

    assert "192.0.2.7" in listed
    assert "192.0.2.8" in listed
    assert listed.count("this session") == 1
    assert ended.status_code == 303
    assert (is_signed_in(here), is_signed_in(elsewhere)) == (True, False)
    assert "192.0.2.8" not in here.get(PAGE).text
    assert factories.journal(Kind.PERSON_SIGNED_OUT)[0].fields["reason"] == "everywhere"
    enter()


def test_sessions_of_others_are_not_listed(enter, sign_in):
    sign_in("ana", Role.OPERATOR)

    assert enter().get(PAGE).text.count("<tr>") == 2


def test_the_first_password_is_pointed_out_until_it_is_changed(settings):
    made = serve.create_operator_and_agent()
    assert made is not None
    browser = Client()
    browser.post("/ops/sign-in/", {"username": "operator", "password": made.password})

    before = browser.get("/ops/").text
    browser.post(PAGE, {**CHANGE, "old_password": made.password})
    after = browser.get("/ops/").text

    assert "You still use the password from the first start." in before
    assert "You still use the password from the first start." not in after


def test_the_admin_leads_to_the_same_page(ana):
    assert ana.get("/admin/password_change/")["Location"] == PAGE

"""Changes of rights ask for a password or a code that is at most a quarter of an hour old, and go on with it."""

from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import Group, User
from django.test import Client

from mailbox.access.people import second_factor
from mailbox.models import ApiKey, CapabilityGrant
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of
from tests.support import factories
from tests.support.cast import *  # noqa: F403 (fixtures)
from tests.support.codes import code_of

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

PASSWORD = "correct horse battery"
PEOPLE = "/admin/auth/user/"
NEW = {
    "username": "new",
    "usable_password": "true",
    "password1": "a long new sentence",
    "password2": "a long new sentence",
}


@pytest.fixture
def clock():
    with time_machine.travel("2026-01-01T12:00:05Z", tick=False) as clock:
        yield clock


@pytest.fixture
def ada(clock):
    """The browser of an admin, a quarter of an hour after the sign-in."""
    ada = User.objects.create_user("ada", password=PASSWORD, is_staff=True)
    ada.groups.add(Group.objects.get(name="admin"))
    browser = Client(REMOTE_ADDR="192.0.2.7")
    browser.post("/ops/sign-in/", {"username": "ada", "password": PASSWORD})
    clock.shift(timedelta(minutes=15))
    return browser


def proved(page, **proof):
    """Return the fields of the page that asks for a proof, with one filled in."""
    return {**fields_of(page), "proof_password": "", **proof}


def test_grants_and_keys_are_revoked_after_a_proof_and_nothing_chosen_is_lost(ada, alice):
    grant = factories.grant(alice, "a2a.compact")
    factories.key_of(alice)
    for path, row in (("capabilitygrant", grant), ("apikey", ApiKey.objects.get(agent=alice.agent))):
        chosen = {"action": "revoke", "_selected_action": str(row.pk)}
        asked = ada.post(f"/admin/mailbox/{path}/", chosen)
        row.refresh_from_db()
        before = row.revoked_at
        done = ada.post(f"/admin/mailbox/{path}/", proved(asked, proof_password=PASSWORD))
        row.refresh_from_db()

        assert (asked.status_code, before) == (403, None)
        assert "Confirm your identity" in asked.text
        assert (done.status_code, done["Location"]) == (302, f"/admin/mailbox/{path}/")
        assert row.revoked_at is not None
        kept = ada.session
        kept["proved_at"] = 0
        kept.save()
    assert CapabilityGrant.objects.filter(revoked_at=None).exclude(pk=grant.pk).exists()


def test_a_person_is_changed_after_a_proof(ada):
    other = User.objects.create_user("una", password=PASSWORD)
    viewer = Group.objects.get(name="viewer").pk
    chosen = {"username": "una", "is_active": "on", "groups": [viewer]}

    asked = ada.post(f"{PEOPLE}{other.pk}/change/", chosen)
    ada.post(f"{PEOPLE}{other.pk}/change/", proved(asked, proof_password=PASSWORD))

    assert factories.journal(Kind.PERSON_CHANGED)[0].fields["groups"] == ["viewer"]


def test_the_form_of_a_new_person_asks_before_a_password_is_typed(ada):
    asked = ada.get(f"{PEOPLE}add/")
    opened = ada.post(f"{PEOPLE}add/", proved(asked, proof_password=PASSWORD))
    added = ada.post(f"{PEOPLE}add/", NEW)

    assert asked.status_code == 403
    assert (opened.status_code, opened["Location"]) == (303, f"{PEOPLE}add/")
    assert added.status_code == 302
    assert User.objects.filter(username="new").exists()


def test_no_page_repeats_a_typed_password(ada):
    asked = ada.post(f"{PEOPLE}add/", NEW)

    assert asked.status_code == 403
    assert NEW["password1"] not in asked.text
    assert fields_of(asked)["username"] == "new"


@pytest.mark.parametrize("proof", [{"proof_password": "wrong"}, {"proof_password": ""}, {"proof_code": "000000"}])
def test_a_wrong_proof_changes_nothing_and_asks_again(ada, alice, proof):
    grant = factories.grant(alice, "a2a.compact")
    path, chosen = "/admin/mailbox/capabilitygrant/", {"action": "revoke", "_selected_action": str(grant.pk)}

    refused = ada.post(path, proved(ada.post(path, chosen), **proof))

    grant.refresh_from_db()
    assert refused.status_code == 403
    assert grant.revoked_at is None
    assert "Nothing was changed." in refused.text
    assert fields_of(refused)["_selected_action"] == str(grant.pk)
    assert factories.journal(Kind.PERSON_SIGN_IN_FAILED)


def test_guesses_of_a_proof_lock_as_at_the_sign_in(ada, settings):
    path = "/admin/mailbox/capabilitygrant/"
    guess = {"action": "revoke", "proof_password": "wrong"}

    answers = [ada.post(path, guess).status_code for _ in range(settings.AXES_FAILURE_LIMIT)]

    assert answers[-2:] == [403, 429]


def test_a_code_is_a_proof(ada, alice, clock):
    person = User.objects.get(username="ada")
    pending = second_factor.start(factories.caller_of(alice.agent), person)
    second_factor.confirm(factories.caller_of(alice.agent), person, code_of(pending), ending=[])
    clock.shift(timedelta(minutes=1))
    grant = factories.grant(alice, "a2a.compact")
    path = "/admin/mailbox/capabilitygrant/"

    asked = ada.post(path, {"action": "revoke", "_selected_action": str(grant.pk)})
    done = ada.post(path, proved(asked, proof_code=code_of(pending)))

    assert "or code" in asked.text
    assert done.status_code == 302


def test_the_second_factor_asks_for_a_proof_too(ada):
    page = "/ops/settings/second-factor/"

    asked = ada.post(page, {"act": "start"})
    before = second_factor.pending_of(User.objects.get(username="ada"))
    done = ada.post(page, proved(asked, proof_password=PASSWORD))

    assert (asked.status_code, before) == (403, None)
    assert done.status_code == 303
    assert second_factor.pending_of(User.objects.get(username="ada")) is not None


def test_reading_needs_no_recent_proof(ada):
    assert ada.get(PEOPLE).status_code == 200
    assert ada.get("/ops/").status_code == 200
    assert ada.post("/ops/settings/", {"theme": "dark"}).status_code == 303


def test_a_proof_lasts_a_quarter_of_an_hour(ada, clock, alice):
    path = "/admin/mailbox/capabilitygrant/"
    chosen = {"action": "revoke", "_selected_action": "0"}
    ada.post(path, {**chosen, "proof_password": PASSWORD})
    clock.shift(timedelta(minutes=14, seconds=59))
    within = ada.post(path, chosen).status_code
    clock.shift(timedelta(seconds=1))

    assert (within, ada.post(path, chosen).status_code) == (302, 403)

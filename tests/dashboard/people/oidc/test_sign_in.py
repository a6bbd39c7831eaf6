"""The sign-in of people by OpenID Connect, against a provider on loopback."""

import json
import time
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from dashboard.people import sign_in as sign_in_module
from mailbox.access.callers import Role
from mailbox.access.credentials.authentication import role_of
from mailbox.models import AuditEvent
from tests.dashboard.people.oidc.walk import (
    BACK,
    FAILED,
    LINK,
    REFUSAL,
    REFUSED,
    SIGN_IN,
    START,
    is_signed_in,
    rows,
    sign_in,
)

pytestmark = pytest.mark.django_db


def test_a_person_with_the_verified_address_is_signed_in(provider, ana, client):
    answer = sign_in(provider, client, after="/ops/tasks/")

    assert (answer.status_code, answer["Location"]) == (302, "/ops/tasks/")
    assert client.get("/ops/tasks/").status_code == 200
    assert rows() == [LINK, ("person_signed_in", "user:ana", {"username": "ana"})]
    assert AuditEvent.objects.get(kind="person_signed_in").address == "127.0.0.1"
    assert provider.asked["scope"] == "openid email"
    assert provider.asked["redirect_uri"] == f"http://testserver{BACK}"


def test_the_session_is_one_of_the_hub_and_ends_with_the_account(provider, ana, client, settings):
    sign_in(provider, client)
    settings.AUTHENTICATION_BACKENDS = settings.AUTHENTICATION_BACKENDS[:-1]
    assert client.get("/ops/tasks/").status_code == 200

    User.objects.update(is_active=False)

    assert client.get("/ops/tasks/").status_code == 302


def test_the_session_holds_no_token_of_the_provider(provider, ana, client):
    provider.tokens = {"access_token": "the-access-token"}
    sign_in(provider, client)

    kept = json.dumps(dict(client.session))
    assert is_signed_in(client)
    assert "the-access-token" not in kept
    assert "eyJ" not in kept  # each signed token begins so


def test_the_hub_sends_no_cookie_to_the_provider(provider, ana, client):
    for _ in range(2):
        sign_in(provider, client)
        client.post("/ops/sign-out/")

    assert provider.cookies == []


def test_a_foreign_page_is_no_page_to_go_on_to(provider, ana, client):
    assert sign_in(provider, client, after="https://evil.example/")["Location"] == "/ops/"


@pytest.mark.parametrize(
    "wrong",
    [
        {"about": {"email": "eve@example.org"}},
        {"about": {"email_verified": False}},
        {"about": {"email_verified": "true"}},
        {"about": {"email": ""}},
        {"about": {"sub": "2"}},
    ],
    ids=str,
)
def test_a_person_who_is_not_right_is_refused(provider, ana, client, wrong):
    for name, value in wrong.items():
        setattr(provider, name, value)

    answer = sign_in(provider, client)

    assert (answer.status_code, answer["Location"]) == (302, REFUSED)
    assert not is_signed_in(client)
    assert rows() == [REFUSAL]
    assert "Your Example account has no access to this hub" in client.get(REFUSED).text


def test_an_inactive_person_and_an_address_of_two_people_are_refused(provider, ana, client):
    User.objects.update(is_active=False)
    assert sign_in(provider, client)["Location"] == REFUSED
    User.objects.update(is_active=True)
    User.objects.create_user("double", email="ana@example.org")
    assert sign_in(provider, client)["Location"] == REFUSED

    assert not is_signed_in(client)


@pytest.mark.parametrize("about", [{"email": "eve@example.org"}, {"email_verified": False}, {"sub": "2"}], ids=str)
def test_refusals_in_a_row_lock_nothing(provider, ana, client, about, settings):
    provider.about = about
    for _ in range(settings.AXES_FAILURE_LIMIT + 1):
        assert sign_in(provider, Client())["Location"] == REFUSED
    provider.about = {}

    sign_in(provider, client)

    assert is_signed_in(client)
    assert not apps.get_model("axes", "AccessAttempt")._default_manager.exists()


@pytest.mark.parametrize(
    "given",
    [
        *({"error": "access_denied"}, {"code": "the-code", "state": "guessed"}, {"code": "x"}, {}),
        {"error": "access_denied", "state": "guessed"},
    ],
    ids=str,
)
def test_a_return_that_the_hub_did_not_ask_for_changes_nothing(provider, ana, client, given):
    client.get(START)
    signed_in = Client()
    sign_in(provider, signed_in)
    before = rows()

    for browser in (client, Client(), signed_in):
        assert browser.get(BACK, given, headers={"Sec-Fetch-Site": "cross-site"})["Location"] == FAILED
    assert signed_in.get("/ops/tasks/").status_code == 200
    assert not is_signed_in(client)
    assert rows() == before


@pytest.mark.parametrize("given", [{"error": "access_denied"}, {"error": "x", "code": "y"}, {}, {"code": ""}], ids=str)
def test_a_refusal_by_the_provider_ends_the_walk_and_no_session(provider, ana, client, given):
    state = {"state": provider.authorise(client.get(START)["Location"])["state"]}
    sign_in(provider, client)

    answers = [client.get(BACK, given | state)["Location"] for _ in range(2)]

    assert answers == [REFUSED, FAILED]
    assert client.get("/ops/tasks/").status_code == 200
    assert rows()[-1] == REFUSAL


def test_a_stranger_who_begins_a_sign_in_stores_nothing(provider, client):
    page = "/ops/tasks/?q=" + "".join(f"{number:04x}" for number in range(0, 50_000, 7))

    for _ in range(10):
        client.get(START)
        client.get(START, {"next": page})

    (cookie,) = client.cookies.values()
    assert not Session.objects.exists()
    assert 0 < len(cookie.OutputString()) < 4096
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Lax", 600)


def test_a_sign_in_that_took_too_long_fails(provider, ana, client, monkeypatch):
    to_provider, late = client.get(START), time.time() + 11 * 60
    monkeypatch.setattr("django.core.signing.time", SimpleNamespace(time=lambda: late))

    assert client.get(BACK, provider.authorise(to_provider["Location"]))["Location"] == FAILED


def test_a_link_begins_no_sign_in_of_a_signed_in_person(provider, ana, client):
    sign_in(provider, client)
    session = dict(client.session)

    assert client.get(START, headers={"Sec-Fetch-Site": "cross-site"})["Location"] == "/ops/"
    assert dict(client.session) == session


def test_a_browser_may_begin_several_sign_ins(provider, ana, client):
    first, _ = client.get(START), client.get(START)

    answer = client.get(BACK, provider.authorise(first["Location"]))

    assert answer["Location"] == "/ops/"


def test_a_return_counts_once(provider, ana, client):
    to_provider = client.get(START)
    given = provider.authorise(to_provider["Location"])
    client.get(BACK, given)
    client.post("/ops/sign-out/")

    assert client.get(BACK, given)["Location"] == FAILED


def test_a_person_with_a_second_factor_is_asked_for_a_code(provider, ana, client, monkeypatch):
    sign_in(provider, client)
    client.post("/ops/sign-out/")
    before = rows()
    monkeypatch.setattr("dashboard.people.oidc.second_factor.of_person", lambda person: object())

    answer = sign_in(provider, client, after="/ops/tasks/")

    assert answer["Location"] == "/ops/sign-in/code/"
    assert not is_signed_in(client)
    assert client.session[sign_in_module.PENDING]["after"] == "/ops/tasks/"
    assert rows() == before


def test_an_unknown_person_is_added_if_the_hub_adds_people(provider, client, settings):
    settings.OIDC_CREATE_USER, settings.A2A_OIDC_ROLES = True, {"ops": "operator", "all": "viewer"}
    provider.person["groups"] = ["all", "ops", "other", 7]

    sign_in(provider, client)

    person = User.objects.get(username="ana@example.org")
    added = {"username": "ana@example.org", "email": "ana@example.org", "groups": ["operator"]}
    assert is_signed_in(client)
    assert (role_of(person), person.has_usable_password(), person.is_staff) == (Role.OPERATOR, False, False)
    assert [row[::2] for row in rows()] == [
        ("person_added", added),
        ("person_changed", {"username": "ana@example.org", "provider_account": "linked"}),
        ("person_signed_in", {"username": "ana@example.org"}),
    ]


def test_a_role_follows_the_groups_at_the_provider(provider, ana, client, settings):
    settings.A2A_OIDC_ROLES = {"boss": "admin", "ops": "operator"}
    provider.about = {"groups": "boss"}

    sign_in(provider, client)
    sign_in(provider, Client())

    assert role_of(ana) is Role.ADMIN
    assert [row[::2] for row in rows() if row[0] == "person_changed"][1:] == [
        ("person_changed", {"username": "ana", "groups": ["admin"]})
    ]


def test_a_person_without_a_mapped_group_is_refused_and_keeps_the_role(provider, ana, client, settings):
    settings.A2A_OIDC_ROLES = {"boss": "admin"}

    assert sign_in(provider, client)["Location"] == REFUSED
    assert role_of(ana) is Role.OPERATOR


def test_a_hub_without_mapped_groups_gives_roles_itself(provider, ana, client):
    sign_in(provider, client)

    assert role_of(ana) is Role.OPERATOR


def test_the_button_is_a_link_that_the_content_security_policy_allows(provider, client, settings):
    page = client.get(f"{SIGN_IN}?next=/ops/tasks/%3Fa=1%26b=2")

    assert f'href="{START}?next=%2Fops%2Ftasks%2F%3Fa%3D1%26b%3D2"' in page.text
    assert "Sign in with Example" in page.text
    assert "form-action 'self'" in page["Content-Security-Policy"]
    assert "style=" not in page.text


def test_a_hub_without_a_provider_has_no_button_and_no_route(client):
    assert "Sign in with" not in client.get(SIGN_IN).text
    assert client.get(START).status_code == 404
    assert client.get(BACK).status_code == 404

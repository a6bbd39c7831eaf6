"""The sign-in of people by OpenID Connect, against a provider on loopback."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.views import second_step
from mailbox.gate.callers import Role
from mailbox.gate.credentials import role_of
from mailbox.models import AuditEvent
from mailbox.verbs.people import sign_ins
from tests.dashboard.oidc import urls
from tests.dashboard.oidc.provider import CLIENT, FOREIGN_KEY, SECRET, running
from tests.support import factories
from tests.support.hub import PATIENCE, ROOT

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

START, BACK, SIGN_IN = "/ops/sign-in/provider/", "/ops/sign-in/provider/callback/", "/ops/sign-in/"
REFUSED = f"{SIGN_IN}?refused"
COMPLETE = {
    "A2A_OIDC_ISSUER": "https://id.example.org",
    "A2A_OIDC_AUTHORIZATION_URL": "https://id.example.org/authorize",
    "A2A_OIDC_TOKEN_URL": "https://id.example.org/token",
    "A2A_OIDC_USERINFO_URL": "https://id.example.org/userinfo",
    "A2A_OIDC_JWKS_URL": "https://id.example.org/jwks",
    "A2A_OIDC_CLIENT_ID": CLIENT,
    "A2A_OIDC_CLIENT_SECRET": SECRET,
}


@pytest.fixture
def provider(settings):
    """A provider that the hub knows."""
    sign_ins.forget()
    settings.ROOT_URLCONF = urls.__name__
    settings.AUTHENTICATION_BACKENDS = [*settings.AUTHENTICATION_BACKENDS, "dashboard.oidc.backend.Backend"]
    settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = CLIENT, SECRET
    settings.A2A_OIDC_NAME = "Example"
    with running() as provider:
        settings.A2A_OIDC_ISSUER = provider.url
        settings.OIDC_OP_AUTHORIZATION_ENDPOINT = f"{provider.url}/authorize"
        settings.OIDC_OP_TOKEN_ENDPOINT = f"{provider.url}/token"
        settings.OIDC_OP_USER_ENDPOINT = f"{provider.url}/userinfo"
        settings.OIDC_OP_JWKS_ENDPOINT = f"{provider.url}/jwks"
        yield provider


@pytest.fixture
def ana():
    factories.person("ana", Role.OPERATOR)
    User.objects.filter(username="ana").update(email="Ana@example.org")
    return User.objects.get(username="ana")


def sign_in(provider, browser, after=""):
    """Walk to the provider and back; return the answer of the page to which the provider sends people back."""
    to_provider = browser.get(START, {"next": after} if after else {})
    assert to_provider.status_code == 302
    assert to_provider["Location"].startswith(f"{provider.url}/authorize?")
    return browser.get(BACK, provider.authorise(to_provider["Location"]))


def is_signed_in(browser):
    return "_auth_user_id" in browser.session


def rows():
    kinds = ("person_signed_in", "person_sign_in_failed", "person_added", "person_changed")
    return [(row.kind, row.actor, row.fields) for row in AuditEvent.objects.filter(kind__in=kinds).order_by("pk")]


def test_a_person_with_the_verified_address_is_signed_in(provider, ana, client):
    answer = sign_in(provider, client, after="/ops/tasks/")

    assert (answer.status_code, answer["Location"]) == (302, "/ops/tasks/")
    assert client.get("/ops/tasks/").status_code == 200
    assert rows() == [("person_signed_in", "user:ana", {"username": "ana"})]
    assert AuditEvent.objects.get(kind="person_signed_in").address == "127.0.0.1"
    assert provider.asked["scope"] == "openid email"
    assert provider.asked["redirect_uri"] == f"http://testserver{BACK}"


def test_the_session_is_one_of_the_hub_and_ends_with_the_account(provider, ana, client, settings):
    sign_in(provider, client)
    settings.AUTHENTICATION_BACKENDS = settings.AUTHENTICATION_BACKENDS[:-1]
    assert client.get("/ops/tasks/").status_code == 200

    User.objects.update(is_active=False)

    assert client.get("/ops/tasks/").status_code == 302


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
        {"claims": {"iss": "https://other.example"}},
        {"claims": {"aud": "another-client"}},
        {"claims": {"aud": ["another-client"]}},
        {"claims": {"nonce": "another"}},
        {"claims": {"exp": 1}},
        pytest.param({"key": FOREIGN_KEY}, id="a foreign key"),
        {"fails": True},
    ],
    ids=str,
)
def test_a_person_or_token_that_is_not_right_is_refused(provider, ana, client, wrong):
    for name, value in wrong.items():
        setattr(provider, name, value)

    answer = sign_in(provider, client)

    assert (answer.status_code, answer["Location"]) == (302, REFUSED)
    assert not is_signed_in(client)
    assert rows() == [
        ("person_sign_in_failed", "anonymous", {"username": "unknown name", "reason": "provider", "count": 1})
    ]
    assert "Example names nobody who may use this hub" in client.get(REFUSED).text


def test_an_inactive_person_and_an_address_of_two_people_are_refused(provider, ana, client):
    User.objects.update(is_active=False)
    assert sign_in(provider, client)["Location"] == REFUSED
    User.objects.update(is_active=True)
    User.objects.create_user("double", email="ana@example.org")
    assert sign_in(provider, client)["Location"] == REFUSED

    assert not is_signed_in(client)


def test_refusals_in_a_row_lock_the_way_by_the_provider_and_no_password(provider, ana, client):
    ana.set_password("correct horse battery")
    ana.save()
    provider.about = {"email": "eve@example.org"}
    for _ in range(5):
        sign_in(provider, Client())
    provider.about = {}

    refused = sign_in(provider, client)
    by_password = client.post(SIGN_IN, {"username": "ana", "password": "correct horse battery"})

    assert refused.status_code == 429
    assert by_password.status_code == 302
    assert is_signed_in(client)
    assert [row.kind for row in AuditEvent.objects.order_by("pk")][-1] == "person_signed_in"


@pytest.mark.parametrize("given", [{"error": "access_denied"}, {"code": "the-code", "state": "guessed"}, {"code": "x"}])
def test_a_return_that_the_hub_did_not_ask_for_is_refused(provider, ana, client, given):
    client.get(START)

    assert client.get(BACK, given)["Location"] == REFUSED
    assert Client().get(BACK, given)["Location"] == REFUSED
    assert not is_signed_in(client)


def test_a_return_counts_once(provider, ana, client):
    to_provider = client.get(START)
    given = provider.authorise(to_provider["Location"])
    client.get(BACK, given)
    client.logout()

    assert client.get(BACK, given)["Location"] == REFUSED


def test_a_person_with_a_second_factor_is_asked_for_a_code(provider, ana, client, monkeypatch):
    monkeypatch.setattr("dashboard.oidc.views.second_factor.of_person", lambda person: object())

    answer = sign_in(provider, client, after="/ops/tasks/")

    assert answer["Location"] == "/ops/sign-in/code/"
    assert not is_signed_in(client)
    assert client.session[second_step.PENDING]["after"] == "/ops/tasks/"
    assert rows() == []


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
        ("person_signed_in", {"username": "ana@example.org"}),
    ]


def test_a_role_follows_the_groups_at_the_provider(provider, ana, client, settings):
    settings.A2A_OIDC_ROLES = {"boss": "admin", "ops": "operator"}
    provider.about = {"groups": "boss"}

    sign_in(provider, client)
    sign_in(provider, Client())

    assert role_of(ana) is Role.ADMIN
    assert [row[::2] for row in rows() if row[0] == "person_changed"] == [
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


def started(tmp_path, code, **environment):
    env = os.environ | {"A2A_VAR": str(tmp_path), "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "a2aproject.settings"}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env | environment, capture_output=True, text=True, timeout=PATIENCE
    )


ROUTES = """
import django
django.setup()
from django.urls import reverse
print(reverse("oidc-sign-in"), reverse("oidc-callback"))
"""
LACKING = "import sys; sys.modules['mozilla_django_oidc'] = None; from a2aproject import settings"


def test_a_complete_provider_brings_the_routes(tmp_path):
    assert started(tmp_path, ROUTES, **COMPLETE).stdout == f"{START} {BACK}\n"


@pytest.mark.parametrize(
    ("code", "given", "message"),
    [
        (LACKING, COMPLETE, "A2A_OIDC_ISSUER needs the packages of the extra oidc: run `make extras`."),
        (ROUTES, COMPLETE | {"A2A_OIDC_JWKS_URL": ""}, "A2A_OIDC_ISSUER needs A2A_OIDC_JWKS_URL too."),
        (ROUTES, {"A2A_OIDC_ROLES": "ops=king"}, "A2A_OIDC_ROLES must list GROUP=ROLE"),
        (ROUTES, COMPLETE | {"A2A_OIDC_CREATE_PEOPLE": "1"}, "A2A_OIDC_CREATE_PEOPLE needs A2A_OIDC_ROLES"),
    ],
)
def test_settings_that_are_not_whole_stop_the_hub(tmp_path, code, given, message):
    assert message in started(tmp_path, code, **given).stderr


def test_a_hub_without_a_provider_needs_no_extra(tmp_path):
    assert started(tmp_path, LACKING).returncode == 0

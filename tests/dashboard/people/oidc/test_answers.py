"""Answers of a provider that are not right: each ends at the sign-in page, with a sentence and a row of the journal."""

import json
from types import SimpleNamespace

import jwt
import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.people import oidc
from mailbox.access.callers import Role
from mailbox.access.credentials.authentication import role_of
from mailbox.access.people import provisioning
from tests.dashboard.people.oidc.provider import CLIENT, FOREIGN_KEY, KEY, KID
from tests.dashboard.people.oidc.walk import FAILED, REFUSAL, REFUSED, is_signed_in, rows, sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

DEEP = b"[" * 100_000
LARGE = json.dumps({"id_token": "x" * 1024 * 1024}).encode()
SHAPES = (b" ", b"null", b"[]", b"7", b'"text"', b"{", b"\xff", b'{"a": "\\u0000"}', DEEP, LARGE)
KEYS: tuple[object, ...] = (
    *("text", 7, {}, [], [7], [None], ["text"], [{}], [{"kid": KID}], [{"kid": [KID], "kty": ["RSA"]}]),
    *([{"kid": KID, "kty": "RSA", "n": 7, "e": {}}], [{"kid": KID, "kty": "RSA", "alg": ["RS256"]}]),
    [{"kid": KID, "kty": "oct", "k": "c2VjcmV0"}],
)


def assert_failed(provider, browser, where=FAILED):
    answer = sign_in(provider, browser)

    assert (answer.status_code, answer["Location"]) == (302, where)
    assert not is_signed_in(browser)
    assert rows() == [REFUSAL]
    sentence = "Your Example account has no access to this hub." if where == REFUSED else "Sign-in with Example failed."
    assert sentence in browser.get(where).text


@pytest.mark.parametrize("body", SHAPES, ids=lambda body: repr(body[:20]))
@pytest.mark.parametrize("path", ["/token", "/jwks", "/userinfo"])
def test_an_answer_of_another_shape_fails(provider, ana, client, path, body):
    provider.given[path] = body

    assert_failed(provider, client)


@pytest.mark.parametrize(
    "value", [None, 7, [], {}, "", "text", "a.b.c", "l\xf6", "\u0131.\u0131.\u0131", "."], ids=ascii
)
def test_a_token_of_another_shape_fails(provider, ana, client, value):
    provider.tokens = {"id_token": value}

    assert_failed(provider, client)


@pytest.mark.parametrize("value", [None, 7, [], {}, "", "l\xf6\u0131", "a\r\nb: c"], ids=ascii)
def test_an_access_token_of_another_shape_fails(provider, ana, client, value):
    provider.tokens = {"access_token": value}

    assert_failed(provider, client)


@pytest.mark.parametrize("keys", KEYS, ids=str)
def test_keys_of_another_shape_fail(provider, ana, client, keys):
    provider.given["/jwks"] = json.dumps({"keys": keys}).encode()

    assert_failed(provider, client)


@pytest.mark.parametrize(
    "claims",
    [
        *({"iss": "https://other.example"}, {"iss": None}, {"iss": [1]}, {"iss": {}}),
        *({"aud": "another-client"}, {"aud": ["another-client"]}, {"aud": None}, {"aud": 7}, {"aud": {CLIENT: 1}}),
        *({"aud": [CLIENT, "other"]}, {"aud": ["other", CLIENT], "azp": "other"}, {"azp": "other"}, {"azp": None}),
        *({"aud": [[CLIENT]]}, {"nonce": "another"}, {"nonce": None}, {"nonce": ["another"]}),
        *({"exp": 1}, {"exp": None}, {"exp": "soon"}, {"exp": []}, {"exp": float("inf")}, {"exp": float("nan")}),
        *({"iat": "now"}, {"iat": float("inf")}, {"nbf": 2**40}, {"nbf": {}}),
        *({"sub": None}, {"sub": 7}, {"sub": []}, {"sub": ""}),
    ],
    ids=str,
)
def test_claims_of_a_token_that_are_not_right_fail(provider, ana, client, claims):
    provider.claims = claims
    provider.about = {name: value for name, value in claims.items() if name == "sub"}

    assert_failed(provider, client)


def test_a_token_for_further_clients_counts_if_it_was_given_to_the_hub(provider, ana, client):
    provider.claims = {"aud": ["other", CLIENT], "azp": CLIENT}

    sign_in(provider, client)

    assert is_signed_in(client)


def test_a_token_of_a_foreign_key_fails(provider, ana, client):
    provider.key = FOREIGN_KEY

    assert_failed(provider, client)


@pytest.mark.parametrize("status", [204, 302, 400, 500])
def test_an_answer_with_another_status_fails(provider, ana, client, status):
    provider.status = status

    assert_failed(provider, client)


@pytest.mark.parametrize("path", ["/token", "/jwks", "/userinfo"])
def test_an_answer_that_never_begins_fails(provider, ana, client, settings, path):
    settings.OIDC_TIMEOUT = 0.1
    provider.silent = path

    assert_failed(provider, client)


@pytest.mark.parametrize("path", ["/token", "/jwks", "/userinfo"])
def test_an_answer_that_does_not_end_in_time_fails(provider, ana, client, settings, monkeypatch, path):
    settings.OIDC_TIMEOUT = 5
    monkeypatch.setattr(oidc, "time", SimpleNamespace(monotonic=lambda: provider.clock))
    provider.dripping = path

    assert_failed(provider, client)


def test_a_provider_that_does_not_answer_fails(provider, ana, client, settings):
    settings.OIDC_OP_TOKEN_ENDPOINT = "http://127.0.0.1:1/token"

    assert_failed(provider, client)


@pytest.mark.parametrize(
    "about",
    [
        *({"email": 7}, {"email": ["ana@example.org"]}, {"email": {}}, {"email": None}, {"email": "ana\n@example.org"}),
        *({"email": "x" * 150 + "@example.org"}, {"email_verified": 1}, {"email_verified": "true"}, {"sub": ["1"]}),
        *({"groups": None}, {"groups": {"ops": 1}}, {"groups": [["ops"], {}, 7]}, {"groups": 7}),
    ],
    ids=lambda about: str(about)[:40],
)
def test_claims_about_a_person_of_another_shape_are_refused(provider, client, settings, about):
    settings.OIDC_CREATE_USER, settings.A2A_OIDC_ROLES = True, {"ops": "operator"}
    provider.about = about

    assert_failed(provider, client, REFUSED)
    assert not User.objects.exists()


@pytest.mark.parametrize("claimed", ["ana\0@example.org", "\ud800@example.org"], ids=ascii)
def test_an_address_in_the_token_that_no_database_holds_is_refused(provider, client, claimed):
    provider.claims = {"email": claimed, "email_verified": True}
    provider.person = {"sub": "1"}

    assert_failed(provider, client, REFUSED)


def test_claims_about_a_person_may_be_a_token(provider, ana, client):
    provider.kinds["/userinfo"] = "application/jwt; charset=utf-8"
    about = {**provider.person, "iss": provider.url, "aud": [CLIENT]}
    provider.given["/userinfo"] = jwt.encode(about, KEY, algorithm="RS256", headers={"kid": KID}).encode()

    sign_in(provider, client)

    assert is_signed_in(client)


def test_two_first_sign_ins_at_once_add_one_person(provider, client, settings, monkeypatch):
    settings.OIDC_CREATE_USER, settings.A2A_OIDC_ROLES = True, {"ops": "operator"}
    add, other = provisioning.add, Client()

    def second(*args):
        monkeypatch.setattr(provisioning, "add", add)
        sign_in(provider, other)
        return add(*args)

    monkeypatch.setattr(provisioning, "add", second)
    answer = sign_in(provider, client)

    assert answer["Location"] == "/ops/"
    assert is_signed_in(client)
    assert is_signed_in(other)
    assert role_of(User.objects.get()) is Role.OPERATOR
    assert [row[0] for row in rows()] == ["person_added", "person_changed", "person_signed_in", "person_signed_in"]


def test_an_address_that_is_the_name_of_another_person_is_refused(provider, client, settings):
    settings.OIDC_CREATE_USER, settings.A2A_OIDC_ROLES = True, {"ops": "operator"}
    User.objects.create_user("ana@example.org", email="eve@example.org")

    assert_failed(provider, client, REFUSED)

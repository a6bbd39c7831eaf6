"""The address of a provider's claims, and the people who have it. The databases compare letters in different ways."""

import json

import pytest
from django.contrib.auth.models import User

from dashboard.people import oidc
from dashboard.people.oidc import Backend

pytestmark = pytest.mark.django_db

TOKEN = {"sub": "1", "email": "eve@evil.example", "email_verified": True}


@pytest.fixture
def backend():
    return Backend()


@pytest.mark.parametrize(
    ("stored", "claimed", "is_same"),
    [
        ("Mike@example.org", "mike@EXAMPLE.org", True),
        ("mike@github.com", "m\u0131ke@g\u0131thub.com", False),
        ("mike@example.org", "mi\u212ae@example.org", False),
        ("m\u0131ke@example.org", "m\u0131ke@example.org", True),
        ("mike@example.org", "", False),
    ],
)
def test_an_address_is_that_of_a_person_letter_by_letter(backend, stored, claimed, is_same):
    person = User.objects.create_user("mike", email=stored)

    assert list(backend.filter_users_by_claims({"email": claimed})) == ([person] if is_same else [])


@pytest.mark.parametrize(
    ("about", "is_verified"),
    [
        ({"email": "ana@example.org"}, False),
        ({"email": "ana@example.org", "email_verified": True}, True),
        ({}, True),
        ({"email_verified": False}, True),
    ],
)
def test_an_address_is_verified_only_by_the_source_that_names_it(backend, monkeypatch, about, is_verified):
    body = json.dumps({"sub": "1", **about}).encode()
    monkeypatch.setattr(oidc, "ask", lambda *_, **__: ("application/json", body))

    claims = backend.get_userinfo("access", "id", TOKEN)

    assert claims["email"] == about.get("email", TOKEN["email"])
    assert backend.verify_claims(claims) is is_verified

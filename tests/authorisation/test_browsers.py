"""Each answer tells browsers what they may do with it, and sessions begin and end on the server."""

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from mailbox.access.callers import Role
from tests.authorisation import requests, routes
from tests.authorisation.world import PASSWORD, World
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

LONG = "ß π 'quotes' and spaces, in 100 characters or more: " + "x" * 60


def person(name: str, role: Role | None, password: str = PASSWORD) -> User:
    factories.person(name, role)
    user = User.objects.get(username=name)
    user.set_password(password)
    user.save()
    return user


def sign_in(client: Client, name: str, password: str = PASSWORD) -> int:
    return client.post("/ops/sign-in/", {"username": name, "password": password}).status_code


def browser(name: str) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.get(username=name), backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.mark.processes
@pytest.mark.deep
def test_every_answer_forbids_sniffing_framing_and_referrers_to_others():
    hub, served = World(), routes.served()
    person("root", Role.ADMIN)
    User.objects.filter(username="root").update(is_staff=True, is_superuser=True)
    lacking = []

    for client in (Client(raise_request_exception=False), browser("root")):
        for route, section in served.items():
            answer = client.get(requests.path_of(route, hub))
            policy = answer.get("Content-Security-Policy", "")
            rules = {
                "nosniff": answer.get("X-Content-Type-Options") == "nosniff",
                "referrer": answer.get("Referrer-Policy") in ("same-origin", "no-referrer"),
                "frames": "frame-ancestors 'none'" in policy,
                "objects": "default-src 'none'" in policy and "base-uri 'none'" in policy,
            }
            lacking += [(route, name) for name, holds in rules.items() if not holds]
            assert "unsafe" not in policy or route == "/api/docs/", route
            if section == "pages" and "favicon" not in route:
                assert "no-store" in answer["Cache-Control"], route
            _ = answer.getvalue() if answer.streaming else b""

    assert set(lacking) == {("/static/<file>", "frames"), ("/static/<file>", "objects")}


def test_the_cookies_of_a_session_are_for_the_hub_s_own_pages_alone():
    person("ana", Role.VIEWER)
    client = Client()
    client.get("/ops/sign-in/")

    assert sign_in(client, "ana") == 302
    cookies = {name: (cookie["httponly"], cookie["samesite"]) for name, cookie in client.cookies.items()}
    assert {"sessionid", "csrftoken"} <= set(cookies)
    assert set(cookies.values()) == {(True, "Lax")}


def test_each_sign_in_has_a_session_of_its_own_and_a_sign_out_deletes_it():
    person("ana", Role.VIEWER)
    client, seen = Client(), []

    for _ in range(2):
        assert sign_in(client, "ana") == 302
        seen.append(client.cookies["sessionid"].value)
        assert client.get("/ops/").status_code == 200
        client.post("/ops/sign-out/")

    assert len(set(seen)) == 2
    assert not Session.objects.filter(session_key__in=seen).exists()
    stolen = Client()
    stolen.cookies["sessionid"] = seen[0]
    assert stolen.get("/ops/").status_code == 302


def test_a_password_of_any_characters_is_compared_as_it_was_typed():
    person("ana", Role.VIEWER, password=LONG)

    assert 'type="password"' in Client().get("/ops/sign-in/").text
    assert sign_in(Client(), "ana", LONG[:-1]) == 200
    assert sign_in(Client(), "ana", LONG.upper()) == 200
    assert sign_in(Client(), "ana", LONG) == 302

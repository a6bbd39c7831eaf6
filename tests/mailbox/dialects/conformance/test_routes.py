"""Every route of every dialect keeps these promises, in the dialect's own shape of errors."""

import base64
from collections.abc import Iterator
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.models import ApiKey, AuditEvent, Task
from mailbox.words import tokens
from tests.mailbox.dialects.conformance.routes import (
    METHODS,
    ROUTES,
    Route,
    closed_routes,
    every_route,
    plain_request,
    refused,
)
from tests.support import factories
from tests.support.api import Api
from tests.support.doors import HttpDoor

pytestmark = [pytest.mark.django_db, pytest.mark.one_database, pytest.mark.usefixtures("unlimited")]

BAD_JSON = [b"\xff", b'{"x": "\\u0000"}']  # bad bytes, and a bad value
BAD_SHAPES = [b"[]", b"7"]
UNSIZED: list[dict[str, Any]] = [{"headers": {"Transfer-Encoding": "chunked"}}, {"CONTENT_LENGTH": "x"}]
UNREADABLE: list[dict[str, Any]] = [
    {"content_type": "text/plain"},
    {"content_type": ""},
    {"headers": {"Content-Encoding": "gzip"}},
]


def yesterday() -> datetime:
    return timezone.now() - timedelta(days=1)


def routes_with_bodies(door: type[HttpDoor]) -> Iterator[tuple[Route, str]]:
    return ((route, method) for route, method in closed_routes(door) if "requestBody" in route.operation(method))


def with_headers(door: type[HttpDoor], headers: dict[str, str]) -> HttpDoor:
    client = door(None)
    client.api = Api(headers={**client.headers, **headers})
    return client


@every_route
@pytest.mark.parametrize("key", ["none", "revoked"])
def test_no_route_answers_without_a_valid_key(door, bob, key):
    headers = {"none": {}, "revoked": {"X-API-Key": factories.key_of(bob, revoked_at=yesterday())}}[key]
    client = with_headers(door, headers)

    for route, method in closed_routes(door):
        status = refused(client, method, route.path)

        assert status == (door.wrong_key if headers else HTTPStatus.UNAUTHORIZED), route
        assert client.response.headers.get("WWW-Authenticate") == ("Bearer" if status == 401 else None)

    assert {event.kind for event in AuditEvent.objects.all()} == {"authentication_failed"}


def wrong_credentials(owner: Caller) -> list[dict[str, str]]:
    keys = [
        *("", "x", "é", tokens.mint().key, factories.key_of(owner, revoked_at=yesterday())),
        *(factories.key_of(owner, expires_at=yesterday()), factories.key_of(owner)[:-1]),
    ]
    basic = [base64.b64encode(text).decode() for text in (b"\xff", b"bob", b"bob:x")]
    return [
        *({"X-API-Key": key} for key in keys),
        *({"Authorization": f"Bearer {key}"} for key in keys),
        *({"Authorization": f"Basic {text}"} for text in ("***", *basic)),
        *({"Authorization": text} for text in ("", "Bearer", "Digest username=bob")),
    ]


@every_route
def test_no_wrong_credential_is_accepted(door, bob):
    method, path = plain_request(door)

    for headers in wrong_credentials(bob):
        assert refused(with_headers(door, headers), method, path) in (401, door.wrong_key), headers


@every_route
def test_a_key_counts_in_each_of_its_headers(door, bob):
    method, path = plain_request(door)
    key = factories.key_of(bob)
    of_basic = [base64.b64encode(f"{name}:{key}".encode()).decode() for name in ("", "bob")]
    forms = [
        *({"Authorization": f"{scheme} {key}"} for scheme in ("Bearer", "bearer ")),
        *({"Authorization": f"Basic {text}"} for text in of_basic),
        {"X-API-Key": key},
    ]

    for headers in forms:
        response = with_headers(door, headers).api.call(method, path)
        assert response.status_code not in (401, 403), headers

    assert not AuditEvent.objects.filter(kind="authentication_failed").exists()


@every_route
def test_a_session_of_the_dashboard_is_no_key(door, bob, client, admin_user):
    client.force_login(admin_user)
    method, path = plain_request(door)

    assert client.generic(method, path, "{}", "application/json").status_code == 401


@every_route
def test_a_method_that_a_route_lacks_is_refused(door, bob):
    client = door(bob)

    for route in ROUTES[door]:
        for method in METHODS - route.methods:
            assert refused(client, method, route.path) == door.lacking
            assert set(client.response["Allow"].split(", ")) - {"HEAD", "OPTIONS"} == route.methods, route


@every_route
def test_options_are_answered_with_the_methods_of_the_route(door, bob):
    api = door(bob).api

    for route in ROUTES[door]:
        if "options" not in route.view.http_method_names:
            continue
        response = api.call("OPTIONS", route.path)

        assert (response.status_code, response.content) == (204, b"")
        assert set(response["Allow"].split(", ")) - {"HEAD", "OPTIONS"} == route.methods


@every_route
@pytest.mark.parametrize("bodies", [BAD_JSON, BAD_SHAPES], ids=["no strict JSON", "another shape"])
def test_a_body_that_no_reader_can_use_is_refused_by_every_route(door, bob, bodies):
    client = door(bob)

    for route, method in routes_with_bodies(door):
        for body in bodies:
            assert refused(client, method, route.path, body) in (400, 422)

    assert not Task.objects.exists()


@every_route
def test_a_body_beyond_the_limit_is_refused_by_every_route(door, bob, settings):
    client = door(bob)
    settings.A2A_MAX_BODY_BYTES = 100

    for route, method in routes_with_bodies(door):
        assert refused(client, method, route.path, b"{}" + b" " * 99) == 413


@every_route
def test_a_body_of_unknown_length_is_refused_by_every_route(door, bob):
    client = door(bob)

    for route, method in routes_with_bodies(door):
        for how in UNSIZED:
            assert refused(client, method, route.path, b"{}", **how) == 411


@every_route
def test_a_body_of_another_media_type_is_refused_by_every_route(door, bob):
    client = door(bob)

    for route, method in routes_with_bodies(door):
        for how in UNREADABLE:
            assert refused(client, method, route.path, b"{}", **how) == door.wrong_media_type


@every_route
def test_a_database_out_of_reach_is_503_at_every_route(door, bob, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("server closed the connection: secret detail")

    client = door(bob)
    monkeypatch.setattr(type(ApiKey.objects.all()), "credential_rows", fail)

    for route, method in closed_routes(door):
        assert refused(client, method, route.path) == 503
        assert client.response["Retry-After"] == "1"
        assert b"secret detail" not in client.response.content


@every_route
def test_an_id_that_is_none_is_refused_or_absent_at_every_route(door, bob):
    client = door(bob)

    for route, method in closed_routes(door):
        for text in ("x", "%00", "{}", "%D9%A1" * 36) if "{task_id}" in route.template else ():
            assert refused(client, method, route.path_to(text)) in (400, 404, 422), route


@every_route
def test_a_public_route_leads_to_the_open_methods_alone(door, alice, bob):
    prefix, client = factories.route(alice), Client(headers=dict(door.headers))
    nowhere = client.get("/nowhere").content

    for route in ROUTES[door]:
        for method in METHODS:
            response = client.generic(method, prefix + route.path, "", "application/json")

            if not route.view.open_to_routes:
                assert (response.status_code, response.content) == (404, nowhere), (method, route)
                continue
            is_open = method in route.view.open_to_routes
            assert is_open or response.status_code == door.lacking, (method, route)
            assert (response["Cache-Control"], response["Vary"]) == ("private, no-store", "*")

"""The token of a public route is nowhere to be read in full."""

import json
import logging

import pytest
from django.db import connection
from django.test import Client

from mailbox.access.credentials import public_routes
from mailbox.words import tokens
from mailbox.words.redaction import RedactSecrets
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def route(alice, bob, olga):
    factories.profile(bob, default_project="main")
    return public_routes.add(olga, alice.agent, rate_limit=1000)


@pytest.fixture
def client():
    return Client(raise_request_exception=False)


def send(client, token):
    return client.post(f"/p/{token}/a2a/tasks/send", json.dumps({"message": "hi"}), content_type="application/json")


def test_the_token_is_stored_as_a_digest_and_nowhere_else(client, route, caplog):
    secret = route.token.split("_")[2]
    headers = {"X-Request-Id": route.token, "Referer": f"http://testserver/p/{route.token}/"}
    response = client.post(
        f"/p/{route.token}/a2a/tasks/send", '{"message": "hi"}', content_type="application/json", headers=headers
    )

    assert secret not in response["X-Request-Id"]
    assert secret not in response.text
    assert response["Referrer-Policy"] == "no-referrer"
    assert secret not in Client().get("/api/schema/").text
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            if table.endswith("_words"):  # it keeps no text: its words are in tables beside it
                continue
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608
            assert secret not in repr(cursor.fetchall())


def test_an_error_under_a_route_is_reported_without_the_token(client, route, monkeypatch, capsys, settings):
    stream = logging.StreamHandler()
    stream.addFilter(RedactSecrets())
    logger = logging.getLogger("django.request")
    logger.addHandler(stream)

    def crash(*args, **options):
        raise RuntimeError(f"at /p/{route.token}/a2a with a2a_12345678_{'s' * 32}_abcdef")

    monkeypatch.setattr("mailbox.dialects.corvid.handler.handle_task_send", crash)
    try:
        response = send(client, route.token)
    finally:
        logger.removeHandler(stream)

    printed = capsys.readouterr().err
    assert response.status_code == 500
    assert "RuntimeError" in printed
    assert route.token.split("_")[2] not in printed + response.text
    assert "s" * 32 not in printed
    assert f"/p/p_{route.route.public_id}_…" in printed


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("GET /p/mistyped-token/a2a?x=1", "GET /p/…/a2a?x=1"),
        ("GET /p/p_ab/a2a", "GET /p/…/a2a"),
        ("/p/ and /ops/", "/p/ and /ops/"),
    ],
)
def test_a_logged_text_in_the_place_of_a_token_is_cut(written, printed):
    record = logging.LogRecord("x", logging.INFO, "", 0, "%s", (written,), None)

    assert RedactSecrets().filter(record)
    assert record.getMessage() == printed
    assert tokens.redact(printed) == printed


def test_every_printed_line_passes_the_redaction(settings):
    assert settings.LOGGING["handlers"]["stderr"]["filters"] == ["redacted"]
    assert settings.MIDDLEWARE[:5] == [
        "a2aproject.web.observation.ObservationMiddleware",  # looks at the pattern of the path alone
        "a2aproject.web.middleware.ProxyMiddleware",  # looks at no path
        "a2aproject.web.bodies.UnreadBodyMiddleware",  # looks at no path
        "a2aproject.web.middleware.LeadingSlashesMiddleware",  # keeps no path
        "mailbox.dialects.base.view.RouteMiddleware",
    ]

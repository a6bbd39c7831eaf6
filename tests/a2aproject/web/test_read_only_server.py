"""PostgreSQL that takes no change, as a standby or a demoted primary does: every answer is 503, and none is 500."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client
from psycopg.errors import ReadOnlySqlTransaction

from mailbox.access.callers import Role
from mailbox.access.credentials import public_routes
from mailbox.database.postgresql import base
from tests.support import factories, yeoman

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="only a server can become read-only for its clients"),
    pytest.mark.both_databases,
    pytest.mark.django_db(transaction=True),
]
ANY_TASK = str(uuid.UUID(int=1))


@pytest.fixture
def become_read_only():
    """Return a function after which the server refuses every change of this process."""

    def become():
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = on")

    yield become
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = off")


@pytest.mark.parametrize(
    ("method", "path", "word"),
    [
        ("GET", "/a2a/tasks/recent", "code"),
        ("POST", "/a2a/tasks", "code"),
        ("GET", f"/a2a/tasks/{ANY_TASK}", "error"),
        ("POST", "/a2a/tasks/send", "error"),
        ("GET", "/a2a/inboxes/alice/tasks", "code"),
        ("GET", f"/api/v1/tasks/{ANY_TASK}", "detail"),
        ("POST", "/api/v1/a2a/receive", "detail"),
        ("GET", "/agents/alice/rest/tasks?A2A-Version=1.0", "error"),
        ("POST", "/agents/alice/rest/message:send?A2A-Version=1.0", "error"),
        ("POST", "/agents/alice/a2a?A2A-Version=1.0", "error"),
    ],
)
def test_each_dialect_answers_503_in_its_own_shape(alice, become_read_only, method, path, word):
    client = Client(headers={"X-API-Key": factories.key_of(alice)}, raise_request_exception=False)
    become_read_only()

    answer = client.generic(method, path, data=b"{}", content_type="application/json")

    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert word in answer.json()


def test_a_public_route_answers_503(alice, olga, become_read_only):
    token = public_routes.add(olga, alice.agent, rate_limit=9).token
    become_read_only()

    answer = Client(raise_request_exception=False).post(
        f"/p/{token}/api/v1/a2a/receive", yeoman.envelope(), content_type="application/json"
    )

    assert (answer.status_code, answer["Retry-After"]) == (503, "1")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("POST", "/admin/logout/", 503), ("POST", "/ops/sign-out/", 503), ("GET", "/ops/", 200)],
)
def test_pages_for_people_are_shown_or_unavailable(become_read_only, method, path, status):
    factories.person("vic", Role.VIEWER)
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.get(username="vic"), backend="django.contrib.auth.backends.ModelBackend")
    become_read_only()

    answer = client.generic(
        method, path, data=b"username=vic&password=x", content_type="application/x-www-form-urlencoded"
    )

    assert (answer.status_code, answer.headers.get("Retry-After")) == (status, "1" if status == 503 else None)


def test_a_verb_raises_the_error_of_an_unavailable_database(alice, bob, become_read_only):
    become_read_only()

    with pytest.raises(OperationalError, match="read-only") as raised:
        factories.sent_task(alice, bob)

    assert isinstance(raised.value.__cause__, ReadOnlySqlTransaction)


def test_the_pool_drops_its_connections_to_a_read_only_server(monkeypatch, alice, bob, become_read_only):
    drains = []
    pool = type("Pool", (), {"drain": lambda self: drains.append(1)})()
    monkeypatch.setattr(base.DatabaseWrapper, "pool", pool)
    monkeypatch.setattr(base.DatabaseWrapper, "_drained_at", -base.DRAIN_EVERY)
    connection.ensure_connection()
    become_read_only()

    for _ in range(2):
        with pytest.raises(OperationalError):
            factories.sent_task(alice, bob)

    monkeypatch.undo()
    assert drains == [1]

import sqlite3
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from a2aproject.web import probes
from mailbox.database import outages
from mailbox.database.outages import Outage
from tests.support import factories, yeoman
from tests.support.a2a import message

OFFICIAL = "?A2A-Version=1.0"


@pytest.fixture(autouse=True)
def _outages_are_forgotten_and_each_probe_looks(monkeypatch):
    monkeypatch.setattr(outages, "_memory", outages._Memory())
    monkeypatch.setattr(probes, "KEPT_FOR", 0.0)
    probes.forget()
    yield
    probes.forget()


@pytest.mark.django_db(transaction=True)
def test_the_probes_of_a_second_get_one_answer_and_the_next_looks_again(client, monkeypatch):
    looks = []
    monkeypatch.setattr(probes, "KEPT_FOR", 1.0)

    def look():
        looks.append(True)
        return 200, "ok"

    clock = iter([0.0, 0.0, 0.9, 1.1, 1.1])
    monkeypatch.setattr(probes, "_look", look)
    monkeypatch.setattr(probes, "time", SimpleNamespace(monotonic=lambda: next(clock)))

    answers = [client.get("/readyz").status_code for _ in range(3)]

    assert (answers, len(looks)) == ([200] * 3, 2)


def test_healthz_answers_without_a_query(client):
    response = client.get("/healthz")

    assert response.status_code == 200
    assert response.json() == {"status": "ok"}


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_probes_accept_only_get_and_head(path, method):
    response = Client(enforce_csrf_checks=True).generic(method, path)

    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")
    assert response.json()["code"] == "method_not_allowed"


@pytest.mark.django_db(transaction=True)
def test_a_migrated_hub_is_ready(client):
    response = client.get("/readyz")

    assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.django_db
def test_a_hub_with_a_missing_migration_is_not_ready(client):
    (newest,) = MigrationLoader(connection).graph.leaf_nodes("mailbox")
    MigrationRecorder(connection).record_unapplied(*newest)

    response = client.get("/readyz")

    assert response.status_code == 503
    assert "not applied" in response.json()["status"]
    assert response["Retry-After"] == "1"


@pytest.mark.django_db
@pytest.mark.parametrize("app", ["mailbox", "agentcards"])
def test_a_hub_older_than_its_database_is_not_ready(client, app):
    MigrationRecorder(connection).record_applied(app, "9999_of_a_later_version")

    response = client.get("/readyz")

    assert (response.status_code, response["Retry-After"]) == (503, "1")
    assert response.json() == {"status": "the database is newer than this code"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("app", "name"), [("django_q", "9999_of_a_later_version"), ("mailbox", "0001_replaced_by_another")]
)
def test_migrations_of_others_and_replaced_migrations_do_not_make_a_database_newer(client, app, name):
    recorder = MigrationRecorder(connection)
    recorder.record_applied(app, name)
    try:
        response = client.get("/readyz")
    finally:
        recorder.record_unapplied(app, name)

    assert response.status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("outage", list(Outage))
def test_a_hub_whose_database_takes_no_change_is_not_ready(client, monkeypatch, outage):
    monkeypatch.setattr(outages, "standing", lambda: outage)

    response = client.get("/readyz")

    assert (response.status_code, response.json(), response["Retry-After"]) == (503, {"status": str(outage)}, "1")


@contextmanager
def full_database():
    """Let the database refuse every change in the block, since it is full."""

    class Full(sqlite3.OperationalError):
        sqlite_errorcode = sqlite3.SQLITE_FULL

    def refuse(execute, sql, params, many, context):
        if "UPDATE " in sql or "INSERT INTO" in sql:
            with connection.wrap_database_errors:
                raise Full("database or disk is full")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        yield


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="raises an error of SQLite")
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/a2a/tasks", {"recipient": "bob", "intent_text": "count"}),
        ("/api/v1/a2a/receive", yeoman.envelope()),
        (f"/agents/bob/rest/message:send{OFFICIAL}", {"message": message("count")}),
        (f"/agents/bob/rest/message:stream{OFFICIAL}", {"message": message("count")}),
        (
            f"/agents/bob/a2a{OFFICIAL}",
            {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message("count")}},
        ),
        ("/admin/login/", {"username": "vic", "password": "x"}),
    ],
)
def test_a_request_to_a_full_database_is_logged_with_its_cause_and_ends_readiness(
    client, alice, bob, monkeypatch, caplog, path, body
):
    program = Client(headers={"X-API-Key": factories.key_of(alice)}, raise_request_exception=False)
    factories.person("vic", None)

    with full_database():
        refused = program.post(path, body) if "login" in path else program.post(path, body, "application/json")
    during = client.get("/readyz")
    monkeypatch.setattr(outages, "REHEARSE_EVERY", 0.0)
    after = client.get("/readyz")

    assert (refused.status_code, refused["Retry-After"]) == (503, "1")
    assert "login" in path or "The database is full. It is unknown" in refused.text
    assert "the database failed: database or disk is full" in caplog.messages
    assert (during.status_code, during.json()) == (503, {"status": "the database is full"})
    assert after.status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="raises an error of SQLite")
@pytest.mark.parametrize("path", ["/a2a/tasks/recent", "/api/v1/tasks", f"/agents/alice/rest/tasks{OFFICIAL}"])
def test_a_reader_of_a_full_database_is_answered_and_ends_readiness(client, alice, path):
    program = Client(headers={"X-API-Key": factories.key_of(alice)}, raise_request_exception=False)

    with full_database():
        answer = program.get(path)

    assert answer.status_code == 200
    assert client.get("/readyz").json() == {"status": "the database is full"}


@pytest.mark.django_db
@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_hub_without_its_database_is_not_ready(client, monkeypatch, error):
    def refuse(*args):
        raise error

    monkeypatch.setattr("a2aproject.web.probes.MigrationExecutor", refuse)

    assert client.get("/readyz").status_code == 503

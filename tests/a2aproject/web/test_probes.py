from __future__ import annotations

import pytest
from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client


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


@pytest.mark.django_db
def test_a_migrated_hub_is_ready(client):
    response = client.get("/readyz")

    assert response.status_code == 200


@pytest.mark.django_db
def test_a_hub_with_a_missing_migration_is_not_ready(client):
    (newest,) = MigrationLoader(connection).graph.leaf_nodes("mailbox")
    MigrationRecorder(connection).record_unapplied(*newest)

    response = client.get("/readyz")

    assert response.status_code == 503
    assert "not applied" in response.json()["status"]
    assert response["Retry-After"] == "1"


@pytest.mark.django_db
def test_a_hub_without_its_database_is_not_ready(client, monkeypatch):
    def refuse(*args):
        raise OperationalError

    monkeypatch.setattr("a2aproject.web.probes.MigrationExecutor", refuse)

    assert client.get("/readyz").status_code == 503

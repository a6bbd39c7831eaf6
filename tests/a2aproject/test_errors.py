from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.urls import path


def crash(request):
    raise RuntimeError("secret detail")


def forbid(request):
    raise PermissionDenied


def accept(request):
    raise AssertionError("not reached")


urlpatterns = [path(f"{prefix}{view.__name__}", view) for prefix in ("", "ops/") for view in (crash, forbid, accept)]
handler400 = "a2aproject.errors.bad_request"
handler403 = "a2aproject.errors.permission_denied"
handler404 = "a2aproject.errors.page_not_found"
handler500 = "a2aproject.errors.server_error"

pytestmark = pytest.mark.urls(__name__)


@pytest.fixture
def client():
    return Client(raise_request_exception=False, enforce_csrf_checks=True)


@pytest.mark.parametrize(
    ("method", "path", "host", "status", "code"),
    [
        ("get", "/nowhere", "localhost", 404, "not_found"),
        ("get", "/crash", "localhost", 500, "internal_error"),
        ("get", "/forbid", "localhost", 403, "forbidden"),
        ("post", "/accept", "localhost", 403, "forbidden"),
        ("get", "/nowhere", "elsewhere.example", 400, "invalid_request"),
    ],
)
def test_machines_get_the_one_error_shape(client, method, path, host, status, code):
    response = getattr(client, method)(path, headers={"host": host})

    assert response.status_code == status
    assert response["Content-Type"] == "application/json"
    assert response.json().keys() == {"kind", "code", "message"}
    assert (response.json()["kind"], response.json()["code"]) == ("error", code)
    assert "secret detail" not in response.text
    assert ("ALLOWED_HOSTS" in response.text) == (host != "localhost")


@pytest.mark.parametrize(
    ("method", "path", "host", "status"),
    [
        ("get", "/ops/nowhere", "localhost", 404),
        ("get", "/ops/crash", "localhost", 500),
        ("get", "/ops/forbid", "localhost", 403),
        ("post", "/ops/accept", "localhost", 403),
        ("get", "/ops/nowhere", "elsewhere.example", 400),
    ],
)
def test_people_get_pages(client, method, path, host, status):
    response = getattr(client, method)(path, headers={"host": host})

    assert response.status_code == status
    assert response["Content-Type"].startswith("text/html")
    assert "secret detail" not in response.text

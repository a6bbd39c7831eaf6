import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import OperationalError, connection
from django.test import Client
from django.urls import path

from a2aproject.web import probes
from mailbox.access.callers import Role
from mailbox.database import outages
from tests.support import factories


def crash(request):
    raise RuntimeError("secret detail")


def forbid(request):
    raise PermissionDenied


def accept(request):
    raise AssertionError("not reached")


def lock(*_):
    raise OperationalError("database is locked")


VIEWS = (crash, forbid, accept, lock)
urlpatterns = [path(f"{prefix}{view.__name__}", view) for prefix in ("", "ops/") for view in VIEWS]
handler400 = "a2aproject.web.errors.bad_request"
handler403 = "a2aproject.web.errors.permission_denied"
handler404 = "a2aproject.web.errors.page_not_found"
handler500 = "a2aproject.web.errors.server_error"

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
def test_programs_get_errors_as_json(client, method, path, host, status, code):
    response = getattr(client, method)(path, headers={"host": host})

    assert response.status_code == status
    assert response["Content-Type"] == "application/json"
    assert response.json().keys() == {"kind", "code", "message"}
    assert (response.json()["kind"], response.json()["code"]) == ("error", code)
    assert "secret detail" not in response.text
    assert ("ALLOWED_HOSTS" in response.text) == (host != "localhost")


@pytest.mark.parametrize(
    ("path", "led_to"),
    [
        ("/", "/ops/"),
        ("/ops", "/ops/"),
        ("/docs", "/docs/"),
        ("/admin", "/admin/"),
        ("/ops/leases?state=stale&q=%22a+b%22", "/ops/leases/?state=stale&q=%22a+b%22"),
        ("/ops/leases/00000000-0000-4000-8000-000000000000", "/ops/leases/00000000-0000-4000-8000-000000000000/"),
        ("/ops/nowhere", None),
        ("/administrator", None),
        ("/a2a/queue/", None),
    ],
)
@pytest.mark.urls("a2aproject.urls")
def test_a_missing_slash_of_a_page_redirects_to_the_page(client, path, led_to):
    assert client.get(path).headers.get("Location") == client.head(path).headers.get("Location") == led_to
    assert client.post(path).status_code in (403, 404)


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", 302),
        ("*/*", 302),
        ("application/json", 404),
        ("application/json, text/plain, */*", 404),
        ("text/html;q=0.5, application/json", 404),
        ("image/png", 404),
    ],
)
@pytest.mark.urls("a2aproject.urls")
def test_the_root_redirects_browsers_and_answers_programs_with_404(client, accept, status):
    response = client.get("/", headers={"accept": accept})

    assert (response.status_code, response["Vary"]) == (status, "Accept")
    assert status == 302 or response.json()["code"] == "not_found"


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
def test_people_get_error_pages(client, method, path, host, status):
    response = getattr(client, method)(path, headers={"host": host})

    assert response.status_code == status
    assert response["Content-Type"].startswith("text/html")
    assert "secret detail" not in response.text


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [
        ("/ops/nowhere", "localhost", 404),
        ("/ops/forbid", "localhost", 403),
        ("/ops/nowhere", "elsewhere.example", 400),
    ],
)
def test_a_dialog_gets_the_panel_of_an_error_page(client, path, host, status):
    response = client.get(path, headers={"host": host, "hx-request": "true"})

    assert (response.status_code, response.text.count('id="panel-title"')) == (status, 1)
    assert "<html" not in response.text


def forbid_all(get_response):
    return forbid


def test_an_error_of_the_first_middleware_gets_an_error_page(client, settings):
    settings.MIDDLEWARE = [f"{__name__}.forbid_all", *settings.MIDDLEWARE]

    page, panel = client.get("/ops/nowhere"), client.get("/ops/nowhere", headers={"hx-request": "true"})

    assert (page.status_code, page.text.count("<html")) == (403, 1)
    assert (panel.status_code, panel.text.count("<html")) == (403, 0)


@pytest.mark.parametrize(("path", "status"), [("/ops/lock", 503), ("/lock", 500)])
def test_a_locked_database_is_503_on_pages_for_people(client, path, status):
    response = client.get(path)

    assert (response.status_code, response.headers.get("Retry-After")) == (status, "1" if status == 503 else None)
    assert ("Database unavailable" in response.text) == (status == 503)
    assert "Check before you repeat it" not in response.text
    assert 'id="panel-title"' not in response.text  # so that a dialog keeps its form and the text typed there


def test_a_form_during_a_locked_database_reports_an_unknown_outcome():
    response = Client(raise_request_exception=False).post("/ops/lock")

    assert response.status_code == 503
    assert "We don't know whether your change was applied" in response.text


@pytest.mark.django_db
@pytest.mark.urls("a2aproject.urls")
@pytest.mark.parametrize("place", ["django.contrib.auth.get_user", "dashboard.base.frame.attention"])
def test_a_locked_database_is_503_wherever_a_page_needs_it(client, monkeypatch, place):
    factories.person("vic", Role.VIEWER)
    client.force_login(User.objects.get(username="vic"), backend="django.contrib.auth.backends.ModelBackend")
    monkeypatch.setattr(place, lock)

    assert client.get("/ops/leases/").status_code == 503


@pytest.mark.django_db(transaction=True)
@pytest.mark.urls("a2aproject.urls")
@pytest.mark.parametrize("path", ["/ops/leases/", "/a2a/queue", "/p/token/a2a/queue", "/readyz"])
def test_two_503_answers_in_an_outage_write_one_line(client, alice, monkeypatch, caplog, path):
    key = factories.key_of(alice)
    factories.person("vic", Role.VIEWER)
    client.force_login(User.objects.get(username="vic"), backend="django.contrib.auth.backends.ModelBackend")
    monkeypatch.setattr(outages, "_memory", outages._Memory())
    monkeypatch.setattr(probes, "KEPT_FOR", 0.0)
    probes.forget()

    with monkeypatch.context() as outage:
        outage.setattr(connection, "cursor", lock)
        outage.setattr("mailbox.access.credentials.public_routes.recognise", lock)
        answers = [client.get(path, headers={"X-API-Key": key}).status_code for _ in range(2)]

    assert answers == [503, 503]
    assert caplog.messages == ["the database failed: database is locked"]

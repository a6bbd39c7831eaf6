"""A stranger's address has a rate for everything but the probes and static files. A signed-in person has none."""

import pytest
from django.contrib.auth.models import User
from django.templatetags.static import static
from django.test import Client

from mailbox.access.callers import Role
from mailbox.access.limits import rates
from tests.support import factories
from tests.support.pauses import stop_rates

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

DOCUMENTS = ["/docs/", "/docs/nothing/", "/api/docs/", "/api/schema/", "/ops/favicon.svg", "/nowhere", "/"]
PAGES = ["/ops/", "/ops/sign-in/", "/ops/nowhere/", "/admin/", "/admin/login/"]
BURST = 3


@pytest.fixture(autouse=True)
def _slow_rate(settings, monkeypatch):
    settings.WEB_WORKERS = 1
    settings.A2A_ADDRESS_REQUESTS_PER_S, settings.A2A_ADDRESS_REQUESTS_BURST = 1, BURST
    stop_rates(monkeypatch)
    yield
    rates.forget()


@pytest.fixture
def ana():
    """A browser in which Ana is signed in."""
    factories.person("ana", Role.OPERATOR)
    client = Client()
    client.force_login(User.objects.get(username="ana"), backend="django.contrib.auth.backends.ModelBackend")
    return client


def refusals(client, path, **headers):
    """Send one request more than the rate allows at once; return whether each was refused."""
    answers = [client.get(path, headers=headers) for _ in range(BURST + 1)]
    for file in [answer for answer in answers if answer.streaming]:
        file.close()
    return [answer.status_code == 429 for answer in answers]


@pytest.mark.parametrize("cookie", ["", "sessionid=zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"])
@pytest.mark.parametrize("path", [*DOCUMENTS, *PAGES])
def test_a_stranger_is_refused_beyond_the_rate_of_its_address(path, cookie):
    assert refusals(Client(), path, Cookie=cookie) == [False] * BURST + [True]


@pytest.mark.parametrize("path", PAGES)
def test_a_signed_in_person_has_pages_behind_the_address_of_a_stranger_beyond_its_rate(ana, path):
    refusals(Client(), "/docs/")

    assert refusals(ana, path) == [False] * (BURST + 1)
    assert Client().get("/docs/").status_code == 429


def test_the_session_of_a_deleted_person_is_a_stranger_s(ana):
    User.objects.get(username="ana").delete()

    assert refusals(ana, "/ops/") == [False] * BURST + [True]


@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_document_has_the_same_answer_for_everyone_so_each_request_for_it_counts(ana, path):
    assert refusals(ana, path) == [False] * BURST + [True]
    assert "Cookie" not in ana.get(path).get("Vary", "")


def test_a_balancer_s_probes_and_the_files_of_pages_are_not_counted():
    for path in ("/healthz", "/readyz", static("ops/ops.css")):
        assert not any(refusals(Client(), path))


@pytest.mark.parametrize("path", ["/ops/sign-in/", "/docs/", "/api/docs/"])
def test_people_get_a_page_that_says_when_to_try_again(path):
    refusals(Client(), path)

    answer, panel = Client().get(path), Client().get(path, headers={"HX-Request": "true"})

    assert answer["Retry-After"] == panel["Retry-After"] == "1"
    assert '<h1 id="panel-title">Too many requests</h1>' in answer.text
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
    assert panel.text.strip().startswith("<section")


@pytest.mark.parametrize("path", ["/api/schema/", "/nowhere"])
def test_programs_get_an_error_that_says_when_to_try_again(path):
    refusals(Client(), path)

    answer = Client().get(path)

    assert answer["Retry-After"] == "1"
    assert (answer.json()["kind"], answer.json()["code"]) == ("error", "rate_limited")

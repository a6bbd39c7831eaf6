"""The documents of all dialects that need no key: cards, keys and capabilities."""

import pytest

from mailbox.access.limits import rates
from tests.mailbox.dialects.conformance.routes import ROUTES
from tests.support.api import Api
from tests.support.doors import PROJECT
from tests.support.pauses import stop_rates

pytestmark = [pytest.mark.django_db, pytest.mark.one_database, pytest.mark.usefixtures("default_agent")]

ELSEWHERE = {"Origin": "https://elsewhere.example"}


def documents(*, tagged=False):
    """Return the path of each public document with its plain answer. ``tagged``: only of those that have an ETag."""
    of_the_hub = [route for door, routes in ROUTES.items() if door.urlconf == PROJECT for route in routes]
    found = [(route.path, Api().get(route.path)) for route in of_the_hub if route.is_public]
    assert len(found) > 4
    return [(path, plain) for path, plain in found if "ETag" in plain or not tagged]


def test_a_document_is_public_also_for_a_wrong_key():
    for path, plain in documents():
        answer = Api(headers={"Authorization": "Bearer wrong"}).get(path)

        assert (answer.status_code, answer.content) == (plain.status_code, plain.content) == (200, plain.content)


def test_head_has_the_headers_of_a_document_without_its_content():
    for path, plain in documents(tagged=True):
        answer = Api().call("HEAD", path)

        assert (answer.status_code, answer.content) == (200, b"")
        assert answer["ETag"] == plain["ETag"]


def test_a_client_that_has_the_document_gets_304_and_another_client_the_document():
    for path, plain in documents(tagged=True):
        for wanted in ("{}", "W/{}", '"other", {}', "*"):
            answer = Api().get(path, headers={"If-None-Match": wanted.format(plain["ETag"])})

            assert (answer.status_code, answer.content) == (304, b"")
            for name in ("ETag", "Cache-Control", "Access-Control-Allow-Origin"):
                assert answer[name] == plain[name]
        for other in ('"other"', "nonsense", "", "\x7f"):
            assert Api().get(path, headers={"If-None-Match": other}).status_code == 200


def test_a_browser_may_request_a_document_from_another_site():
    for path, plain in documents(tagged=True):
        answer = Api().call("OPTIONS", path, headers=ELSEWHERE)

        assert (answer.status_code, answer.content, answer["Content-Length"]) == (204, b"", "0")
        assert answer["Access-Control-Allow-Origin"] == plain["Access-Control-Allow-Origin"] == "*"
        assert answer["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
        assert "If-None-Match" in answer["Access-Control-Allow-Headers"]


def test_a_document_is_counted_for_the_address(settings, monkeypatch):
    settings.WEB_WORKERS = 1
    stop_rates(monkeypatch)
    settings.A2A_ADDRESS_REQUESTS_PER_S, settings.A2A_ADDRESS_REQUESTS_BURST = 1, 3

    for path in [path for path, _ in documents()]:
        rates.forget()
        refused = next(answer for answer in (Api().get(path) for _ in range(20)) if answer.status_code == 429)
        assert refused["RateLimit-Policy"] == '"address";q=3;w=3'
        assert refused["RateLimit"] == '"address";r=0;t=1'
    rates.forget()

"""The agents and keys that share a rate, and the headers of each answer that a rate counts."""

import pytest

from mailbox.access.limits import rates
from tests.support import factories
from tests.support.api import Api
from tests.support.pauses import stop_rates

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _slow_rates(settings, monkeypatch):
    settings.WEB_WORKERS = 1
    settings.A2A_AGENT_REQUESTS_PER_S = settings.A2A_ADDRESS_REQUESTS_PER_S = 1
    settings.A2A_AGENT_REQUESTS_BURST = settings.A2A_ADDRESS_REQUESTS_BURST = 3
    stop_rates(monkeypatch)
    yield
    rates.forget()


def until_refused(call):
    """Return the first answer with 429."""
    answers = (call() for _ in range(20))
    return next(answer for answer in answers if answer.status_code == 429)


def test_all_dialects_share_the_rate_of_an_agent_and_all_of_its_keys(alice, bob):
    until_refused(lambda: Api(alice).get("/a2a/queue"))

    assert Api(alice).get("/api/v1/tasks").status_code == 429
    assert Api(bob).get("/a2a/queue").status_code == 200


def test_an_answer_reads_what_is_left(alice):
    api = Api(alice)

    assert [api.get("/a2a/queue")["RateLimit"] for _ in range(3)] == [f'"caller";r={left};t=1' for left in (2, 1, 0)]


def test_an_agent_is_served_behind_the_address_of_a_stranger_beyond_its_rate(alice):
    api = Api(alice)
    until_refused(lambda: Api().get("/a2a/queue"))

    assert api.get("/a2a/queue").status_code == 200


def test_an_exact_limit_answers_with_the_same_headers(alice, bob, settings):
    settings.A2A_AGENT_REQUESTS_BURST = 20
    settings.A2A_RECEIVE_RATE_LIMIT_PER_MIN = 2
    api = Api(alice)

    response = until_refused(lambda: api.post("/api/v1/tasks", {"title": "work", "description": "do it"}))

    assert response.json() == {"detail": "A2A rate limit exceeded"}
    assert 0 < int(response["Retry-After"]) <= 60
    assert response["RateLimit-Policy"] == '"yeoman";q=2;w=60'
    assert response["RateLimit"] == f'"yeoman";r=0;t={response["Retry-After"]}'


def test_a_public_route_answers_with_its_own_limit(alice):
    route = factories.route(alice, rate_limit=2)
    api = Api(prefix=route)

    first, second, third = (api.get("/.well-known/agent-card.json") for _ in range(3))

    assert [first["RateLimit"].partition(";t")[0], second["RateLimit"].partition(";t")[0]] == [
        '"route";r=1',
        '"route";r=0',
    ]
    assert third.status_code == 429
    assert third["RateLimit-Policy"] == '"route";q=2;w=60'

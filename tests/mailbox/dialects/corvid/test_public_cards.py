from __future__ import annotations

import json

import pytest

from agentcards.card_document import build_agent_card, build_agent_card_for_agent
from agentcards.models import AgentProfile, Tool
from mailbox.verbs.agents import public_routes
from tests.support.documented import DocumentedClient

pytestmark = pytest.mark.django_db

HUB = "/.well-known/agent-card.json"


@pytest.fixture
def anyone():
    return DocumentedClient()


@pytest.fixture(params=["hub", "agent"])
def page(request, bob):
    return HUB if request.param == "hub" else "/.well-known/agents/bob"


def test_the_hub_s_card_is_public_and_pretty(anyone):
    answer = anyone.get(HUB)

    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/json"
    assert answer["Cache-Control"] == "public, max-age=300"
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer.json() == build_agent_card()
    assert answer.content.decode() == json.dumps(answer.json(), indent=2)


@pytest.mark.parametrize("form", ["display", "local", "pubkey"])
def test_an_agent_s_card_is_public_under_any_of_its_names(anyone, bob, form):
    answer = anyone.get(f"/.well-known/agents/{getattr(bob.agent, form)}")

    assert answer.json() == build_agent_card_for_agent(bob.agent)
    assert answer["Cache-Control"] == "public, max-age=300"


def test_agents_cards_are_shown_to_nobody_where_that_is_turned_off(anyone, bob, settings):
    settings.A2A_PUBLIC_AGENT_CARDS = False

    assert anyone.get("/.well-known/agents/bob").content == anyone.get("/.well-known/agents/nobody").content
    assert anyone.get(HUB).status_code == 200


def test_an_unknown_agent_is_404_that_is_not_kept(anyone):
    answer = anyone.get("/.well-known/agents/nobody")

    assert (answer.status_code, answer.json()) == (404, {"error": "Not found"})
    assert answer["Cache-Control"] == "no-store"
    assert answer["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("wanted", ["{etag}", "W/{etag}", '"other", {etag}', "*"])
def test_who_has_the_card_is_answered_304(anyone, page, wanted):
    etag = anyone.get(page)["ETag"]

    answer = anyone.get(page, headers={"If-None-Match": wanted.format(etag=etag)})

    assert (answer.status_code, answer.content) == (304, b"")
    assert answer["ETag"] == etag
    assert answer["Cache-Control"] == "public, max-age=300"
    assert answer["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize("wanted", ['"other"', "nonsense", "", "\x7f"])
def test_who_has_another_card_gets_this_one(anyone, page, wanted):
    assert anyone.get(page, headers={"If-None-Match": wanted}).status_code == 200


def test_the_tag_changes_with_the_card_and_only_with_it(anyone, bob):
    page = "/.well-known/agents/bob"
    first = anyone.get(page)["ETag"]
    same = anyone.get(page)["ETag"]
    AgentProfile.objects.create(agent=bob.agent, description="Works")
    told = anyone.get(page)["ETag"]
    Tool.objects.create(name="read", is_default=True)

    assert first == same
    assert len({first, told, anyone.get(page)["ETag"]}) == 3


def test_head_says_the_same_without_the_card(anyone, page):
    answer = anyone.head(page)

    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["ETag"] == anyone.get(page)["ETag"]


def test_a_browser_is_told_that_it_may_ask(anyone, page):
    answer = anyone.options(page, headers={"Origin": "https://elsewhere.example"})

    assert (answer.status_code, answer.content, answer["Content-Length"]) == (204, b"", "0")
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
    assert "If-None-Match" in answer["Access-Control-Allow-Headers"]


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_a_card_is_only_read(anyone, page, method):
    answer = getattr(anyone, method)(page)

    assert (answer.status_code, answer.json()) == (404, {"error": "Not found"})


def test_a_wrong_key_does_not_keep_anyone_from_a_public_card(page):
    assert DocumentedClient(headers={"Authorization": "Bearer wrong"}).get(page).status_code == 200


def test_the_card_names_the_public_url_whatever_host_was_asked(anyone, settings):
    settings.PUBLIC_URL = "https://hub.example"
    settings.ALLOWED_HOSTS = ["*"]

    card = anyone.get(HUB, headers={"Host": "evil.example"}).json()

    assert card["url"] == "https://hub.example"


def test_a_client_that_only_knows_a_route_finds_the_hub_s_card_under_it(anyone, alice, olga):
    route = public_routes.add(olga, alice.agent, rate_limit=2)

    answers = [anyone.get(f"/p/{route.token}{HUB}") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[0].json() == build_agent_card()
    assert answers[0]["Cache-Control"] == "no-store"
    assert route.token.encode() not in answers[0].content


@pytest.mark.parametrize("path", ["/api/agents", "/api/agents/bob", "/api/agents/bob/agent-card"])
def test_what_needs_a_key_is_not_found_under_a_route(anyone, alice, bob, olga, path):
    route = public_routes.add(olga, alice.agent, rate_limit=10)

    assert anyone.get(f"/p/{route.token}{path}").status_code == 404

import json

import pytest

from agentcards.card_document import build_agent_card, build_agent_card_for_agent
from mailbox.models import Task
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db

HUB = "/.well-known/agent-card.json"


@pytest.fixture
def anyone():
    return Api()


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


def test_agents_cards_are_hidden_if_the_setting_is_off(anyone, bob, settings):
    settings.A2A_PUBLIC_AGENT_CARDS = False

    assert anyone.get("/.well-known/agents/bob").content == anyone.get("/.well-known/agents/nobody").content
    assert anyone.get(HUB).status_code == 200


def test_an_unknown_agent_is_404_without_caching(anyone):
    answer = anyone.get("/.well-known/agents/nobody")

    assert (answer.status_code, answer.json()) == (404, {"error": "Not found"})
    assert answer["Cache-Control"] == "no-store"
    assert answer["Access-Control-Allow-Origin"] == "*"


def test_the_tag_changes_with_the_card_and_only_with_it(anyone, bob):
    page = "/.well-known/agents/bob"
    first = anyone.get(page)["ETag"]
    same = anyone.get(page)["ETag"]
    factories.profile(bob, description="Works")
    told = anyone.get(page)["ETag"]
    factories.tool("read", is_default=True)

    assert first == same
    assert len({first, told, anyone.get(page)["ETag"]}) == 3


def test_the_card_names_the_public_url_for_every_host_header(anyone, settings):
    settings.PUBLIC_URL = "https://hub.example"
    settings.ALLOWED_HOSTS = ["*"]

    card = anyone.get(HUB, headers={"Host": "evil.example"}).json()

    assert card["url"] == "https://hub.example"


@pytest.fixture
def prefix(alice):
    return factories.route(alice)


def addresses(card):
    """Return the addresses that a card names for requests to its agent."""
    endpoints = [protocol.get("endpoint") for protocol in card["supportedProtocols"]]
    return [card["url"], *filter(None, endpoints)]


def test_a_card_read_under_a_route_names_addresses_under_that_route(anyone, page, prefix, settings):
    settings.PUBLIC_URL = "https://hub.example"

    card = anyone.get(f"{prefix}{page}", headers={"Host": "localhost"}).json()

    assert len(addresses(card)) > 1
    assert all(address.startswith(f"https://hub.example{prefix}") for address in addresses(card))


@pytest.mark.usefixtures("default_agent")
def test_the_addresses_of_a_card_read_under_a_route_answer_its_client(anyone, prefix, alice, bob, settings):
    hub = anyone.get(f"{prefix}{HUB}").json()
    agent = anyone.get(f"{prefix}/.well-known/agents/bob").json()
    sends = hub["supportedProtocols"][0]["endpoint"].removeprefix(settings.PUBLIC_URL)
    invokes = agent["supportedProtocols"][0]["endpoint"].removeprefix(settings.PUBLIC_URL)

    sent = anyone.post(sends, {"message": "hi"}).json()["id"]
    invoked = anyone.post(invokes, {"content": "hi"}).json()["messageId"]

    assert anyone.get(agent["url"].removeprefix(settings.PUBLIC_URL)).json() == agent
    read = [anyone.get(f"{prefix}/a2a/tasks/{task_id}").status_code for task_id in (sent, invoked)]
    assert read == [200, 200]
    assert set(Task.objects.values_list("sender", "recipient")) == {(alice.agent.pk, bob.agent.pk)}


@pytest.mark.parametrize("path", ["/.well-known/a2a-agent", "/api/v1/a2a/capabilities"])
def test_a_description_for_peers_names_no_address_at_all(anyone, prefix, path, settings):
    answer = anyone.get(f"{prefix}{path}")

    assert answer.status_code == 200
    assert settings.PUBLIC_URL not in answer.text

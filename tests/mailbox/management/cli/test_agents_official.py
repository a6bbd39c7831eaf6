import json

import pytest
from django.core.management import CommandError

from agentcards import card_signing
from mailbox.access.agents import grants
from mailbox.models import Agent
from tests.support import factories, official

pytestmark = pytest.mark.django_db


def test_an_agent_is_opened_and_closed(a2a, cast):
    opened = a2a("agents", "open", "bob", "--reason", "a demo")
    is_open = grants.is_open(Agent.objects.get(local="bob"))
    closed = a2a("agents", "close", "bob")

    assert factories.journal("agent_opened")[0].fields["reason"] == "a demo"
    assert opened.startswith("opened bob@local: callers without a key send to it at http")
    assert opened.strip().endswith("/agents/bob@local/")
    assert closed.strip() == "closed bob@local: only callers with a key send to it"
    assert (is_open, grants.is_open(Agent.objects.get(local="bob"))) == (True, False)


def test_the_json_of_both_names_the_agent(a2a_json, cast):
    told = [a2a_json("agents", act, "bob", "--json") for act in ("open", "close")]

    assert [one["kind"] for one in told] == ["a2a_agent_opened", "a2a_agent_closed"]
    assert {one["agent"]["display"] for one in told} == {"bob@local"}


def test_the_card_follows_the_base_url(a2a, cast, settings):
    settings.PUBLIC_URL = "https://hub.example"

    base_url, _, card = a2a("agents", "card", "bob").partition("\n")

    assert base_url == "https://hub.example/agents/bob@local/"
    official.parsed(json.loads(card))
    official.verify(json.loads(card))


def test_the_json_of_a_card_names_its_key(a2a_json, cast):
    told = a2a_json("agents", "card", "bob", "--json")

    assert told.keys() == {"kind", "base_url", "key_id", "card"}
    assert told["key_id"] == card_signing.key_id()


@pytest.mark.parametrize("act", ["open", "close", "card"])
def test_an_unknown_agent_is_an_error(a2a, act):
    with pytest.raises(CommandError, match="No agent named"):
        a2a("agents", act, "nobody")

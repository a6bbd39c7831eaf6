from email.utils import parsedate_to_datetime

import pytest
from a2a.compat.v0_3 import types as v0_3

from agentcards import card_signing, official_agents, profiles
from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from tests.support import factories, official
from tests.support.api import Api

pytestmark = pytest.mark.django_db

CARD, KEYS = "/agents/bob@local/.well-known/agent-card.json", "/.well-known/jwks.json"
NEWER = {"A2A-Version": "1.0"}


@pytest.fixture
def anyone():
    return Api()


@pytest.mark.parametrize("name", ["bob@local", "bob"])
def test_a_client_of_1_0_reads_a_card_that_it_can_verify_by_the_keys(anyone, bob, name):
    answer = anyone.get(f"/agents/{name}/.well-known/agent-card.json", headers=NEWER)

    assert answer["Content-Type"] == "application/json"
    assert answer["Cache-Control"] == "public, max-age=300"
    assert answer["Vary"] == "A2A-Version"
    official.parsed(answer.json())
    official.verify(answer.json(), anyone.get(KEYS).json()["keys"])


def test_the_version_may_stand_in_the_query(anyone, bob):
    assert "protocolVersion" not in anyone.get(f"{CARD}?A2A-Version=1.0").json()


def test_a_client_without_a_version_reads_both_forms_in_one(anyone, bob):
    card = anyone.get(CARD).json()

    assert v0_3.AgentCard.model_validate(card).protocol_version == "0.3.0"
    official.verify(card)


def test_the_addresses_are_those_of_the_public_url(anyone, bob, settings):
    settings.PUBLIC_URL, settings.ALLOWED_HOSTS = "https://hub.example", ["*"]

    card = anyone.get(CARD, headers={"Host": "evil.example", **NEWER}).json()

    urls = [one["url"] for one in card["supportedInterfaces"]]
    assert urls == ["https://hub.example/agents/bob@local/a2a", "https://hub.example/agents/bob@local/rest"]


def test_the_two_forms_have_tags_of_their_own(anyone, bob):
    older, newer = anyone.get(CARD)["ETag"], anyone.get(CARD, headers=NEWER)["ETag"]

    assert older != newer
    assert anyone.get(CARD, headers={"If-None-Match": newer}).status_code == 200


def test_a_change_of_the_profile_changes_the_tag_and_its_time(anyone, bob):
    before = anyone.get(CARD)
    changed = profiles.update_profile(Caller.command_line(), bob.agent, {"card_version": "2"})
    official_agents.forget()
    after = anyone.get(CARD, headers={"If-None-Match": before["ETag"]})

    assert (after.status_code, after.json()["version"]) == (200, "2")
    assert changed.changed_at is not None
    assert parsedate_to_datetime(after["Last-Modified"]) == changed.changed_at.replace(microsecond=0)
    assert parsedate_to_datetime(before["Last-Modified"]) == bob.agent.created_at.replace(microsecond=0)


def test_a_new_secret_does_not_change_the_tag(anyone, bob, settings):
    before = anyone.get(CARD)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another", [settings.SECRET_KEY]
    after = anyone.get(CARD)

    assert before["ETag"] == after["ETag"]
    assert before.json()["signatures"] != after.json()["signatures"]
    for answer in (before, after):
        official.verify(answer.json(), anyone.get(KEYS).json()["keys"])


def test_the_keys_are_public_halves_alone(anyone):
    answer = anyone.get(KEYS)

    assert answer.json() == {"keys": card_signing.public_keys()}
    assert answer["Cache-Control"] == "public, max-age=300"
    assert "Vary" not in answer.headers


def test_an_open_agent_says_so_in_its_card(anyone, bob):
    grants.open_to_anyone(Caller.command_line(), bob.agent)

    assert "securityRequirements" not in anyone.get(CARD).json()
    assert "security" not in anyone.get(CARD).json()


@pytest.mark.parametrize("name", ["nobody", "nobody@local", "a b", "%00", "bob%0A"])
def test_an_unknown_agent_is_404_without_caching(anyone, bob, name):
    answer = anyone.get(f"/agents/{name}/.well-known/agent-card.json")

    told = answer.json()["error"]
    assert (answer.status_code, told["code"], told["status"]) == (404, 404, "NOT_FOUND")
    assert (told["details"][0]["reason"], told["details"][0]["domain"]) == ("AGENT_NOT_FOUND", "a2a-hub")
    assert answer["Cache-Control"] == "no-store"
    assert answer["Access-Control-Allow-Origin"] == "*"


class TestWhereCardsAreNotPublic:
    @pytest.fixture(autouse=True)
    def _cards_are_not_public(self, settings):
        settings.A2A_PUBLIC_AGENT_CARDS = False

    @pytest.mark.parametrize("name", ["bob", "nobody"])
    def test_a_card_needs_a_key(self, anyone, bob, name):
        answer = anyone.get(f"/agents/{name}/.well-known/agent-card.json")

        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
        assert answer.json()["error"]["status"] == "UNAUTHENTICATED"

    def test_a_card_that_a_key_has_opened_is_kept_by_no_shared_cache(self, bob, mallory):
        answer = Api(headers={"Authorization": f"Bearer {factories.key_of(mallory)}"}).get(CARD)

        assert (answer.status_code, answer["Cache-Control"]) == (200, "private, max-age=300")

    def test_a_browser_may_still_ask_what_is_allowed(self, anyone, bob):
        assert anyone.call("OPTIONS", CARD).status_code == 204

    def test_the_keys_are_public(self, anyone):
        assert anyone.get(KEYS).status_code == 200

import pytest

from agentcards import official_agents, profiles
from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.words.errors import UnknownAgentError
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def clock(monkeypatch):
    """Return the clock of the agents that are kept, in seconds, as a list of one number."""
    now = [1000.0]
    monkeypatch.setattr("agentcards.official_agents.time.monotonic", lambda: now[0])
    return now


@pytest.mark.parametrize("name", ["bob@local", "bob"])
def test_an_agent_is_found_by_its_display_or_local_part(bob, name):
    assert official_agents.find(name).agent == bob.agent


@pytest.mark.parametrize("name", ["carol", "", "bob@", "a\x00b", "x" * 300])
def test_another_name_finds_no_agent(bob, name):
    with pytest.raises(UnknownAgentError):
        official_agents.find(name)


def test_a_local_part_that_fits_two_agents_finds_none():
    for host in ("north", "south"):
        factories.AgentFactory.create(display=f"twin@{host}")

    with pytest.raises(UnknownAgentError) as refusal:
        official_agents.find("twin")

    assert "north" not in refusal.value.message


def test_what_the_card_says_is_at_hand(bob):
    extensions = [{"uri": "urn:a", "required": True}, {"uri": "urn:b"}]
    factories.profile(bob, input_modes=["Text/Plain"], extensions=extensions)

    found = official_agents.find("bob")

    assert (found.input_modes, found.output_modes) == (("Text/Plain",), ("text/plain", "application/json", "*/*"))
    assert (found.extensions, found.required_extensions) == (("urn:a", "urn:b"), frozenset({"urn:a"}))
    assert not found.is_open


def test_an_agent_is_read_again_after_two_seconds(bob, clock, django_assert_num_queries):
    first = official_agents.find("bob")
    with django_assert_num_queries(0):
        again = official_agents.find("bob")
    profiles.update_profile(Caller.command_line(), bob.agent, {"card_version": "2"})
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    clock[0] += 1.9
    old = official_agents.find("bob")
    clock[0] += 0.2
    new = official_agents.find("bob")

    assert again is first is old
    assert (new.profile.card_version, new.is_open) == ("2", True)


def test_at_most_so_many_agents_are_kept(bob, alice, monkeypatch):
    monkeypatch.setattr(official_agents, "MOST_KEPT", 2)

    for name in ("bob", "alice", "bob@local", "alice@local"):
        official_agents.find(name)

    assert list(official_agents._kept._by_name) == ["bob@local", "alice@local"]

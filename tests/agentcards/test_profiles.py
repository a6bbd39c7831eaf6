import pytest

from agentcards import profiles
from agentcards.models import AgentProfile
from agentcards.models.validation import LONGEST_TEXT
from mailbox.access.callers import Caller, Role
from mailbox.database import paging
from mailbox.models import Agent
from mailbox.words.errors import AgentConflictError, CapabilityMissingError, InvalidRequestError
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return factories.person("ada", Role.ADMIN)


def test_an_agent_can_change_its_own_description_fields(alice):
    told = {
        "description": "Reviews code",
        "persona_archetype": "Scholar",
        "skill_bundles": ["review"],
        "wallet_address": "ALGO",
    }

    profiles.update_profile(alice, alice.agent, told)

    stored = AgentProfile.objects.get(agent=alice.agent)
    assert {name: getattr(stored, name) for name in told} == told
    assert factories.last_event().kind == "agent_profile_changed"
    assert factories.last_event().fields == {"display": "alice@local", "changed": told}


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "Hub Operator"},
        {"default_project": "main"},
        {"tool_permissions": ["corvid_web_search"]},
        {"remote_url": "https://mallory.example"},
        {"description": "fine", "default_project": "main"},
    ],
)
def test_an_agent_may_not_decide_which_tasks_reach_it(mallory, changes):
    with pytest.raises(CapabilityMissingError):
        profiles.update_profile(mallory, mallory.agent, changes)

    assert not AgentProfile.objects.exists()
    assert factories.last_event().fields["missing_actions"] == ["a2a.agents.profile"]


@pytest.mark.parametrize(
    "profile", [{"default_project": "main"}, {"tool_permissions": []}, {"remote_url": "https://mallory.example"}]
)
def test_a_registrar_cannot_set_fields_that_route_tasks(profile):
    registrar = factories.agent("registrar", "a2a.agents.register")

    with pytest.raises(CapabilityMissingError):
        profiles.register_agent(registrar, "puppet", profile={"description": "mine", **profile})

    assert not Agent.objects.filter(local="puppet").exists()
    assert factories.last_event().fields["missing_actions"] == ["a2a.agents.profile"]


def test_a_registrar_can_set_names_and_descriptions():
    registrar = factories.agent("registrar", "a2a.agents.register")
    told = {"name": "A Puppet", "description": "mine", "default_project": "", "tool_permissions": None}

    made = profiles.register_agent(registrar, "puppet", profile=told)

    assert AgentProfile.of(made.agent).shown_name == "A Puppet"


def test_a_registrar_cannot_change_another_agent_s_profile(bob):
    registrar = factories.agent("registrar", "a2a.agents.register")

    with pytest.raises(CapabilityMissingError):
        profiles.update_profile(registrar, bob.agent, {"description": "mine now"})


def test_admins_and_the_command_line_can_change_profiles_but_operators_cannot(bob, olga, ada):
    with pytest.raises(CapabilityMissingError):
        profiles.update_profile(olga, bob.agent, {"default_project": "main"})

    profiles.update_profile(ada, bob.agent, {"default_project": "main"})
    profiles.update_profile(Caller.command_line(), bob.agent, {"name": "Bob"})

    stored = AgentProfile.objects.get()
    assert (stored.default_project, stored.name) == ("main", "Bob")


def test_an_update_with_equal_values_is_not_journalled(alice):
    profiles.update_profile(alice, alice.agent, {"description": "Reviews"})
    before = factories.journal_length()

    profiles.update_profile(alice, alice.agent, {"description": "Reviews"})

    assert factories.journal_length() == before


def test_an_agent_can_send_fields_it_may_not_change_with_equal_values(bob, ada):
    profiles.update_profile(ada, bob.agent, {"default_project": "main"})

    profiles.update_profile(bob, bob.agent, {"default_project": "main", "description": "Works"})

    assert AgentProfile.objects.get().description == "Works"


def test_a_remote_url_is_not_journalled(bob, ada):
    profiles.update_profile(ada, bob.agent, {"remote_url": "https://:secret@remote.example"})

    assert factories.last_event().fields["changed"] == {"remote_url": "(not shown)"}
    assert AgentProfile.objects.get().remote_url == "https://:secret@remote.example"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "x" * 201),
        ("description", "x" * 20_001),
        ("description", "\x00"),
        ("description", "\ud800"),
        ("description", None),
        ("persona_archetype", "x" * 101),
        ("skill_bundles", None),
        ("skill_bundles", "review"),
        ("skill_bundles", [""]),
        ("skill_bundles", ["\x00"]),
        ("tool_permissions", {"a": 1}),
        ("tool_permissions", [1]),
        ("remote_url", "ftp://remote.example"),
        ("remote_url", "http://localhost:3000"),
        ("remote_url", "http://169.254.169.254/latest"),
        ("remote_url", "javascript:alert(1)"),
        ("remote_url", "https://remote.example/" + "x" * 500),
    ],
)
def test_an_invalid_value_is_rejected_and_nothing_changes(bob, ada, field, value):
    profiles.update_profile(ada, bob.agent, {"description": "before"})

    with pytest.raises(InvalidRequestError) as refused:
        profiles.update_profile(ada, bob.agent, {"wallet_address": "new", field: value})

    assert list(refused.value.fields) == [field]
    stored = AgentProfile.objects.get()
    assert (stored.description, stored.wallet_address) == ("before", "")


def test_a_blocked_stored_remote_url_does_not_prevent_other_changes(bob, ada, settings):
    settings.A2A_OUTBOUND_ALLOW = ["localhost"]
    profiles.update_profile(ada, bob.agent, {"remote_url": "http://localhost:3000"})
    settings.A2A_OUTBOUND_ALLOW = []

    profiles.update_profile(bob, bob.agent, {"description": "still here"})

    assert AgentProfile.objects.get().description == "still here"


def test_an_agent_is_registered_with_its_profile_or_not_at_all(ada):
    made = profiles.register_agent(ada, "canyon", profile={"default_project": "main"})
    with pytest.raises(InvalidRequestError):
        profiles.register_agent(ada, "forge", profile={"description": "\x00"})
    with pytest.raises(AgentConflictError):
        profiles.register_agent(ada, "Canyon", profile={"description": "usurper"})

    assert AgentProfile.objects.get().agent == made.agent
    assert list(Agent.objects.values_list("display", flat=True)) == ["canyon@local"]


def test_profiles_are_listed_by_the_names_of_their_agents_also_without_a_profile(alice, bob):
    factories.profile(bob, name="Bob")

    first = profiles.listing(limit=1)
    second = profiles.listing(limit=1, cursor=first.next_cursor)

    found = [*first.items, *second.items]
    assert [(one.agent, one.shown_name) for one in found] == [(alice.agent, "alice"), (bob.agent, "Bob")]
    assert (second.next_cursor, AgentProfile.objects.count()) == (None, 1)


def test_a_page_of_long_profiles_ends_at_the_budget():
    many = 2 * paging.BUDGET // LONGEST_TEXT
    agents = factories.AgentFactory.create_batch(many)
    AgentProfile.objects.bulk_create(AgentProfile(agent=agent, description="x" * LONGEST_TEXT) for agent in agents)

    page = profiles.listing(limit=1000)
    whole = list(paging.every(lambda cursor: profiles.listing(limit=1000, cursor=cursor)))

    assert sum(len(one.description) for one in page.items) < paging.BUDGET
    assert [one.agent for one in whole] == sorted(agents, key=lambda agent: agent.display)

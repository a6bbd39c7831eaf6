import pytest

from agentcards import profiles
from agentcards.card_document import build_agent_card_for_agent
from agentcards.models import AgentProfile
from tests.support import factories

pytestmark = pytest.mark.django_db


def add(name, **profile):
    return factories.profile(factories.agent(name), **profile).agent


@pytest.mark.parametrize("permitted", [None, [], ["search"], ["unheard_of"]])
@pytest.mark.parametrize("skill", ["search", "read", "unheard_of"])
def test_an_agent_is_chosen_only_for_skills_its_card_lists(permitted, skill):
    factories.tool("search")
    factories.tool("read", is_default=True)
    agent = add("ann", tool_permissions=permitted)

    listed = [one["id"] for one in build_agent_card_for_agent(agent)["skills"]]

    assert profiles.recipient_for(skill) == (agent if skill in listed else None)


def test_the_first_agent_with_a_default_project_is_chosen_for_any_skill():
    factories.tool("read")
    add("ann", tool_permissions=["read"])
    ben = add("ben", default_project="main", tool_permissions=[])
    add("cat", default_project="main", tool_permissions=["read"])

    assert [profiles.recipient_for(skill) for skill in ("read", "unheard_of", None)] == [ben, ben, ben]


def test_without_default_projects_the_first_agent_that_lists_the_skill_is_chosen():
    factories.tool("read", is_default=True)
    ann, ben = add("ann"), add("ben", tool_permissions=["read"])

    assert profiles.recipient_for("read") == ben
    AgentProfile.objects.filter(agent=ben).delete()
    assert profiles.recipient_for("read") == ann
    assert profiles.recipient_for() is None


def test_skill_first_prefers_agents_that_list_the_skill_or_have_a_project():
    factories.tool("read", is_default=True)
    ann = add("ann")
    ben = add("ben", default_project="main", tool_permissions=[])
    cat, dan = add("cat", default_project="main"), add("dan", tool_permissions=["read"])

    def chosen(skill):
        return profiles.recipient_for(skill, skill_first=True)

    assert (chosen("read"), chosen("unheard_of"), chosen(None)) == (cat, ben, ben)
    AgentProfile.objects.filter(agent=cat).delete()
    assert chosen("read") == dan
    AgentProfile.objects.filter(agent=dan).delete()
    assert chosen("read") == ann

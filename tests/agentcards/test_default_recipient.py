from __future__ import annotations

import pytest

from agentcards import default_recipient
from agentcards.card_document import build_agent_card_for_agent
from agentcards.models import AgentProfile, Tool
from tests.support import factories

pytestmark = pytest.mark.django_db


def add(name, **profile):
    agent = factories.row_of(factories.agent(name))
    AgentProfile.objects.create(agent=agent, **profile)
    return agent


@pytest.mark.parametrize("permitted", [None, [], ["search"], ["unheard_of"]])
@pytest.mark.parametrize("skill", ["search", "read", "unheard_of"])
def test_an_agent_is_chosen_for_the_skills_its_card_lists(permitted, skill):
    Tool.objects.create(name="search")
    Tool.objects.create(name="read", is_default=True)
    agent = add("ann", tool_permissions=permitted)

    listed = [one["id"] for one in build_agent_card_for_agent(agent)["skills"]]

    assert default_recipient.recipient_for(skill) == (agent if skill in listed else None)


def test_of_those_that_have_a_skill_the_first_that_says_so_or_takes_what_names_nobody_is_chosen():
    Tool.objects.create(name="read", is_default=True)
    add("ann")
    add("ben", default_project="main", tool_permissions=[])
    cat, dan = add("cat", default_project="main"), add("dan", tool_permissions=["read"])

    assert default_recipient.recipient_for("read") == cat
    AgentProfile.objects.filter(agent=cat).delete()
    assert default_recipient.recipient_for("read") == dan


def test_a_skill_of_the_default_tools_is_had_before_a_default_project_counts():
    Tool.objects.create(name="read", is_default=True)
    ann, ben = add("ann"), add("ben", default_project="main", tool_permissions=[])

    assert (default_recipient.recipient_for("read"), default_recipient.recipient_for("unheard_of")) == (ann, ben)
    assert default_recipient.recipient_for() == ben

import pytest
from django.utils import timezone

from agentcards.card_checks import checks_of
from agentcards.card_document import build_agent_card_for_agent
from agentcards.models import AgentCard, AgentProfile
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def agent(settings):
    """An agent whose card passes every check."""
    settings.PUBLIC_URL = "https://hub.example.com"
    factories.tool("corvid_search", description="Search the web", is_default=True)
    return factories.profile(factories.agent("writer"), description="Writes reports").agent


def problems(agent, *jobs, **changes):
    AgentProfile.objects.filter(agent=agent).update(**changes)
    found = checks_of(AgentProfile.of(agent), build_agent_card_for_agent(agent), jobs)
    return {check.words: check.problem for check in found if not check.passed}


def test_a_good_card_passes(agent):
    assert problems(agent) == {}
    assert problems(agent, remote_url="https://elsewhere.example.com/agent") == {}


@pytest.mark.parametrize(
    ("changes", "words", "problem"),
    [
        ({"description": " "}, "Description", "No description"),
        ({"tool_permissions": []}, "Skills", "Register or allow tools"),
        ({"tool_permissions": ["corvid_search", "gone"]}, "All allowed tools are registered", "gone"),
        ({"skill_bundles": [""]}, "Profile valid", "skill_bundles"),
        ({"remote_url": "http://10.0.0.7/agent"}, "Remote URL allowed", "10.0.0.7"),
        ({"remote_url": "https://:secret@10.0.0.7"}, "Remote URL allowed", "10.0.0.7"),
    ],
)
def test_each_problem_is_named(agent, changes, words, problem):
    found = problems(agent, **changes)

    assert list(found) == [words]
    assert problem in found[words]
    assert "secret" not in found[words]


def test_what_stops_nobody_is_a_note(agent, settings):
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    AgentProfile.objects.filter(agent=agent).update(description="", tool_permissions=["gone"])
    found = checks_of(AgentProfile.of(agent), build_agent_card_for_agent(agent), [])

    wrong = {check.words: check.is_note for check in found if not check.passed}
    assert wrong == {
        "Description": True,
        "Skills": True,
        "All allowed tools are registered": False,
        "Public URL reachable over HTTPS": True,
    }


def test_a_skill_without_a_description_is_named(agent):
    factories.tool("corvid_mute", is_default=True)

    assert problems(agent) == {"All skills have a description": "No description: corvid_mute"}


@pytest.mark.parametrize(
    ("url", "problem"), [("http://127.0.0.1:8000", "Blocked URL"), ("http://hub.example.com", "not encrypted")]
)
def test_a_url_that_others_cannot_reach_is_a_problem(agent, settings, url, problem):
    settings.PUBLIC_URL = url

    assert problem in problems(agent)["Public URL reachable over HTTPS"]


def test_the_cards_of_an_agent_s_jobs_are_checked_too(agent):
    whole, bare = (
        AgentCard(job_id="j1", name="one", description="x", skills=[{"id": "s", "description": "d"}]),
        AgentCard(job_id="j2", name="two", description="", skills=[{"id": "s", "description": ""}]),
    )
    for job in (whole, bare):
        job.registered_at, job.registered_by = timezone.now(), agent
        job.save()

    found = problems(agent, *AgentCard.objects.of_agent(agent).in_order())

    assert found == {"Card of job j2 complete": "Missing: description, description of s"}

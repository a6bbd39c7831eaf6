import json

import pytest

from agentcards import tools
from agentcards.card_document import build_agent_card, build_agent_card_for_agent, humanise
from agentcards.models import AgentProfile
from mailbox.access.callers import Caller
from tests.support import factories
from tests.support.hub import ROOT

pytestmark = pytest.mark.django_db

EXAMPLE = ROOT / "docs" / "reference" / "tools.json"
BASE = "https://hub.example"

# Source: corvid-agent, the default skills of its card: id, name, tags.
SKILLS = """
send_message          | Send Message          | messaging,communication
save_memory           | Save Memory           | memory,blockchain
recall_memory         | Recall Memory         | memory,blockchain
list_agents           | List Agents           | discovery,agents
extend_timeout        | Extend Timeout        | session,management
check_credits         | Check Credits         | credits,billing
create_work_task      | Create Work Task      | development,automation
manage_schedule       | Manage Schedule       | automation,scheduling
web_search            | Web Search            | search,web
deep_research         | Deep Research         | search,research
discover_agent        | Discover Agent        | discovery,a2a
github_star_repo      | GitHub Star Repo      | github,social
github_fork_repo      | GitHub Fork Repo      | github,repository
github_list_prs       | GitHub List PRs       | github,pull-requests
github_create_pr      | GitHub Create PR      | github,pull-requests
github_review_pr      | GitHub Review PR      | github,pull-requests,review
github_create_issue   | GitHub Create Issue   | github,issues
github_list_issues    | GitHub List Issues    | github,issues
github_repo_info      | GitHub Repo Info      | github,repository
github_unstar_repo    | GitHub Unstar Repo    | github,social
github_get_pr_diff    | GitHub Get PR Diff    | github,pull-requests,review
github_comment_on_pr  | GitHub Comment On PR  | github,pull-requests,communication
github_follow_user    | GitHub Follow User    | github,social
"""
ROWS = [tuple(cell.strip() for cell in line.split("|")) for line in SKILLS.strip().splitlines()]


@pytest.fixture
def registered():
    tools.import_tools(Caller.command_line(), json.loads(EXAMPLE.read_text()), default=True)


def ids(card):
    return [skill["id"] for skill in card["skills"]]


@pytest.mark.parametrize(("number", "row"), list(enumerate(ROWS)), ids=[name for name, *_ in ROWS])
def test_a_tool_is_mapped_to_its_skill(registered, number, row):
    name, shown, tags = row

    skill = build_agent_card(BASE)["skills"][number]

    assert (skill["id"], skill["name"], ",".join(skill["tags"])) == (f"corvid_{name}", shown, tags)
    assert (skill["inputModes"], skill["outputModes"]) == (["application/json"], ["application/json", "text/plain"])
    assert list(skill) == ["id", "name", "description", "tags", "inputModes", "outputModes"]


def test_invariant_12_agent_cards_include_all_registered_mcp_tools_as_skills(registered):
    factories.tool("corvid_grant_credits")
    factories.tool("read-file")

    skills = build_agent_card(BASE)["skills"]

    assert [skill["id"] for skill in skills] == [f"corvid_{name}" for name, *_ in ROWS] + [
        "corvid_grant_credits",
        "read-file",
    ]
    assert skills[-1]["name"] == "Read-file"
    assert (skills[-1]["description"], skills[-1]["tags"]) == ("Tool: read-file", ["general"])


def test_invariant_14_agent_specific_cards_respect_mcp_tool_permissions(registered, alice, bob):
    factories.tool("corvid_grant_credits")
    factories.profile(
        alice, tool_permissions=["corvid_web_search", "unknown", "corvid_grant_credits", "corvid_save_memory"]
    )

    assert ids(build_agent_card_for_agent(alice.agent, BASE)) == [
        "corvid_web_search",
        "corvid_grant_credits",
        "corvid_save_memory",
    ]
    assert ids(build_agent_card_for_agent(bob.agent, BASE)) == [f"corvid_{name}" for name, *_ in ROWS]


def test_no_permissions_mean_no_skills_and_repeated_names_count_once(registered, alice, bob):
    factories.profile(alice, tool_permissions=[])
    factories.profile(bob, tool_permissions=["corvid_web_search", "corvid_web_search"])

    assert ids(build_agent_card_for_agent(alice.agent)) == []
    assert ids(build_agent_card_for_agent(bob.agent)) == ["corvid_web_search"]


def test_the_hub_s_card_has_corvid_agent_s_fields_in_the_same_order(settings):
    settings.A2A_HUB_NAME, settings.A2A_HUB_DESCRIPTION = "Our hub", "Hands tasks around"
    settings.A2A_PROVIDER_ORG, settings.A2A_PROVIDER_URL = "Example", "https://example.org"
    settings.A2A_DOCS_URL = "https://example.org/docs"

    assert build_agent_card(BASE) == {
        "name": "Our hub",
        "description": "Hands tasks around",
        "url": BASE,
        "provider": {"organization": "Example", "url": "https://example.org"},
        "version": settings.A2A_VERSION,
        "documentationUrl": "https://example.org/docs",
        "capabilities": {"streaming": False, "pushNotifications": False, "stateTransitionHistory": False},
        "authentication": {"schemes": ["Bearer"]},
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [],
        "supportedProtocols": build_agent_card(BASE)["supportedProtocols"],
    }
    assert list(build_agent_card(BASE)) == [
        *("name", "description", "url", "provider", "version", "documentationUrl", "capabilities", "authentication"),
        *("defaultInputModes", "defaultOutputModes", "skills", "supportedProtocols"),
    ]


def protocols_of(card):
    return [(one["protocol"], one.get("endpoint")) for one in card["supportedProtocols"]]


def test_the_hub_s_card_lists_the_protocols_that_it_speaks(settings):
    settings.PUBLIC_URL = BASE

    assert protocols_of(build_agent_card()) == [
        ("A2A", f"{BASE}/a2a/tasks/send"),
        ("MCP", f"{BASE}/mcp"),
        ("HTTP", f"{BASE}/api"),
    ]
    assert all(one["description"] for one in build_agent_card()["supportedProtocols"])


def test_the_hub_s_card_under_a_public_route_leaves_out_mcp_which_no_route_leads_to(settings):
    settings.PUBLIC_URL = BASE
    base = f"{BASE}/p/token"

    assert protocols_of(build_agent_card(base)) == [("A2A", f"{base}/a2a/tasks/send"), ("HTTP", f"{base}/api")]


def test_the_hub_s_card_claims_algochat_only_if_an_agent_has_an_address(alice, bob):
    factories.profile(bob)
    assert "AlgoChat" not in dict(protocols_of(build_agent_card(BASE)))

    factories.profile(alice, wallet_address="ALGO7")

    assert "AlgoChat" in dict(protocols_of(build_agent_card(BASE)))


@pytest.mark.parametrize("base", ["https://hub.example", "https://hub.example/", None])
def test_card_urls_start_with_public_url_and_without_a_double_slash(settings, alice, base):
    settings.PUBLIC_URL = BASE

    assert build_agent_card(base)["url"] == BASE
    assert build_agent_card_for_agent(alice.agent, base)["url"] == f"{BASE}/api/agents/alice@local"


def test_an_agent_s_card_shows_its_profile(alice):
    factories.profile(alice, name="Alice the Reviewer", description="Reviews code", wallet_address="ALGO7")

    card = build_agent_card_for_agent(alice.agent, BASE)

    assert (card["name"], card["description"]) == ("Alice the Reviewer", "Reviews code")
    assert protocols_of(card) == [
        ("AlgoChat", "algo://ALGO7"),
        ("HTTP", f"{BASE}/api/agents/alice@local/invoke"),
    ]


def test_an_agent_without_a_profile_has_a_card(settings, alice):
    settings.A2A_HUB_NAME = "Our hub"

    card = build_agent_card_for_agent(alice.agent, BASE)

    assert (card["name"], card["description"]) == ("alice", "Our hub instance")
    assert protocols_of(card) == [("HTTP", f"{BASE}/api/agents/alice@local/invoke")]
    assert not AgentProfile.objects.exists()


@pytest.mark.parametrize(
    ("told", "description"),
    [
        ({}, "Reviews"),
        ({"persona_archetype": "Scholar"}, "Reviews | Archetype: Scholar"),
        ({"persona_archetype": "custom"}, "Reviews"),
        ({"skill_bundles": ["review", "plan"]}, "Reviews | Skills: review, plan"),
        (
            {"persona_archetype": "Scholar", "skill_bundles": ["review"]},
            "Reviews | Archetype: Scholar | Skills: review",
        ),
    ],
)
def test_a_description_is_enriched_with_archetype_and_skill_bundles(alice, told, description):
    factories.profile(alice, description="Reviews", **told)

    assert build_agent_card_for_agent(alice.agent)["description"] == description


def test_a_remote_url_is_in_no_card(alice):
    factories.profile(alice, remote_url="https://:secret@remote.example/p/token")

    assert "remote.example" not in json.dumps(build_agent_card_for_agent(alice.agent))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("corvid_github_star_repo", "GitHub Star Repo"),
        ("corvid_github_list_prs", "GitHub List PRs"),
        ("corvid_save_memory", "Save Memory"),
        ("corvid_invoke_a2a_api", "Invoke A2A API"),
        ("github_pr", "GitHub PR"),
        ("searchWeb", "SearchWeb"),
        ("read-file_now", "Read-file Now"),
        ("not_corvid_a", "Not Corvid A"),
        ("corvid_", "corvid_"),
        ("___", "___"),
    ],
)
def test_names_are_humanised(name, shown):
    assert humanise(name) == shown

"""The agent cards that this hub publishes: its own, and that of each of its agents.

Field order and skill mapping are those of corvid-agent's ``agent-card.ts``. A card claims only protocols that its
reader can use.
"""

from collections.abc import Iterable, Iterator
from typing import NotRequired

from django.conf import settings
from typing_extensions import TypedDict

from agentcards.models import AgentProfile, Tool
from mailbox.models import Agent

TASKS_SEND, MCP = "/a2a/tasks/send", "/mcp"
TOOL_PREFIX = "corvid_"
SPELLINGS = {"github": "GitHub", "pr": "PR", "prs": "PRs", "a2a": "A2A", "api": "API"}
UNTAGGED = ("general",)
UNSHOWN_ARCHETYPES = ("", "custom")
TEXT_AND_JSON = ("text/plain", "application/json")


class CardSkill(TypedDict):
    id: str
    name: str
    description: str
    tags: list[str]
    inputModes: list[str]
    outputModes: list[str]


class CardProvider(TypedDict):
    organization: str
    url: str


class CardCapabilities(TypedDict):
    streaming: bool
    pushNotifications: bool
    stateTransitionHistory: bool


class CardAuthentication(TypedDict):
    schemes: list[str]


class CardProtocol(TypedDict):
    protocol: str
    description: str
    endpoint: NotRequired[str]


class CardDocument(TypedDict):
    """An agent card: what the agent can do and how to reach it."""

    name: str
    description: str
    url: str
    provider: CardProvider
    version: str
    documentationUrl: str
    capabilities: CardCapabilities
    authentication: CardAuthentication
    defaultInputModes: list[str]
    defaultOutputModes: list[str]
    skills: list[CardSkill]
    supportedProtocols: list[CardProtocol]


def build_agent_card(base_url: str | None = None) -> CardDocument:
    """Return the card of this hub. Its skills are all registered tools, in the order of registration.

    If ``base_url`` is None, the URLs in the card start with ``PUBLIC_URL``.
    """
    base = _base(base_url)
    return _card(
        name=settings.A2A_HUB_NAME,
        description=settings.A2A_HUB_DESCRIPTION,
        url=base,
        tools=Tool.objects.in_order(),
        protocols=[
            {
                "protocol": "A2A",
                "description": "Agent-to-agent tasks: send one, then poll it",
                "endpoint": f"{base}{TASKS_SEND}",
            },
            *_algochat_of_agents(),
            *_mcp(base),
            {"protocol": "HTTP", "description": "REST API for agents and their tasks", "endpoint": f"{base}/api"},
        ],
    )


def _algochat_of_agents() -> Iterator[CardProtocol]:
    if AgentProfile.objects.exclude(wallet_address="").exists():
        yield {"protocol": "AlgoChat", "description": "Algorand messaging, by the agents whose card has an address"}


def _mcp(base: str) -> Iterator[CardProtocol]:
    """Yield the protocol at the hub's own address. Public routes do not lead to it."""
    if base == _base(None):
        yield {
            "protocol": "MCP",
            "description": "Model Context Protocol: tools to send tasks, to wait for them and to work on them",
            "endpoint": f"{base}{MCP}",
        }


def build_agent_card_for_agent(agent: Agent, base_url: str | None = None) -> CardDocument:
    """Return the card of one agent. Its skills are `tools_of` its profile.

    If ``base_url`` is None, the URLs in the card start with ``PUBLIC_URL``.
    """
    return build_agent_card_for_profile(AgentProfile.of(agent), base_url)


def build_agent_card_for_profile(profile: AgentProfile, base_url: str | None = None) -> CardDocument:
    """Return the card of the agent with this profile, as `build_agent_card_for_agent` does."""
    agent = profile.agent
    url = f"{_base(base_url)}/api/agents/{agent.display}"
    invoked: CardProtocol = {
        "protocol": "HTTP",
        "description": "REST API for agent invocation",
        "endpoint": f"{url}/invoke",
    }
    return _card(
        name=profile.shown_name,
        description=describe(profile),
        url=url,
        tools=tools_of(profile),
        protocols=[*_algochat_of(profile), invoked],
    )


def _algochat_of(profile: AgentProfile) -> Iterator[CardProtocol]:
    if profile.wallet_address:
        endpoint = f"algo://{profile.wallet_address}"
        yield {"protocol": "AlgoChat", "description": "Algorand on-chain messaging", "endpoint": endpoint}


def tools_of(profile: AgentProfile) -> list[Tool]:
    """Return the registered tools an agent may use: the permitted tools in the profile's order, or the default tools.

    Permissions for tools that are not registered are left out.
    """
    if profile.tool_permissions is None:
        return list(Tool.objects.default().in_order())
    permitted = list(dict.fromkeys(profile.tool_permissions))
    known = {tool.name: tool for tool in Tool.objects.filter(name__in=permitted)}
    return [known[name] for name in permitted if name in known]


def describe(profile: AgentProfile) -> str:
    """Return the card's description of the agent, with its archetype and its skill bundles if it has any."""
    parts = [profile.description or f"{settings.A2A_HUB_NAME} instance"]
    if profile.persona_archetype.strip().lower() not in UNSHOWN_ARCHETYPES:
        parts.append(f"Archetype: {profile.persona_archetype}")
    if profile.skill_bundles:
        parts.append(f"Skills: {', '.join(profile.skill_bundles)}")
    return " | ".join(parts)


def skill(tool: Tool) -> CardSkill:
    """Return a tool as a skill of a card."""
    return {
        "id": tool.name,
        "name": humanise(tool.name),
        "description": tool.description or f"Tool: {tool.name}",
        "tags": list(tool.tags or UNTAGGED),
        "inputModes": ["application/json"],
        "outputModes": ["application/json", "text/plain"],
    }


def humanise(tool_name: str) -> str:
    """Return ``corvid_github_star_repo`` as ``GitHub Star Repo``. A name of only underscores stays unchanged."""
    words = filter(None, tool_name.removeprefix(TOOL_PREFIX).split("_"))
    return " ".join(SPELLINGS.get(word, word[:1].upper() + word[1:]) for word in words) or tool_name


def _base(base_url: str | None) -> str:
    return (settings.PUBLIC_URL if base_url is None else base_url).rstrip("/")


def _card(
    *, name: str, description: str, url: str, tools: Iterable[Tool], protocols: list[CardProtocol]
) -> CardDocument:
    return {
        "name": name,
        "description": description,
        "url": url,
        "provider": {"organization": settings.A2A_PROVIDER_ORG, "url": settings.A2A_PROVIDER_URL},
        "version": settings.A2A_VERSION,
        "documentationUrl": settings.A2A_DOCS_URL,
        "capabilities": {"streaming": False, "pushNotifications": False, "stateTransitionHistory": False},
        "authentication": {"schemes": ["Bearer"]},
        "defaultInputModes": list(TEXT_AND_JSON),
        "defaultOutputModes": list(TEXT_AND_JSON),
        "skills": [skill(tool) for tool in tools],
        "supportedProtocols": protocols,
    }

from typing import Any

import pytest
from a2a.compat.v0_3 import types as v0_3

from agentcards import official_card
from agentcards.models import AgentProfile
from mailbox.words.a2a.v1_0 import GENERATION
from tests.support import factories, official

pytestmark = pytest.mark.django_db

FULL = {
    "name": "Zoë",
    "description": "Reads books",
    "persona_archetype": "Scholar",
    "input_modes": ["text/plain", "image/*"],
    "output_modes": ["application/json"],
    "card_version": "7.1",
    "documentation_url": "https://docs.example/zoe",
    "icon_url": "https://docs.example/zoe.png",
    "extensions": [
        {"uri": "urn:example:trace", "required": True, "params": {"depth": 3}},
        {"uri": "https://example.org/ext", "description": "", "required": False},
    ],
}
PROFILES: dict[str, dict[str, Any]] = {
    "plain": {},
    "full": FULL,
    "all off": {"streaming": False, "push_notifications": False, "extended_card": False, "extensions": []},
    "no tools": {"tool_permissions": []},
}


@pytest.fixture(params=[*PROFILES.values()], ids=[*PROFILES])
def profile(request, bob):
    factories.tool("corvid_web_search", is_default=True, description="Searches")
    factories.tool("read", is_default=True, tags=["files"])
    return factories.profile(bob, **request.param)


@pytest.fixture(params=[False, True], ids=["closed", "open"])
def is_open(request):
    return request.param


def every_form(profile, is_open):
    return {
        "1.0": official_card.for_clients(profile, is_open=is_open, version="1.0"),
        "older": official_card.for_clients(profile, is_open=is_open, version=""),
        "extended": official_card.extended(profile, is_open=is_open),
        "older extended": official_card.extended(profile, is_open=is_open, is_for_0_3=True),
    }


def test_the_official_client_reads_a_card_with_unknown_fields_refused(profile, is_open):
    forms = every_form(profile, is_open)

    for form in ("1.0", "extended"):
        official.parsed(forms[form])


def test_the_official_client_verifies_every_form(profile, is_open):
    for card in every_form(profile, is_open).values():
        official.verify(card)


@pytest.mark.parametrize("form", ["older", "older extended"])
def test_a_client_of_0_3_reads_its_form(profile, is_open, form):
    card = v0_3.AgentCard.model_validate(every_form(profile, is_open)[form])

    base = official_card.base_url("bob@local")
    assert (card.protocol_version, card.url, card.preferred_transport) == ("0.3.0", f"{base}a2a", "JSONRPC")
    assert card.supports_authenticated_extended_card == profile.extended_card
    assert card.capabilities.streaming == profile.streaming
    assert card.security == (None if is_open else [{"bearer": []}, {"apiKey": []}])
    schemes = {name: scheme.root for name, scheme in (card.security_schemes or {}).items()}
    bearer, key = schemes["bearer"], schemes["apiKey"]
    assert isinstance(bearer, v0_3.HTTPAuthSecurityScheme)
    assert isinstance(key, v0_3.APIKeySecurityScheme)
    assert (bearer.scheme, key.in_, key.name) == ("Bearer", v0_3.In.header, "X-API-Key")


def test_the_whole_card_of_a_full_profile(bob, settings):
    settings.PUBLIC_URL, settings.A2A_PROVIDER_ORG = "https://hub.example", "Acme"
    settings.A2A_PROVIDER_URL = "https://acme.example"
    factories.tool("corvid_web_search", is_default=True, description="Searches")

    assert official_card.document(factories.profile(bob, **FULL), is_open=False) == {
        "name": "Zoë",
        "description": "Reads books | Archetype: Scholar",
        "version": "7.1",
        "supportedInterfaces": [
            {
                "url": "https://hub.example/agents/bob@local/a2a",
                "protocolBinding": "JSONRPC",
                "protocolVersion": "1.0",
            },
            {
                "url": "https://hub.example/agents/bob@local/rest",
                "protocolBinding": "HTTP+JSON",
                "protocolVersion": "1.0",
            },
        ],
        "provider": {"organization": "Acme", "url": "https://acme.example"},
        "capabilities": {
            "streaming": True,
            "pushNotifications": True,
            "extendedAgentCard": True,
            "extensions": [
                {"uri": "urn:example:trace", "required": True, "params": {"depth": 3}},
                {"uri": "https://example.org/ext"},
                {
                    "uri": GENERATION,
                    "description": "Numbers the events of a task, and lets a read wait for the next one.",
                },
            ],
        },
        "defaultInputModes": ["text/plain", "image/*"],
        "defaultOutputModes": ["application/json"],
        "skills": [{"id": "corvid_web_search", "name": "Web Search", "description": "Searches", "tags": ["general"]}],
        "securitySchemes": {
            "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
            "apiKey": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
        },
        "securityRequirements": [{"schemes": {"bearer": {"list": []}}}, {"schemes": {"apiKey": {"list": []}}}],
        "documentationUrl": "https://docs.example/zoe",
        "iconUrl": "https://docs.example/zoe.png",
    }


def test_an_agent_without_a_profile_has_a_whole_card(bob, settings):
    card = official_card.document(AgentProfile.of(bob.agent), is_open=False)

    assert (card["name"], card["version"]) == ("bob", settings.A2A_VERSION)
    assert card["defaultInputModes"] == card["defaultOutputModes"] == ["text/plain", "application/json", "*/*"]
    assert card["skills"] == [{"id": "task", "name": "bob", "description": card["description"], "tags": ["general"]}]
    assert not {"documentationUrl", "iconUrl"} & card.keys()


def test_an_open_agent_requires_no_credentials_and_still_names_them(bob):
    card = official_card.document(factories.profile(bob), is_open=True)

    assert "securityRequirements" not in card
    assert card["securitySchemes"].keys() == {"bearer", "apiKey"}


@pytest.mark.parametrize(
    ("version", "is_merged"), [("", True), ("0.3", True), ("2.0", True), ("1.0", False), ("1.1.2", False)]
)
def test_a_client_that_names_no_version_1_gets_the_form_for_0_3_too(bob, version, is_merged):
    card = official_card.for_clients(factories.profile(bob), is_open=False, version=version)

    assert ("protocolVersion" in card) == is_merged
    assert len(card["supportedInterfaces"]) == 2 + is_merged


def test_an_agent_can_have_no_card_for_0_3(bob):
    profile = factories.profile(bob, card_for_0_3=False)

    for version in ("", "1.0"):
        official.parsed(official_card.for_clients(profile, is_open=False, version=version))


def test_the_extended_card_has_the_extended_tools_too(bob):
    for name in ("read", "write", "delete"):
        factories.tool(name, is_default=name == "read")
    profile = factories.profile(bob, extended_tools=["write", "gone", "read", "write"])

    public, extended = official_card.document(profile, is_open=False), official_card.extended(profile, is_open=False)

    assert [skill["id"] for skill in public["skills"]] == ["read"]
    assert [skill["id"] for skill in extended["skills"]] == ["read", "write"]


def test_extended_tools_do_not_hide_the_only_skill(bob):
    factories.tool("write")
    extended = official_card.extended(factories.profile(bob, extended_tools=["write"]), is_open=False)

    assert [skill["id"] for skill in extended["skills"]] == ["write"]


def test_the_tag_is_of_the_card_without_its_signatures(bob, settings):
    profile = factories.profile(bob)
    before = official_card.for_clients(profile, is_open=False, version="1.0")
    settings.SECRET_KEY = "another"
    after = official_card.for_clients(profile, is_open=False, version="1.0")
    profile.card_version = "2"
    changed = official_card.for_clients(profile, is_open=False, version="1.0")

    assert before["signatures"] != after["signatures"]
    assert official_card.tag_of(before) == official_card.tag_of(after) != official_card.tag_of(changed)

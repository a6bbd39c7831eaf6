import json

import pytest
from django.core.management.base import CommandError

from agentcards.card_document import build_agent_card, build_agent_card_for_agent
from agentcards.models import AgentProfile
from mailbox.models import Agent
from tests.support.hub import ROOT

EXAMPLE = ROOT / "docs" / "reference" / "tools.json"


@pytest.fixture
def listing(tmp_path):
    def write(value):
        path = tmp_path / "tools.json"
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    return write


def test_importing_the_example_twice_registers_its_tools_once(a2a, a2a_json):
    first = a2a("tools", "import", EXAMPLE, "--default")
    second = a2a_json("tools", "import", EXAMPLE, "--default", "--json")

    assert first == "23 added, 0 changed, 0 unchanged"
    assert second["kind"] == "a2a_tools_imported"
    assert (len(second["unchanged"]), second["added"], second["changed"], second["partial"]) == (23, [], [], False)
    assert len(build_agent_card()["skills"]) == 23


def test_tools_are_listed_as_they_were_registered(a2a, a2a_json, listing):
    a2a("tools", "import", listing([{"name": "b", "description": "does b", "tags": ["x", "y"]}]), "--default")
    a2a("tools", "import", listing([{"name": "a"}]))

    assert [line.split() for line in a2a("tools", "list").splitlines()] == [["b", "default", "x,y", "does", "b"], ["a"]]
    assert a2a_json("tools", "list", "--json")["tools"][0] == {
        "name": "b",
        "description": "does b",
        "tags": ["x", "y"],
        "default": True,
    }


def test_an_empty_list_of_tools_prints_a_notice(a2a):
    assert a2a("tools", "list") == "(no tools)"


def test_importing_one_page_of_a_listing_says_that_more_follow(a2a, listing):
    assert a2a("tools", "import", listing({"tools": [{"name": "a"}], "nextCursor": "2"})).endswith("import those too")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("no json", "is not accepted: not JSON"),
        ('{"tools": [], "tools": []}', "duplicate key"),
        ({"resources": []}, "expected an MCP tools/list answer"),
        ([{"name": "a"}, {"name": ""}], "tools.1: expected an object with a name"),
    ],
)
def test_a_file_without_a_listing_is_rejected(a2a, listing, value, problem):
    with pytest.raises(CommandError, match=problem):
        a2a("tools", "import", listing(value))


def test_an_unreadable_file_is_an_error(a2a, tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(CommandError, match="cannot read"):
            a2a("tools", "import", path)


def test_a_profile_is_changed_field_by_field(a2a, a2a_json, cast):
    a2a("profile", "bob", "--default-project", "main", "--tools", "x, y", "--skill-bundles", "review,plan")
    a2a("profile", "bob", "--name", "Bob", "--description", "Works")

    told = a2a_json("profile", "bob", "--json")
    assert (told["name"], told["description"], told["defaultProjectId"]) == ("Bob", "Works", "main")
    assert (told["mcpToolPermissions"], told["skillBundles"]) == (["x", "y"], ["review", "plan"])


def test_a_profile_is_shown_without_empty_fields(a2a, cast):
    a2a("profile", "bob", "--default-project", "main")

    shown = dict(line.split(maxsplit=1) for line in a2a("profile", "bob").splitlines())

    assert shown.pop("createdAt")
    assert shown == {"id": "bob@local", "name": "bob", "defaultProjectId": "main"}


def test_the_fields_of_the_official_card_are_changed_and_shown(a2a, cast):
    lists = ("--input-modes", "text/plain, image/*", "--output-modes", "*/*", "--extended-tools", "write")
    texts = ("--card-version", "7", "--documentation-url", "https://docs.example/", "--icon-url", "https://i.example/i")
    switches = ("--streaming", "off", "--push-notifications", "OFF", "--extended-card", "off", "--card-for-0-3", "off")

    a2a("profile", "bob", *lists, *texts, *switches, "--message-id-is-key", "on")
    a2a("profile", "bob", "--extensions", '[{"uri": "urn:x", "required": true}]')
    a2a("profile", "bob", "--streaming", "on", "--extended-tools", "")

    shown = dict(line.split(maxsplit=1) for line in a2a("profile", "bob").splitlines())
    assert shown.pop("createdAt")
    assert shown == {
        "id": "bob@local",
        "name": "bob",
        "inputModes": "text/plain,image/*",
        "outputModes": "*/*",
        "cardVersion": "7",
        "documentationUrl": "https://docs.example/",
        "iconUrl": "https://i.example/i",
        "pushNotifications": "off",
        "extendedCard": "off",
        "cardFor03": "off",
        "messageIdIsKey": "on",
        "extensions": '[{"uri":"urn:x","required":true}]',
    }


def test_fields_can_be_emptied_and_default_tools_restored(a2a, cast):
    a2a("tools", "import", EXAMPLE, "--default")
    a2a("profile", "bob", "--default-project", "main", "--tools", "corvid_web_search")
    a2a("profile", "bob", "--default-project", "", "--default-tools")

    assert AgentProfile.objects.get().default_project == ""
    assert len(build_agent_card_for_agent(Agent.objects.get(local="bob"))["skills"]) == 23


def test_showing_a_profile_does_not_create_it(a2a, cast):
    a2a("profile", "bob")

    assert not AgentProfile.objects.exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["profile", "nobody"], "No agent named"),
        (["profile", "bob", "--remote-url", "http://127.0.0.1"], "remote_url: Blocked URL"),
        (["profile", "bob", "--tools", "x", "--default-tools"], "not allowed with argument"),
        (["profile", "bob", "--streaming", "yes"], "--streaming must be on or off"),
        (["profile", "bob", "--extensions", "{}"], "--extensions must be a JSON array of extensions"),
        (["profile", "bob", "--extensions", '[{"uri": "x"}]'], "extensions: uri must be an absolute URI"),
        (["profile", "bob", "--input-modes", "text"], "input_modes: 'text' is no media type"),
        (["profile", "bob", "--icon-url", "ftp://x.example"], "icon_url: must be a URL that begins with"),
    ],
)
def test_an_invalid_profile_is_rejected(a2a, cast, words, problem):
    with pytest.raises(CommandError, match=problem):
        a2a(*words)

import pytest

from agentcards.models import Tool
from agentcards.tools import import_tools
from mailbox.access.callers import Caller, Role
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError
from tests.support import factories

pytestmark = pytest.mark.django_db

SEARCH = {"name": "web_search", "description": "Searches", "inputSchema": {"type": "object"}}
CLI = Caller.command_line()


@pytest.mark.parametrize(
    "listing",
    [
        [SEARCH],
        {"tools": [SEARCH]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [SEARCH]}},
    ],
)
def test_a_tools_list_answer_is_accepted_with_and_without_its_wrapping(listing):
    done = import_tools(CLI, listing)

    tool = Tool.objects.get()
    assert (tool.name, tool.description, tool.tags, tool.is_default) == ("web_search", "Searches", [], False)
    assert (done.added, done.changed, done.unchanged, done.is_partial) == (["web_search"], [], [], False)


@pytest.mark.parametrize(
    "tagged",
    [
        {**SEARCH, "tags": ["web"]},
        {**SEARCH, "_meta": {"fastmcp": {"tags": ["web"]}}},
        {**SEARCH, "_meta": {"_fastmcp": {"tags": ["web"]}}},
    ],
)
def test_tags_are_read_from_the_tool_and_from_fastmcp_metadata(tagged):
    import_tools(CLI, [tagged])

    assert Tool.objects.get().tags == ["web"]


def test_a_second_import_changes_what_differs_and_keeps_the_rest():
    import_tools(CLI, [{**SEARCH, "tags": ["web"]}, {"name": "kept"}], default=True)
    factories.tool("elsewhere")

    done = import_tools(CLI, [{**SEARCH, "description": "Finds"}, {"name": "kept"}, {"name": "new"}])

    tool = Tool.objects.get(name="web_search")
    assert (tool.description, tool.tags, tool.is_default) == ("Finds", ["web"], True)
    assert (done.added, done.changed, done.unchanged) == (["new"], ["web_search"], ["kept"])
    assert Tool.objects.filter(name="elsewhere").exists()
    assert list(Tool.objects.default().in_order().values_list("name", flat=True)) == ["web_search", "kept"]


def test_default_makes_known_tools_default_too():
    import_tools(CLI, [SEARCH])

    done = import_tools(CLI, [SEARCH], default=True)

    assert done.changed == ["web_search"]
    assert Tool.objects.get().is_default


def test_a_listing_with_further_pages_is_reported_as_partial():
    assert import_tools(CLI, {"tools": [SEARCH], "nextCursor": "2"}).is_partial


def test_only_imports_that_change_something_are_journalled():
    import_tools(CLI, [SEARCH])
    import_tools(CLI, [SEARCH])

    (row,) = factories.journal("tools_imported")
    assert row.fields == {"added": ["web_search"], "changed": [], "default": False}


@pytest.mark.parametrize(
    ("listing", "path"),
    [
        (None, "tools"),
        ("tools", "tools"),
        ({}, "tools"),
        ({"tools": {}}, "tools"),
        ({"result": []}, "tools"),
        ([{"name": "x"}] * 10_001, "tools"),
        ([SEARCH, 1], "tools.1"),
        ([{}], "tools.0"),
        ([{"name": ""}], "tools.0"),
        ([{"name": " "}], "tools.0"),
        ([{"name": 1}], "tools.0"),
        ([{"name": "x", "description": {}, "tags": 1}, {"name": "y", "description": 1}], "tools.1"),
        ([SEARCH, SEARCH], "tools.1"),
        ([{"name": "x" * 201}], "tools.0.name"),
        ([{"name": "x\x00"}], "tools.0.name"),
        ([{"name": "x", "description": "\ud800"}], "tools.0.description"),
        ([{"name": "x", "description": "d" * 20_001}], "tools.0.description"),
        ([{"name": "x", "tags": "web"}], "tools.0.tags"),
        ([{"name": "x", "tags": [1]}], "tools.0.tags"),
        ([{"name": "x", "tags": ["\x00"]}], "tools.0.tags"),
        ([{"name": "x", "tags": ["t"] * 1001}], "tools.0.tags"),
    ],
)
def test_an_invalid_listing_is_rejected_whole(listing, path):
    with pytest.raises(InvalidRequestError) as refused:
        import_tools(CLI, listing)

    assert path in refused.value.fields
    assert not Tool.objects.exists()


def test_agents_and_operators_may_not_import(alice, olga):
    for caller in (alice, olga):
        with pytest.raises(CapabilityMissingError):
            import_tools(caller, [SEARCH])

    import_tools(factories.person("ada", Role.ADMIN), [SEARCH])

    assert Tool.objects.count() == 1

import json

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.test import Client

from agentcards.models import AgentCard, AgentProfile, Tool
from agentcards.registry import CardRegistry
from tests.support import factories

pytestmark = pytest.mark.django_db

TOOL = {"name": "read", "description": "Reads", "tags": '["files"]', "is_default": "on"}
OFFICIAL_LISTS = ("input_modes", "output_modes", "extensions", "extended_tools")
SWITCHES = ("streaming", "push_notifications", "extended_card", "card_for_0_3")
PAGES = ["mailbox/agent", "agentcards/agentprofile", "agentcards/tool", "agentcards/agentcard"]


def staff_client(role, *, name="someone"):
    user = User.objects.create_user(name, password="pass", is_staff=True)
    if role is not None:
        user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client


def profile_form(**fields):
    empty = {"name": "", "description": "", "persona_archetype": "", "default_project": "", "wallet_address": ""}
    lists = {"skill_bundles": "[]", "tool_permissions": "null", **dict.fromkeys(OFFICIAL_LISTS, "[]")}
    return {**empty, "remote_url": "", **lists, **dict.fromkeys(SWITCHES, "on"), **fields}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("role", "status"), [("viewer", 200), ("operator", 200), ("admin", 200), (None, 403)])
def test_admin_pages_require_one_of_the_hub_groups(bob, page, role, status):
    factories.profile(bob)
    factories.tool("read")
    CardRegistry(bob).register("job", AgentCard(name="canyon", description=""))
    client = staff_client(role)
    pk = apps.get_model(*page.split("/"))._default_manager.get().pk

    assert client.get(f"/admin/{page}/?q=o").status_code == status
    assert client.get(f"/admin/{page}/{pk}/change/").status_code == status


@pytest.mark.parametrize("role", ["viewer", "operator", None])
def test_only_admins_change_tools_and_profiles(bob, role):
    profile = factories.profile(bob)
    tool = factories.tool("read")
    client = staff_client(role)

    refused = [
        client.post("/admin/agentcards/tool/add/", TOOL),
        client.post(f"/admin/agentcards/tool/{tool.pk}/change/", TOOL),
        client.post(f"/admin/agentcards/tool/{tool.pk}/delete/", {"post": "yes"}),
        client.post(f"/admin/agentcards/agentprofile/{profile.pk}/change/", profile_form(name="x")),
    ]

    assert [answer.status_code for answer in refused] == [403] * 4
    assert Tool.objects.get().description == ""
    assert factories.journal_length() == 0


@pytest.mark.parametrize("page", ["mailbox/agent", "agentcards/agentcard"])
def test_the_admin_adds_no_agents_or_cards_and_changes_no_agents(bob, page):
    client = staff_client("admin")

    assert client.get(f"/admin/{page}/add/").status_code == 403
    assert client.post(f"/admin/mailbox/agent/{bob.agent.pk}/change/", {"display": "eve@local"}).status_code == 403
    assert client.post(f"/admin/mailbox/agent/{bob.agent.pk}/delete/", {"post": "yes"}).status_code == 403


def test_adding_changing_and_removing_a_tool_is_journalled():
    client = staff_client("admin", name="ada")

    client.post("/admin/agentcards/tool/add/", TOOL)
    tool = Tool.objects.get()
    client.post(f"/admin/agentcards/tool/{tool.pk}/change/", TOOL | {"description": "Reads files"})
    changed = Tool.objects.get().description
    client.post(f"/admin/agentcards/tool/{tool.pk}/delete/", {"post": "yes"})

    assert (tool.name, tool.tags, tool.is_default, changed) == ("read", ["files"], True, "Reads files")
    assert not Tool.objects.exists()
    assert [(row.actor, row.source, row.fields) for row in factories.journal("tool_changed")][1] == (
        "user:ada",
        "dashboard",
        {"name": "read", "changed": {"description": "Reads files"}},
    )
    assert [row.fields for row in factories.journal("tool_removed")] == [{"name": "read"}]
    assert len(factories.journal("capability_check")) == 3


def test_several_tools_are_removed_at_once():
    pks = [factories.tool(f"tool-{number}").pk for number in range(3)]
    body = {"action": "delete_selected", "_selected_action": pks[:2], "post": "yes"}

    staff_client("admin").post("/admin/agentcards/tool/", body)

    assert list(Tool.objects.values_list("name", flat=True)) == ["tool-2"]
    assert len(factories.journal("tool_removed")) == 2


def test_a_profile_change_is_journalled_without_its_remote_url(bob):
    profile = factories.profile(bob)
    form = profile_form(
        default_project="main", tool_permissions='["read"]', remote_url="https://:secret@remote.example"
    )

    staff_client("admin").post(f"/admin/agentcards/agentprofile/{profile.pk}/change/", form)

    profile.refresh_from_db()
    assert (profile.default_project, profile.tool_permissions) == ("main", ["read"])
    assert factories.last_event().fields == {
        "display": "bob@local",
        "changed": {"default_project": "main", "tool_permissions": ["read"], "remote_url": "(not shown)"},
    }


def test_a_profile_is_added_for_an_agent_that_has_none(bob):
    staff_client("admin").post("/admin/agentcards/agentprofile/add/", profile_form(agent=bob.agent.pk, name="Bob"))

    assert AgentProfile.objects.get().agent == bob.agent


def test_a_change_in_the_admin_counts_as_a_change_of_the_card(bob):
    profile = factories.profile(bob)

    form = profile_form(input_modes='["image/*"]', documentation_url="https://docs.example/@bob")
    staff_client("admin").post(f"/admin/agentcards/agentprofile/{profile.pk}/change/", form)

    profile.refresh_from_db()
    assert (profile.input_modes, profile.documentation_url) == (["image/*"], "https://docs.example/@bob")
    assert profile.changed_at is not None


def test_an_empty_list_field_is_stored_as_an_empty_list(bob):
    profile = factories.profile(bob, skill_bundles=["review"])
    client = staff_client("admin")

    client.post(f"/admin/agentcards/agentprofile/{profile.pk}/change/", profile_form(skill_bundles=""))
    client.post("/admin/agentcards/tool/add/", TOOL | {"tags": ""})

    profile.refresh_from_db()
    assert (profile.skill_bundles, Tool.objects.get().tags) == ([], [])


@pytest.mark.parametrize(
    "fields",
    [
        {"skill_bundles": '{"a": 1}'},
        {"tool_permissions": '[""]'},
        {"tool_permissions": json.dumps(["\x00"])},
        {"skill_bundles": "["},
        {"name": "a\x00"},
        {"remote_url": "http://127.0.0.1"},
        {"remote_url": "file:///etc/passwd"},
        {"input_modes": '["text"]'},
        {"icon_url": "javascript:alert(1)"},
        {"extensions": '[{"required": true}]'},
    ],
    ids=[
        "no list",
        "empty name",
        "NUL in a list",
        "no JSON",
        "NUL in a text",
        "loopback",
        "file",
        "mode",
        "icon",
        "extension",
    ],
)
def test_invalid_profile_fields_are_refused_in_the_form(bob, fields):
    profile = factories.profile(bob)

    answer = staff_client("admin").post(f"/admin/agentcards/agentprofile/{profile.pk}/change/", profile_form(**fields))

    assert answer.status_code == 200
    assert b"errorlist" in answer.content
    assert factories.journal_length() == 0


def test_admin_pages_show_no_secret(bob):
    profile = factories.profile(bob, remote_url="https://:s3cr3t@remote.example")
    key = factories.key_of(bob)
    client = staff_client("viewer")

    pages = [
        client.get(f"/admin/{page}").content.decode()
        for page in (
            *("mailbox/agent/", f"mailbox/agent/{bob.agent.pk}/change/", "agentcards/agentprofile/"),
            f"agentcards/agentprofile/{profile.pk}/change/",
        )
    ]

    assert not any("s3cr3t" in page or key in page for page in pages)

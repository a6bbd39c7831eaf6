"""Tasks and artifacts as resources."""

import json
from typing import Any

import pytest

from mailbox.words.conversation import ArtifactUpdate
from tests.support import factories
from tests.support.a2a import Holder
from tests.support.mcp import BY_ENVELOPE, McpClient

pytestmark = pytest.mark.django_db

PIXEL = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}


@pytest.fixture
def holder(alice, bob):
    """Return bob as the holder of a task of alice."""
    factories.sent_task(alice, bob, intent_text="paint a house")
    holder = Holder(bob)
    holder.take()
    return holder


def contents(client, uri):
    return client.call("resources/read", {"uri": uri})["contents"]


def unknown(client):
    """Return the status and code of a resource that is not there."""
    return (400 if client.version == BY_ENVELOPE else 200), -32602


def test_the_list_has_the_caller_s_tasks_in_pages(sender, alice, bob, mallory, monkeypatch):
    monkeypatch.setattr("mailbox.dialects.mcp.methods.RESOURCES", 2)
    tasks = [factories.sent_task(alice, bob, intent_text=f"task  {number}") for number in range(3)]
    factories.grant(mallory, "a2a.send.*")
    factories.sent_task(mallory, bob)

    first = sender.call("resources/list")
    second = sender.call("resources/list", {"cursor": first["nextCursor"]})

    found = [*first["resources"], *second["resources"]]
    assert [one["uri"] for one in found] == [f"a2a://tasks/{task.uuid}" for task in reversed(tasks)]
    assert "nextCursor" not in second
    assert found[0]["title"] == "task 2"
    assert found[0]["description"] == "alice@local to bob@local, queued"
    assert sender.error("resources/list", {"cursor": "x"}) == unknown(sender)


def test_templates_name_both_kinds_of_resources(sender):
    templates = sender.call("resources/templates/list")["resourceTemplates"]

    assert [one["uriTemplate"] for one in templates] == ["a2a://tasks/{id}", "a2a://tasks/{id}/artifacts/{name}"]


def test_lists_of_one_page_take_no_cursor(sender):
    for method in ("tools/list", "resources/templates/list"):
        assert sender.error(method, {"cursor": "x"}) == unknown(sender)


def test_a_task_is_json_with_its_result_and_its_artifacts(sender, holder):
    holder.make("walls", name="Walls")
    holder.tell("drying")
    holder.answer("done")
    uri = f"a2a://tasks/{holder.lease.task.uuid}"

    [only] = contents(sender, uri)

    assert (only["uri"], only["mimeType"]) == (uri, "application/json")
    read = json.loads(only["text"])
    assert (read["task"]["text"], read["task"]["outcome"]) == ("paint a house", "ok")
    assert read["result"]["content"] == [{"type": "text", "text": "done"}]
    assert [one["content"][0]["text"] for one in read["messages"]] == ["drying"]
    [artifact] = read["artifacts"]
    assert (artifact["artifact_id"], artifact["name"]) == ("report", "Walls")
    assert artifact["resource"] == f"{uri}/artifacts/report"
    assert read["result"]["artifacts"] == [artifact]


def test_a_task_as_a_resource_has_its_whole_text(sender, alice, bob):
    task = factories.sent_task(alice, bob, intent_text="ü" * 150_000)

    [only] = contents(sender, f"a2a://tasks/{task.uuid}")

    assert json.loads(only["text"])["task"]["text"] == "ü" * 150_000


def test_an_artifact_has_one_part_for_each_of_its_blocks(sender, holder):
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "a "},
        {"type": "text", "text": "house"},
        PIXEL,
        {"type": "json", "value": {"walls": 4}},
        {"type": "resource", "resource": {"uri": "x:y", "text": "plan", "mimeType": "text/markdown"}},
        {"type": "resource", "resource": {"uri": "x:y", "blob": "aGk="}},
        {"type": "resource_link", "uri": "https://example.org/", "name": "more"},
        {"type": "resource", "resource": {}},
    ]
    holder.post(ArtifactUpdate(artifact_id="the plan/1", content=blocks))
    uri = f"a2a://tasks/{holder.lease.task.uuid}/artifacts/the%20plan%2F1"

    parts = contents(sender, uri)

    assert {part["uri"] for part in parts} == {uri}
    assert [(part["mimeType"], part.get("text", part.get("blob"))) for part in parts] == [
        ("text/plain", "a house"),
        ("image/png", PIXEL["data"]),
        ("application/json", '{"walls":4}'),
        ("text/markdown", "plan"),
        ("application/octet-stream", "aGk="),
        ("text/uri-list", "https://example.org/"),
        ("application/json", '{"type":"resource","resource":{}}'),
    ]


def test_an_artifact_beyond_the_budget_names_the_route_with_pages(sender, holder, monkeypatch):
    monkeypatch.setattr("mailbox.dialects.mcp.methods.BUDGET", 10)
    holder.make("a long text")

    response = sender.response("resources/read", {"uri": f"a2a://tasks/{holder.lease.task.uuid}/artifacts/report"})

    assert "/artifacts, which has pages." in response.json()["error"]["message"]


@pytest.mark.parametrize("uri", ["", "x", "a2a://tasks/", "a2a://tasks/1", "https://example.org/", "a2a://agents/bob"])
def test_another_uri_is_no_resource(sender, uri):
    assert sender.error("resources/read", {"uri": uri}) == unknown(sender)


def test_an_artifact_that_is_not_there_is_no_resource(alice, holder):
    uri = f"a2a://tasks/{holder.lease.task.uuid}/artifacts/none"

    assert McpClient(alice).error("resources/read", {"uri": uri}) == (200, -32602)

"""All tools: their descriptions, their errors, and the form of their answers."""

from uuid import uuid4

import jsonschema_rs
import pytest

from tests.support import factories
from tests.support.mcp import BY_ENVELOPE, held, sent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bob")]

PIXEL = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}


def test_every_tool_is_described_for_a_language_model(sender):
    tools = sender.call("tools/list")["tools"]

    assert len(tools) == 14
    for tool in tools:
        assert tool["title"]
        assert len(tool["description"]) > 40
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            jsonschema_rs.meta.validate(schema)
            assert schema["type"] == "object"
        assert tool["inputSchema"]["additionalProperties"] is False
        for name, argument in tool["inputSchema"]["properties"].items():
            assert "description" in argument or "$ref" in argument or name in ("message", "content"), (tool, name)
        assert {"readOnlyHint", "destructiveHint", "idempotentHint"} == tool["annotations"].keys()
    by_name = {tool["name"]: tool["annotations"] for tool in tools}
    assert by_name["wait_for_result"]["readOnlyHint"]
    assert not by_name["receive_task"]["readOnlyHint"]
    assert [name for name, hints in by_name.items() if hints["destructiveHint"]] == ["cancel_task"]


def test_a_caller_learns_who_it_is_and_whom_it_can_ask(sender, bob):
    factories.tool("paint", description="paints", tags=["art"])
    factories.profile(bob, description="a painter", tool_permissions=["paint"])

    assert sender.tool("whoami") == {"agent": "alice@local", "person": None, "role": None, "hub": "A2A Hub"}
    agents = {one["name"]: one for one in sender.tool("list_agents")["agents"]}
    assert agents["bob@local"]["description"] == "a painter"
    assert agents["bob@local"]["skills"] == [{"name": "paint", "description": "paints", "tags": ["art"]}]
    assert agents["alice@local"]["skills"] == []


def test_pictures_and_sounds_are_blocks_of_their_own(sender, worker):
    task_id = sent(sender)
    text = {"type": "text", "text": "look"}
    worker.tool("answer_task", **held(worker), content=[text, PIXEL])

    result = sender.call("tools/call", {"name": "wait_for_result", "arguments": {"task_id": task_id}})

    assert result["content"][1:] == [PIXEL]
    assert PIXEL["data"] not in result["content"][0]["text"]
    assert result["structuredContent"]["result"]["content"] == [text, PIXEL]


def test_a_text_or_content_that_is_too_long_is_cut(sender, worker):
    task_id = sent(sender, "ü" * 150_000)
    received = worker.tool("receive_task")
    lease = {"task_id": task_id, "lease_id": received["lease"]["lease_id"]}
    worker.tool("answer_task", **lease, content="ü" * 150_000)

    seen = sender.tool("wait_for_result", task_id=task_id)

    assert received["task"]["is_cut"]
    assert received["task"]["text"] == "ü" * 100_000
    assert seen["result"]["content"] == []
    assert seen["result"]["content_left_out"] > 300_000


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("send_task", {"text": "x"}, "recipient: is required"),
        ("send_task", {"recipient": "bob", "text": "x", "hurry": True}, "hurry: is not a field of this request"),
        ("send_task", {"recipient": "bob", "text": "x", "deadline": "2030-01-01T00:00:00"}, "deadline: "),
        ("send_task", {"recipient": "bob", "text": "x", "duplicate_safety": "idempotent"}, "needs an idempotency_key"),
        ("wait_for_result", {"task_id": "x"}, "task_id: must be a UUID"),
        ("wait_for_result", {"task_id": str(uuid4()), "wait_ms": -1}, "wait_ms: must be at least 0"),
        ("report_progress", {"task_id": str(uuid4()), "lease_id": str(uuid4()), "note": "x"}, "needs a fraction"),
        ("answer_task", {"task_id": str(uuid4())}, "lease_id: is required"),
    ],
)
def test_wrong_arguments_are_an_error_of_the_tool_that_a_model_can_mend(sender, tool, arguments, problem):
    text = sender.refused(tool, **arguments)

    assert text.startswith("invalid_request: ")
    assert problem in text


def test_an_unknown_tool_is_an_error_of_the_protocol(sender):
    status = 400 if sender.version == BY_ENVELOPE else 200

    assert sender.error("tools/call", {"name": "fly"}) == (status, -32602)
    assert sender.error("tools/call", {"name": 5}) == (status, -32602)
    assert sender.error("tools/call") == (status, -32602)

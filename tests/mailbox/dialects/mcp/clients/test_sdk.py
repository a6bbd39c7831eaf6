"""The official SDK against a served hub: a sender and a worker, over each transport and in each way to agree."""

import base64
import json
from typing import Any
from uuid import uuid4

import anyio
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from tests.mailbox.dialects.mcp.clients.conftest import OLDER, McpStage, Way
from tests.support.hub import PATIENCE

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


async def tool(client: Client, name: str, **arguments: Any) -> Any:
    """Return the structured answer of a tool. The client has checked that it fits the tool's schema."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def refusal(client: Client, name: str, **arguments: Any) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error
    text: str = result.content[0].text  # type: ignore[union-attr]
    return text


async def works(stage: McpStage, way: Way, is_awaited: anyio.Event) -> None:
    """Take one task: report, ask once its sender waits for it, and answer it with an artifact."""
    async with stage.connected("bob", way) as worker:
        received = await tool(worker, "receive_task", wait_ms=60_000, attempt_id=str(uuid4()))
        lease = {"task_id": received["task"]["id"], "lease_id": received["lease"]["lease_id"]}
        await tool(worker, "report_progress", **lease, fraction=0.5, note="walls")
        picture = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
        await tool(worker, "report_progress", **lease, artifact={"artifact_id": "sketch", "content": [picture]})
        await is_awaited.wait()
        await tool(worker, "ask_sender", **lease, question="Which colour?")
        again = await tool(worker, "receive_task", wait_ms=60_000, attempt_id=str(uuid4()))
        lease["lease_id"] = again["lease"]["lease_id"]
        colour = again["message"]["content"][0]["text"]
        await tool(worker, "answer_task", **lease, content=f"a {colour} house")


@pytest.mark.smoke
def test_a_worker_and_a_sender_do_a_full_cycle(stage: McpStage, way: Way) -> None:
    sentences: list[str] = []
    is_awaited = anyio.Event()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        sentences.append(message or "")
        is_awaited.set()

    async def sends() -> None:
        async with stage.connected("alice", way) as sender:
            assert (await tool(sender, "whoami"))["agent"] == "alice@local"
            agents = (await tool(sender, "list_agents"))["agents"]
            assert "bob@local" in [one["name"] for one in agents]
            wanted = {"recipient": "bob", "text": "paint a house", "id": str(uuid4())}
            task_id = (await tool(sender, "send_task", **wanted))["task_id"]
            assert (await tool(sender, "send_task", **wanted))["task_id"] == wanted["id"]
            waits = {"task_id": task_id, "wait_ms": 60_000}
            asked = await sender.call_tool("wait_for_result", waits, progress_callback=note)
            assert asked.structured_content["question"]["content"][0]["text"] == "Which colour?"
            await tool(sender, "say", task_id=task_id, content="green")
            done = await sender.call_tool("wait_for_result", waits, progress_callback=note)
            result = done.structured_content["result"]
            assert result["content"] == [{"type": "text", "text": "a green house"}]
            [artifact] = result["artifacts"]
            [part] = (await sender.read_resource(artifact["resource"])).contents
            assert (part.blob, part.mime_type) == (PIXEL, "image/png")  # type: ignore[union-attr]
            [whole] = (await sender.read_resource(f"a2a://tasks/{task_id}")).contents
            assert json.loads(whole.text)["task"]["outcome"] == "ok"  # type: ignore[union-attr]

    async def both() -> None:
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(sends)
                group.start_soon(works, stage, way, is_awaited)

    anyio.run(both)
    assert sentences
    assert all(text.startswith("The task is ") for text in sentences)


def test_the_client_agrees_on_a_version_and_lists_what_there_is(stage: McpStage, way: Way) -> None:
    async def look() -> None:
        async with stage.connected("alice", way) as client:
            assert client.protocol_version == ("2025-11-25" if way.mode == "legacy" else "2026-07-28")
            assert len((await client.list_tools()).tools) == 14
            assert len((await client.list_resource_templates()).resource_templates) == 2
            resources, cursor, pages = [], None, 0
            while pages == 0 or cursor:
                page = await client.list_resources(cursor=cursor)
                resources += page.resources
                cursor, pages = page.next_cursor, pages + 1
            assert len({one.uri for one in resources}) == len(resources) >= OLDER

    anyio.run(look)


def test_a_foreign_task_is_as_an_absent_one(stage: McpStage, way: Way) -> None:
    async def look() -> None:
        async with stage.connected("alice", way) as sender:
            foreign = (await tool(sender, "send_task", recipient="archive", text="secret"))["task_id"]
        async with stage.connected("mallory", way) as stranger:
            for name in ("read_task", "wait_for_result", "cancel_task"):
                texts = [
                    (await refusal(stranger, name, task_id=task_id)).replace(task_id, "<id>")
                    for task_id in (foreign, str(uuid4()))
                ]
                assert texts[0] == texts[1]
            with pytest.raises(MCPError) as unknown:
                await stranger.read_resource(f"a2a://tasks/{foreign}")
            assert unknown.value.code == -32602
            assert (await stranger.list_resources()).resources == []

    anyio.run(look)


def test_errors_of_the_hub_and_of_the_protocol_reach_the_client(stage: McpStage, way: Way) -> None:
    async def look() -> None:
        async with stage.connected("mallory", way) as client:
            text = await refusal(client, "send_task", recipient="bob", text="x")
            assert text.startswith("capability_missing: ")
            assert "recipient: is required" in await refusal(client, "send_task", text="x")
            with pytest.raises(MCPError) as unknown:
                await client.call_tool("fly", {})
            assert unknown.value.code == -32602

    anyio.run(look)


@pytest.mark.parametrize("tool_name", ["receive_task", "wait_for_result"])
def test_a_wait_that_dies_with_its_process_is_repeated_and_loses_nothing(
    stage: McpStage, way: Way, tool_name: str
) -> None:
    attempt = str(uuid4())

    async def waits(began: anyio.Event, arguments: dict[str, Any]) -> None:
        async def note(progress: float, total: float | None, message: str | None) -> None:
            began.set()

        async with stage.connected("alice" if "task_id" in arguments else "bob", way) as client:
            with pytest.raises(MCPError):
                await client.call_tool(tool_name, arguments, progress_callback=note)

    async def story() -> None:
        with stage.own_client("alice") as alice:
            sent = str(alice.send("archive", "x").id)
        how = {"attempt_id": attempt} if tool_name == "receive_task" else {"task_id": sent}
        arguments = {"wait_ms": 60_000, **how}
        began = anyio.Event()
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(waits, began, arguments)
                await began.wait()
                [process] = stage.hub.web_workers()
                process.kill()
            await anyio.to_thread.run_sync(stage.hub.wait_until_up)
        async with stage.connected("alice", way) as sender:
            new = (await tool(sender, "send_task", recipient="bob", text="after the fall"))["task_id"]
        async with stage.connected("bob", way) as worker:
            received = await tool(worker, "receive_task", wait_ms=60_000, attempt_id=attempt)
            lease = {"task_id": received["task"]["id"], "lease_id": received["lease"]["lease_id"]}
            await tool(worker, "answer_task", **lease, content="done")
        assert received["task"]["id"] == new
        async with stage.connected("alice", way) as sender:
            done = await tool(sender, "wait_for_result", task_id=new, wait_ms=60_000)
        assert done["task"]["outcome"] == "ok"

    anyio.run(story)

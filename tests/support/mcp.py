"""A client of MCP in a test, and its streams."""

import json
from collections.abc import Generator
from typing import Any

import jsonschema_rs

from mailbox.access.callers import Caller
from mailbox.dialects.mcp.messages import CLIENT_KEY, VERSION_KEY
from mailbox.dialects.mcp.tools import described
from tests.support.a2a import frames, hang_up
from tests.support.api import Api

Json = dict[str, Any]
BY_HANDSHAKE, BY_ENVELOPE = "2025-11-25", "2026-07-28"
BOTH = "application/json, text/event-stream"
_NAMED_BY = {"tools/call": "name", "resources/read": "uri"}
_OUTPUTS = {tool["name"]: tool["outputSchema"] for tool in described()}


class McpClient:
    """Sends requests as one caller, in one version of the protocol, as the official SDK frames them."""

    def __init__(self, caller: Caller | None, *, version: str = BY_HANDSHAKE) -> None:
        self.version = version
        self.api = Api(caller, headers={"Accept": BOTH, "MCP-Protocol-Version": version})

    def response(self, method: str, params: Json | None = None, *, token: str | None = None, **headers: str) -> Any:
        """Return the raw response to a request. ``token`` asks for progress."""
        meta: Json = {} if token is None else {"progressToken": token}
        if self.version == BY_ENVELOPE:
            meta |= {VERSION_KEY: self.version, CLIENT_KEY: {}}
            named = (params or {}).get(_NAMED_BY.get(method, ""))
            headers = {"Mcp-Method": method, **({} if named is None else {"Mcp-Name": str(named)}), **headers}
        whole = {**(params or {}), **({"_meta": meta} if meta else {})}
        body = {"jsonrpc": "2.0", "id": 1, "method": method, **({"params": whole} if whole else {})}
        return self.api.post("/mcp", body, headers=headers or None)

    def call(self, method: str, params: Json | None = None) -> Json:
        """Return the result of a request."""
        response = self.response(method, params)
        answer = response.json()
        assert (response.status_code, answer.get("id")) == (200, 1), answer
        assert "error" not in answer, answer
        result: Json = answer["result"]
        return result

    def error(self, method: str, params: Json | None = None, **headers: str) -> tuple[int, int]:
        """Return the HTTP status and the code of an error."""
        response = self.response(method, params, **headers)
        return response.status_code, response.json()["error"]["code"]

    def tool(self, name: str, **arguments: Any) -> Json:
        """Return the structured answer of a tool, which fits its schema."""
        return checked(name, self.call("tools/call", {"name": name, "arguments": arguments}))

    def refused(self, name: str, **arguments: Any) -> str:
        """Return the text of a tool's error."""
        result = self.call("tools/call", {"name": name, "arguments": arguments})
        assert result["isError"] is True, result
        assert "structuredContent" not in result
        text: str = result["content"][0]["text"]
        return text

    def stream(self, name: str, **arguments: Any) -> Generator[Json, None, None]:
        """Yield the messages of a tool's stream as they come. Closing it closes the stream."""
        response = self.response("tools/call", {"name": name, "arguments": arguments}, token="t")
        assert response.headers["Content-Type"] == "text/event-stream", response.content
        try:
            yield from (json.loads(event["data"]) for event in frames(response))
        finally:
            hang_up(response)


def checked(name: str, result: Json) -> Json:
    """Return the structured answer of a tool, which fits its schema, and which its text repeats."""
    assert "isError" not in result, result
    answer: Json = result["structuredContent"]
    jsonschema_rs.validate(_OUTPUTS[name], answer)
    assert json.loads(result["content"][0]["text"]).keys() == answer.keys()
    return answer


def sent(sender: McpClient, text: str = "paint a house", **arguments: Any) -> str:
    """Send bob a task; return its id."""
    task_id: str = sender.tool("send_task", recipient="bob", text=text, **arguments)["task_id"]
    return task_id


def held(worker: McpClient) -> Json:
    """Receive a task; return the arguments of calls about it."""
    received = worker.tool("receive_task")
    return {"task_id": received["task"]["id"], "lease_id": received["lease"]["lease_id"]}

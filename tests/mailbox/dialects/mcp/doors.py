from http import HTTPStatus
from typing import Any
from uuid import UUID, uuid4

from mailbox.dialects.mcp.requests import DIALECT
from mailbox.words.times import MOST_MS
from tests.support.doors import RECIPIENT, TASK, Act, Door, HttpDoor, Listing, Refused, Request, Seen

# The status that HTTP has for the errors of a tool.
STATUSES = {
    "invalid_request": 400,
    "capability_missing": 403,
    "not_an_agent": 403,
    "unknown_task": 404,
    "unknown_agent": 404,
    "task_conflict": 409,
    "lease_mismatch": 409,
    "result_conflict": 409,
    "quota_exceeded": 429,
}


def call_of(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def of_tool(name: str, **arguments: Any) -> Request:
    return Request("POST", "/mcp", call_of("tools/call", name=name, arguments=arguments))


LEASE = {"task_id": TASK, "lease_id": str(uuid4())}


class McpDoor(HttpDoor):
    """One agent as a client of MCP."""

    dialect = DIALECT
    does = frozenset(Act) - {Act.DEFAULT, Act.DRAIN, Act.OWN}
    send_path = "/mcp"
    text = ("params", "arguments", "text")
    timeout = ("params", "arguments", "work_timeout_ms")
    longest_ms = MOST_MS
    of_tasks = (
        *(of_tool(name, task_id=TASK) for name in ("read_task", "cancel_task")),
        of_tool("wait_for_result", task_id=TASK, wait_ms=0),
        of_tool("say", task_id=TASK, content="more"),
        *(of_tool(name, **LEASE) for name in ("answer_task", "report_progress")),
        of_tool("ask_sender", **LEASE, question="which?"),
        of_tool("release_task", **LEASE, reason="r"),
        *(
            Request("POST", "/mcp", call_of("resources/read", uri=f"a2a://tasks/{TASK}{part}"))
            for part in ("", "/artifacts/result")
        ),
    )
    lists = (
        Listing("list_tasks", "tasks", "alice", most=100),
        Listing("list_agents", "agents", "alice", most=100),
        Listing("held_tasks", "held", "bob", most=100),
    )

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        named = {"id": str(name)} if name else {}
        return UUID(self.tool("send_task", recipient=to, text=text, **named)["task_id"])

    def lease(self) -> UUID | None:
        task = self.tool("receive_task")["task"]
        return UUID(task["id"]) if task else None

    def answer(self, task_id: UUID, text: str) -> None:
        held = {one["task"]["id"]: one["lease"]["lease_id"] for one in self.tool("held_tasks")["held"]}
        lease_id = held.get(str(task_id), str(uuid4()))
        self.tool("answer_task", task_id=str(task_id), lease_id=lease_id, content=text)

    def read(self, task_id: UUID) -> Seen:
        seen = self.tool("wait_for_result", task_id=str(task_id), wait_ms=0)
        if (result := seen.get("result")) is None:
            return Seen("open", None)
        is_failed = result["status"] == "error"
        return Seen("failed", result["error_message"]) if is_failed else Seen("done", result["content"][0]["text"])

    def page(self, listing: Listing, **query: Any) -> Any:
        return self.tool(listing.name, **query)

    def tool(self, name: str, **arguments: Any) -> Any:
        """Return the structured answer of a tool; raise `Refused` for its error."""
        result = self.post("/mcp", call_of("tools/call", name=name, arguments=arguments))["result"]
        if not result.get("isError"):
            return result["structuredContent"]
        code, _, message = result["content"][0]["text"].partition(": ")
        raise Refused(STATUSES[code], message)

    def call(self, method: str, path: str, body: Any = None, **how: Any) -> Any:
        told = super().call(method, path, body, **how)
        [only] = told if isinstance(told, list) else [told]
        if "error" in only:
            raise Refused(HTTPStatus.BAD_REQUEST, self.refusal(only))
        return only

    def refusal(self, body: Any) -> str:
        assert body.keys() == {"jsonrpc", "id", "error"}
        assert {"code", "message"} <= body["error"].keys()
        return str(body["error"]["message"])


DOORS: list[type[Door]] = [McpDoor]

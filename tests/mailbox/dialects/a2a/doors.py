from http import HTTPStatus
from types import MappingProxyType
from typing import Any, ClassVar
from uuid import UUID

from tests.support.a2a import message
from tests.support.doors import (
    CONTEXT,
    RECEIVER,
    RECIPIENT,
    TASK,
    Act,
    Door,
    HttpDoor,
    Listing,
    Place,
    Refused,
    Request,
    Seen,
)

STATES = {
    "SUBMITTED": "open",
    "WORKING": "open",
    "INPUT_REQUIRED": "open",
    "AUTH_REQUIRED": "open",
    "COMPLETED": "done",
    "FAILED": "failed",
    "CANCELED": "failed",
    "REJECTED": "failed",
}
# The status that HTTP has for the codes of JSON-RPC.
STATUSES = {-32700: 400, -32600: 400, -32601: 404, -32602: 400, -32001: 404, -32004: 400, -32005: 400}
SENDS = {Act.SEND, Act.ADDRESS, Act.REPEAT, Act.AUTHENTICATE, Act.AUTHORISE, Act.PARSE, Act.TIMEOUT, Act.READ}
WORK_TIMEOUT = ("metadata", "urn:a2a-hub:work-timeout-ms")


RPC = f"/agents/{RECIPIENT}/a2a"
MORE = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "more"}], "taskId": TASK, "contextId": CONTEXT}
OLD_MORE = {**MORE, "kind": "message", "role": "user", "parts": [{"kind": "text", "text": "more"}]}
HOOK = {"id": "theirs", "url": "https://receiver.example/hook", "token": "t0ken"}
NAMED = {"taskId": TASK, "id": RECEIVER}
OLD_NAMED = {"id": TASK, "pushNotificationConfigId": RECEIVER}
TASKS: dict[str, Any] = {
    "items": "tasks",
    "reader": "alice",
    "limit": "pageSize",
    "cursor": "pageToken",
    "following": "nextPageToken",
    "most": 100,
}
OPERATIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("GetTask", {"id": TASK, "historyLength": 1}),
    ("ListTasks", {"contextId": CONTEXT}),
    ("CancelTask", {"id": TASK}),
    ("SubscribeToTask", {"id": TASK}),
    ("SendMessage", {"message": MORE}),
    ("SendMessage", {"message": MORE, "configuration": {"taskPushNotificationConfig": HOOK}}),
    ("SendStreamingMessage", {"message": MORE}),
    ("CreateTaskPushNotificationConfig", {"taskId": TASK, **HOOK}),
    ("GetTaskPushNotificationConfig", NAMED),
    ("ListTaskPushNotificationConfigs", {"taskId": TASK}),
    ("DeleteTaskPushNotificationConfig", NAMED),
)
OLD_OPERATIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    *((name, {"id": TASK}) for name in ("tasks/get", "tasks/cancel", "tasks/resubscribe")),
    *((name, {"message": OLD_MORE}) for name in ("message/send", "message/stream")),
    ("tasks/pushNotificationConfig/set", {"taskId": TASK, "pushNotificationConfig": HOOK}),
    *((f"tasks/pushNotificationConfig/{name}", OLD_NAMED) for name in ("get", "delete")),
    *((f"tasks/pushNotificationConfig/{name}", {"id": TASK}) for name in ("get", "list")),
)


def call_of(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def rest_of_tasks(base: str) -> tuple[Request, ...]:
    """Return the requests of HTTP+JSON that name a task, at a URL of the agent."""
    task, configs = f"{base}/tasks/{TASK}", f"{base}/tasks/{TASK}/pushNotificationConfigs"
    return (
        *(Request("GET", path) for path in (task, f"{base}/tasks?contextId={CONTEXT}", f"{task}:subscribe")),
        *(Request("POST", f"{task}:{what}") for what in ("cancel", "subscribe")),
        *(Request("POST", f"{base}/message:{what}", {"message": MORE}) for what in ("send", "stream")),
        Request("POST", configs, HOOK),
        *(Request("GET", path) for path in (configs, f"{configs}/{RECEIVER}")),
        Request("DELETE", f"{configs}/{RECEIVER}"),
    )


class OfficialDoor(HttpDoor):
    """One agent as a client of the official protocol, by HTTP+JSON."""

    dialect = "a2a"
    does = frozenset({*SENDS, Act.OWN, Act.COLLECT})
    headers = MappingProxyType({"A2A-Version": "1.0"})
    serves = r"/rest/|/\.well-known/"
    text: Place = ("message", "parts", 0, "text")
    timeout: Place = WORK_TIMEOUT
    conflict = wrong_media_type = HTTPStatus.BAD_REQUEST
    base: ClassVar[str] = "/agents/{}/rest"
    send_path = f"{base.format(RECIPIENT)}/message:send"
    of_tasks = rest_of_tasks(base.format(RECIPIENT))
    lists = (Listing(f"{base.format(RECIPIENT)}/tasks", **TASKS),)
    other_lists = tuple(
        f"{root}/tasks/{{task_id}}/pushNotificationConfigs"
        for root in ("/agents/{agent}/rest", "/tenants/rest/{agent}")
    )

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        body = {"message": message(text, messageId="m"), "configuration": {"returnImmediately": True}}
        headers = {"Idempotency-Key": str(name)} if name else None
        return UUID(self.post(f"{self.base.format(to)}/message:send", body, headers=headers)["task"]["id"])

    def read(self, task_id: UUID) -> Seen:
        return seen(self.get(f"{self.base.format(RECIPIENT)}/tasks/{task_id}"))

    def refusal(self, body: Any) -> str:
        assert body.keys() == {"error"}
        assert body["error"].keys() == {"code", "status", "message", "details"}
        return str(body["error"]["message"])


class TenantDoor(OfficialDoor):
    """The same at the URL of all agents."""

    base = "/tenants/rest/{}"
    send_path = f"{base.format(RECIPIENT)}/message:send"
    of_tasks = rest_of_tasks(base.format(RECIPIENT))
    lists = (Listing(f"{base.format(RECIPIENT)}/tasks", **TASKS),)


class RpcDoor(OfficialDoor):
    """The same by JSON-RPC, whose own errors come with status 200."""

    serves = "/a2a$"
    send_path = RPC
    text = ("params", "message", "parts", 0, "text")
    timeout = ("params", *WORK_TIMEOUT)
    of_tasks = (
        *(Request("POST", RPC, call_of(name, params)) for name, params in OPERATIONS),
        Request("POST", RPC, call_of("SendMessage", {"message": MORE}), {"Idempotency-Key": "k"}),
        Request("POST", RPC, call_of("SubscribeToTask", {"id": TASK}), {"Last-Event-ID": "1"}),
        *(Request("POST", RPC, call_of(name, params), {"A2A-Version": "0.3"}) for name, params in OLD_OPERATIONS),
    )
    lists = (Listing("ListTasks", **TASKS),)

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        params = {"message": message(text, messageId="m"), "configuration": {"returnImmediately": True}}
        headers = {"Idempotency-Key": str(name)} if name else None
        return UUID(self.rpc(to, "SendMessage", params, headers=headers)["task"]["id"])

    def read(self, task_id: UUID) -> Seen:
        return seen(self.rpc(RECIPIENT, "GetTask", {"id": str(task_id)}))

    def page(self, listing: Listing, **query: Any) -> Any:
        return self.rpc(RECIPIENT, listing.name, query)

    def rpc(self, agent: str, method: str, params: dict[str, Any], **how: Any) -> Any:
        return self.post(f"/agents/{agent}/a2a", call_of(method, params), **how)["result"]

    def call(self, method: str, path: str, body: Any = None, **how: Any) -> Any:
        told = super().call(method, path, body, **how)
        if "error" in told:
            raise Refused(STATUSES[told["error"]["code"]], self.refusal(told))
        return told

    def refusal(self, body: Any) -> str:
        assert body.keys() == {"jsonrpc", "id", "error"}
        assert body["error"].keys() == {"code", "message", "data"}
        return str(body["error"]["message"])


def seen(task: dict[str, Any]) -> Seen:
    status = task["status"]
    said = [status["message"]] if "message" in status else task.get("artifacts", [])
    return Seen(STATES[status["state"].removeprefix("TASK_STATE_")], said[-1]["parts"][0]["text"] if said else None)


DOORS: list[type[Door]] = [OfficialDoor, TenantDoor, RpcDoor]

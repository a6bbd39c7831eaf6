from __future__ import annotations

from http import HTTPStatus
from typing import Any, ClassVar
from uuid import UUID

from tests.support.a2a import message
from tests.support.api import Api
from tests.support.doors import RECIPIENT, Act, Door, HttpDoor, Refused, Seen

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
SENDS = {Act.SEND, Act.ADDRESS, Act.AUTHENTICATE, Act.AUTHORISE, Act.PARSE, Act.READ}


class OfficialDoor(HttpDoor):
    """One agent as a client of the official protocol, by HTTP+JSON."""

    dialect = "a2a"
    does = frozenset({*SENDS, Act.OWN})
    wrong_media_type = HTTPStatus.BAD_REQUEST
    base: ClassVar[str] = "/agents/{}/rest"
    send_path = f"{base.format(RECIPIENT)}/message:send"

    def client(self) -> Api:
        return Api(self.caller, headers={"A2A-Version": "1.0"})

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        body = {"message": message(text), "configuration": {"returnImmediately": True}}
        return UUID(self.post(f"{self.base.format(to)}/message:send", body)["task"]["id"])

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


class RpcDoor(OfficialDoor):
    """The same by JSON-RPC, whose own errors come with status 200."""

    send_path = f"/agents/{RECIPIENT}/a2a"

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        params = {"message": message(text), "configuration": {"returnImmediately": True}}
        return UUID(self.rpc(to, "SendMessage", params)["task"]["id"])

    def read(self, task_id: UUID) -> Seen:
        return seen(self.rpc(RECIPIENT, "GetTask", {"id": str(task_id)}))

    def rpc(self, agent: str, method: str, params: dict[str, Any]) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.post(f"/agents/{agent}/a2a", body)["result"]

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

from http import HTTPStatus
from typing import Any
from uuid import UUID

from tests.support import factories
from tests.support.api import Api
from tests.support.doors import RECIPIENT, TASK, Act, Door, HttpDoor, Request, Seen

STATES = {"submitted": "open", "working": "open", "completed": "done", "failed": "failed"}


class TasksSend(HttpDoor):
    dialect = "corvid"
    does = frozenset({Act.SEND, Act.DEFAULT, Act.READ, Act.AUTHENTICATE, Act.AUTHORISE, Act.PARSE, Act.TIMEOUT})
    send_path = "/a2a/tasks/send"
    text = ("params", "message")
    timeout = ("params", "timeoutMs")
    longest_ms = 600_000
    wrong_key = HTTPStatus.FORBIDDEN
    lacking = HTTPStatus.NOT_FOUND
    other_lists = ("/api/agents",)
    of_tasks = (Request("GET", f"/a2a/tasks/{TASK}"),)

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        return UUID(self.post(self.send_path, {"params": {"message": text}})["id"])

    def read(self, task_id: UUID) -> Seen:
        task = self.get(f"/a2a/tasks/{task_id}")
        first, *said = task["messages"]
        assert first["role"] == "user"
        return Seen(STATES[task["state"]], said[-1]["parts"][0]["text"] if said else None)

    def refusal(self, body: Any) -> str:
        assert body.keys() <= {"error", "code"}
        return str(body["error"])


class TasksSendByRoute(TasksSend):
    """The same at a public route of the caller, without a key."""

    does = TasksSend.does - {Act.AUTHENTICATE}

    def client(self) -> Api:
        assert self.caller is not None
        return Api(prefix=factories.route(self.caller))


DOORS: list[type[Door]] = [TasksSend, TasksSendByRoute]

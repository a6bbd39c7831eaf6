from http import HTTPStatus
from typing import Any
from uuid import UUID, uuid4

from tests.support import yeoman
from tests.support.doors import RECIPIENT, TASK, Act, Door, HttpDoor, Place, Refused, Request, Seen

STATES = {"pending": "open", "running": "open", "completed": "done", "failed": "failed", "cancelled": "failed"}
SENDS = {Act.SEND, Act.DEFAULT, Act.REPEAT, Act.REMEMBER, Act.AUTHENTICATE, Act.AUTHORISE, Act.PARSE, Act.TIMEOUT}


class YeomanDoor(HttpDoor):
    dialect = "yeoman"

    def refusal(self, body: Any) -> str:
        assert body.keys() == {"detail"}
        told = body["detail"]
        return told if isinstance(told, str) else "; ".join(f"{one['loc']}: {one['msg']}" for one in told)


class Envelope(YeomanDoor):
    does = frozenset({*SENDS, Act.ANSWER, Act.READ})
    send_path = yeoman.RECEIVE
    text: Place = ("payload", "task")
    timeout = ("payload", "work_timeout_ms")
    of_tasks = (
        *(
            Request("POST", yeoman.RECEIVE, yeoman.envelope(f"a2a:{kind}", {"task_id": TASK, "result": "x"}))
            for kind in ("status_query", "result_query", "result")
        ),
        Request("POST", yeoman.RECEIVE, yeoman.envelope("a2a:status_query_batch", {"task_ids": [TASK]})),
    )

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        return UUID(self.say("a2a:delegate", {"task": text}, id=str(name or uuid4()))["task_id"])

    def answer(self, task_id: UUID, text: str) -> None:
        told = self.say("a2a:result", {"task_id": str(task_id), "status": "completed", "result": text})
        if "warning" in told:
            raise Refused(HTTPStatus.NOT_FOUND, told["warning"])

    def read(self, task_id: UUID) -> Seen:
        return seen(self.say("a2a:result_query", {"task_id": str(task_id)}))

    def say(self, kind: str, payload: dict[str, Any], **fields: Any) -> Any:
        return self.post(self.send_path, yeoman.envelope(kind, payload, **fields))


class StatusQuery(Envelope):
    does = frozenset({Act.READ})

    def read(self, task_id: UUID) -> Seen:
        told = self.say("a2a:status_query", {"task_id": str(task_id)})
        return seen(told["data"] or told)


class StatusQueryBatch(Envelope):
    does = frozenset({Act.READ})

    def read(self, task_id: UUID) -> Seen:
        told = self.say("a2a:status_query_batch", {"task_ids": [str(task_id)]})
        return seen(told["statuses"][str(task_id)])


class TaskApi(YeomanDoor):
    does = frozenset({*SENDS, Act.READ})
    send_path = "/api/v1/tasks"
    text: Place = ("description",)
    of_tasks = (Request("GET", f"{send_path}/{TASK}"), Request("DELETE", f"{send_path}/{TASK}"))
    key: str = "task_id"

    def send(self, text: str, *, to: str = RECIPIENT, name: UUID | None = None) -> UUID:
        headers = {"Idempotency-Key": str(name)} if name else None
        return UUID(self.post(self.send_path, self.body(text), headers=headers)[self.key])

    def body(self, text: str) -> dict[str, str]:
        return {"title": "t", "description": text}

    def read(self, task_id: UUID) -> Seen:
        return seen(self.get(f"{self.send_path}/{task_id}"))


class FirstTaskApi(TaskApi):
    send_path = "/api/tasks"
    of_tasks = (Request("GET", f"{send_path}/{TASK}"), Request("DELETE", f"{send_path}/{TASK}"))


class WorkflowStep(TaskApi):
    does = frozenset(SENDS)
    send_path = "/api/v1/a2a/tasks"
    text = ("task",)
    key = "taskId"

    def body(self, text: str) -> dict[str, str]:
        return {"task": text}

    def read(self, task_id: UUID) -> Seen:
        return TaskApi(self.caller).read(task_id)


def seen(record: dict[str, Any] | None) -> Seen:
    if record is None or record["status"] is None:
        raise Refused(HTTPStatus.NOT_FOUND, "Task not found")
    result = record["result"] or {}
    return Seen(
        STATES[record["status"]], result.get("error") or next((b["text"] for b in result.get("content", [])), None)
    )


DOORS: list[type[Door]] = [Envelope, StatusQuery, StatusQueryBatch, TaskApi, FirstTaskApi, WorkflowStep]

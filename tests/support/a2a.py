"""A client of the official protocol in a test, over both bindings."""

import json
from collections.abc import Iterator, Mapping
from inspect import GEN_CREATED, getgeneratorstate
from itertools import count
from typing import Any

from mailbox.access.callers import Caller
from mailbox.life import leasing, results, updates
from mailbox.models import Task
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus
from tests.support.api import Api
from tests.support.factories import result_envelope, text

Json = dict[str, Any]
_ids = count(1)


def message(text: str = "do it", **members: Any) -> Json:
    return {"messageId": f"m-{next(_ids)}", "role": "ROLE_USER", "parts": [{"text": text}], **members}


class OfficialClient:
    """Calls one agent. Its answers are statuses and JSON. ``version`` None sends no version."""

    def __init__(self, caller: Caller | None, agent: Caller, *, version: str | None = "1.0", **headers: str) -> None:
        named = {} if version is None else {"A2A-Version": version}
        self.api = Api(caller, headers=named | headers)
        assert agent.agent is not None
        self.base = f"/agents/{agent.agent.display}"

    def response(self, method: str, params: Any = None, *, rpc_id: Any = 1, **headers: str) -> Any:
        """Return the raw response of a JSON-RPC call."""
        body = {"jsonrpc": "2.0", "id": rpc_id, "method": method, **({} if params is None else {"params": params})}
        return self.api.post(f"{self.base}/a2a", body, headers=headers or None)

    def rpc(self, method: str, params: Any = None, **headers: str) -> Any:
        """Return the result of a call."""
        response = self.response(method, params, **headers)
        answer = whole(response)
        assert "error" not in answer, answer
        assert (response.status_code, answer["id"]) == (200, 1)
        return answer["result"]

    def error(self, method: str, params: Any = None, **headers: str) -> tuple[int, str]:
        """Return the code and the reason of an error that JSON-RPC answers with 200."""
        response = self.response(method, params, **headers)
        answer = whole(response)
        assert response.status_code == 200, answer
        return answer["error"]["code"], answer["error"]["data"][0]["reason"]

    def send(self, text: str = "do it", *, now: bool = True, **members: Any) -> Json:
        """Send a message; return the task or message. ``now``: do not wait."""
        configuration = {"returnImmediately": now}
        sent = self.rpc("SendMessage", {"message": message(text, **members), "configuration": configuration})
        ((_, value),) = sent.items()
        assert isinstance(value, dict)
        return value

    def get(self, task_id: str, **params: Any) -> Json:
        task: Json = self.rpc("GetTask", {"id": task_id, **params})
        return task

    def events(self, method: str, params: Any, **headers: str) -> list[tuple[str, Json]]:
        """Return the events of a stream that ends: their ids and results."""
        return list(self.stream(method, params, **headers))

    def stream(self, method: str, params: Any, **headers: str) -> Iterator[tuple[str, Json]]:
        """Yield the ids and the results of a stream's events as they come. Closing it closes the stream."""
        response = self.response(method, params, **headers)
        assert response.headers["Content-Type"] == "text/event-stream", whole(response)
        try:
            yield from results_of(response)
        finally:
            hang_up(response)


def hang_up(response: Any) -> None:
    """Close a response whose client goes away.

    The test client's own iterator closes it, which leaves the connection of the test's transaction open.
    """
    chunks = response._iterator
    if getgeneratorstate(chunks) == GEN_CREATED:
        next(chunks)
    chunks.close()


def results_of(response: Any) -> Iterator[tuple[str, Json]]:
    """Yield the ids and the results of a stream's events as they come."""
    for event in frames(response):
        if "id" in event:
            yield event["id"], json.loads(event["data"])["result"]


def frames(response: Any) -> Iterator[Mapping[str, str]]:
    """Yield the fields of each server-sent event of a response. A comment has the key ""."""
    waiting = b""
    for chunk in response.streaming_content:
        waiting += chunk
        while b"\n\n" in waiting:
            frame, _, waiting = waiting.partition(b"\n\n")
            yield dict(
                line.split(": ", 1) if not line.startswith(":") else ("", line) for line in frame.decode().split("\n")
            )


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name, value.strip()


def whole(response: Any) -> Any:
    """Return the JSON of a response, which may come in chunks."""
    return json.loads(b"".join(response.streaming_content) if response.streaming else response.content)


class Holder:
    """A worker of an agent, which leases one task after another."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.lease: Any = None

    def take(self) -> Task:
        (self.lease,) = leasing.lease_tasks(self.caller)
        task: Task = self.lease.task
        return task

    def post(self, *posted: Update | ArtifactUpdate) -> None:
        updates.post_updates(self.caller, self.lease.task.uuid, list(posted), lease_id=self.lease.lease_id)

    def tell(self, words: str) -> None:
        self.post(Update(message=text(words)))

    def make(self, words: str, **fields: Any) -> None:
        self.post(ArtifactUpdate(content=text(words), **{"artifact_id": "report", **fields}))

    def ask(self, words: str, status: UpdateStatus = UpdateStatus.INPUT_REQUIRED) -> None:
        self.post(Update(status=status, message=text(words)))

    def answer(self, words: str | None = "done", **said: Any) -> None:
        content = () if words is None else text(words)
        fields = {"content": content, "lease_id": self.lease.lease_id, **said}
        results.post_result(self.caller, result_envelope(self.lease.task, **fields))


def state(task: Json) -> str:
    found: str = task["status"]["state"]
    return found.removeprefix("TASK_STATE_")


def words_of(messages: list[Json]) -> list[str]:
    return [part.get("text") for said in messages for part in said["parts"]]


def short(result: Json) -> list[str]:
    """Return an event as its state and words, or as its artifact and words."""
    ((kind, value),) = result.items()
    if kind == "artifactUpdate":
        return [value["artifact"]["artifactId"], *words_of([value["artifact"]])]
    if kind == "message":
        return ["message", *words_of([value])]
    said = value["status"].get("message")
    return [f"Task {state(value)}" if kind == "task" else state(value), *(words_of([said]) if said else [])]

"""An agent on the loopback that speaks the official protocol: JSON-RPC 1.0, HTTP+JSON 1.0 and JSON-RPC 0.3.

The form of 0.3 is written apart from the hub's own translation.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.http_servers import Handler, serving
from tests.support.official_agents import Json, Official, RefusedError
from tests.support.remote_servers import hang_up

METHODS = {
    "message/send": "SendMessage",
    "message/stream": "SendStreamingMessage",
    "tasks/get": "GetTask",
    "tasks/cancel": "CancelTask",
    "tasks/resubscribe": "SubscribeToTask",
}


class OfficialHandler(Handler):
    protocol_version = "HTTP/1.1"
    agent: Official

    def answer(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.agent.requests.append((self.command, self.path, headers, body))
        path = urlsplit(self.path).path
        if path.endswith("/.well-known/agent-card.json"):
            return self._json(200, self.agent.card_document())
        if path == "/counts":
            return self._json(200, {"sent": len(self.agent.sent), "tasks": len(self.agent.tasks)})
        if self.agent.busy:
            return self._json(503, {"error": {"code": 503, "message": "busy"}})
        if path == "/rest" or path.startswith("/rest/"):
            return self._rest(path.removeprefix("/rest"), body, headers)
        return self._rpc(json.loads(body), headers, older=path == "/older")

    def _rpc(self, body: Json, headers: Mapping[str, str], *, older: bool) -> None:
        operation, params = (
            _older_request(body["method"], body["params"]) if older else (body["method"], body["params"])
        )
        if not older and headers.get("a2a-version") != "1.0":
            return self._json(
                200, {"jsonrpc": "2.0", "id": body["id"], "error": {"code": -32009, "message": "version"}}
            )
        if operation == "GetTask" and self.agent.poll_status != 200:
            return self._json(self.agent.poll_status, {})
        form: Callable[[Json], Any] = _older_result if older else (lambda result: result)
        try:
            result = self.agent.operate(operation, params, headers)
        except RefusedError as refused:
            error = {"code": refused.code, "message": str(refused), "data": [refused.info]}
            return self._json(200, {"jsonrpc": "2.0", "id": body["id"], "error": error})
        if isinstance(result, dict):
            return self._json(200, {"jsonrpc": "2.0", "id": body["id"], "result": form(result)})
        return self._events({"jsonrpc": "2.0", "id": body["id"], "result": form(event)} for event in result)

    def _rest(self, path: str, body: bytes, headers: Mapping[str, str]) -> None:
        query = parse_qs(urlsplit(self.path).query)
        params = json.loads(body) if body else {}
        task_id, _, action = path.removeprefix("/tasks/").partition(":")
        operation = {"cancel": "CancelTask", "subscribe": "SubscribeToTask"}.get(action, "GetTask")
        if path.startswith("/message:"):
            operation = "SendMessage" if path == "/message:send" else "SendStreamingMessage"
        elif operation == "GetTask":
            params = {"id": task_id, **{name: values[0] for name, values in query.items()}}
        else:
            params |= {"id": task_id}
        try:
            result = self.agent.operate(operation, params, headers)
        except RefusedError as refused:
            error = {"code": refused.status, "message": str(refused), "details": [refused.info]}
            return self._json(refused.status, {"error": error})
        return self._json(200, result) if isinstance(result, dict) else self._events(result)

    def _json(self, status: int, value: Json) -> None:
        self.send(status, json.dumps(value).encode(), ("Content-Type", "application/json"))

    def _events(self, events: Iterator[Json]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b": hello\r\n\r\n")
        for event in events:
            self.wfile.write(f"data: {json.dumps(event)}\r\n\r\n".encode())
            self.wfile.flush()
        self.close_connection = True


@contextmanager
def official(port: int = 0, **given: Any) -> Iterator[Official]:
    """Serve an agent until the block ends."""
    agent = Official(**given)
    agent.gate.set()
    handler = type("Handler", (OfficialHandler,), {"agent": agent})
    with serving(handler, port) as agent.url:
        try:
            yield agent
        finally:
            agent.gate.set()
            agent.over.set()
            hang_up()


@pytest.fixture
def offie(settings: Any) -> Iterator[Official]:
    """Serve an agent of the official protocol on the loopback, which the hub may call."""
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    with official() as agent:
        yield agent


def _older_request(method: str, params: Json) -> tuple[str, Json]:
    """Return the operation and its params; fail for a message that 0.3 does not have."""
    if "message" in params:
        message = params["message"]
        assert message["kind"] == "message"
        assert message["role"] == "user"
        assert all(part["kind"] == "text" for part in message["parts"])
        assert isinstance(params["configuration"]["blocking"], bool)
        params = {"message": {**message, "role": "ROLE_USER", "parts": [{"text": p["text"]} for p in message["parts"]]}}
    return METHODS[method], params


def _older_result(result: Json) -> Json:
    """Return the 0.3 form of a task, a message, or an event."""
    if "message" in result:
        return _older_message(result["message"])
    if "statusUpdate" in result:
        update = result["statusUpdate"]
        return {"kind": "status-update", **update, "status": _older_status(update["status"]), "final": False}
    if "artifactUpdate" in result:
        update = result["artifactUpdate"]
        return {"kind": "artifact-update", **update, "artifact": _older_artifact(update["artifact"])}
    return _older_task(result.get("task", result))


def _older_task(task: Json) -> Json:
    return {
        **task,
        "kind": "task",
        "status": _older_status(task["status"]),
        "history": [_older_message(message) for message in task["history"]],
        "artifacts": [_older_artifact(artifact) for artifact in task.get("artifacts", [])],
    }


def _older_status(status: Json) -> Json:
    state = status["state"].removeprefix("TASK_STATE_").lower().replace("_", "-")
    return {**status, "state": state, **({"message": _older_message(status["message"])} if "message" in status else {})}


def _older_message(message: Json) -> Json:
    role = message["role"].removeprefix("ROLE_").lower()
    return {**message, "kind": "message", "role": role, "parts": [_older_part(part) for part in message["parts"]]}


def _older_artifact(artifact: Json) -> Json:
    return {**artifact, "parts": [_older_part(part) for part in artifact["parts"]]}


def _older_part(part: Json) -> Json:
    metadata = {"metadata": part["metadata"]} if "metadata" in part else {}
    if "text" in part:
        return {"kind": "text", "text": part["text"], **metadata}
    if "data" in part:
        return {"kind": "data", "data": part["data"], **metadata}
    content = {"bytes": part["raw"]} if "raw" in part else {"uri": part["url"]}
    return {"kind": "file", "file": {**content, "mimeType": part["mediaType"], "name": part["filename"]}, **metadata}


if __name__ == "__main__":
    with official(streams=True, beat=0.5) as served:
        print(served.url, flush=True)  # noqa: T201
        threading.Event().wait()

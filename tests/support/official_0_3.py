"""The 0.3 form of what `official_agents` takes and answers, written apart from the hub's own translation."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
METHODS = {
    "message/send": "SendMessage",
    "message/stream": "SendStreamingMessage",
    "tasks/get": "GetTask",
    "tasks/cancel": "CancelTask",
    "tasks/resubscribe": "SubscribeToTask",
}


def older_request(method: str, params: Json) -> tuple[str, Json]:
    """Return the operation and its params; fail for a message that 0.3 does not have."""
    if "message" in params:
        message = params["message"]
        assert message["kind"] == "message"
        assert message["role"] == "user"
        assert all(part["kind"] == "text" for part in message["parts"])
        assert isinstance(params["configuration"]["blocking"], bool)
        params = {"message": {**message, "role": "ROLE_USER", "parts": [{"text": p["text"]} for p in message["parts"]]}}
    return METHODS[method], params


def older_result(result: Json) -> Json:
    """Return the 0.3 form of a task, a message, or an event."""
    if "message" in result:
        return _message(result["message"])
    if "statusUpdate" in result:
        update = result["statusUpdate"]
        return {"kind": "status-update", **update, "status": _status(update["status"]), "final": False}
    if "artifactUpdate" in result:
        update = result["artifactUpdate"]
        return {"kind": "artifact-update", **update, "artifact": _artifact(update["artifact"])}
    return _task(result.get("task", result))


def _task(task: Json) -> Json:
    return {
        **task,
        "kind": "task",
        "status": _status(task["status"]),
        "history": [_message(message) for message in task["history"]],
        "artifacts": [_artifact(artifact) for artifact in task.get("artifacts", [])],
    }


def _status(status: Json) -> Json:
    state = status["state"].removeprefix("TASK_STATE_").lower().replace("_", "-")
    return {**status, "state": state, **({"message": _message(status["message"])} if "message" in status else {})}


def _message(message: Json) -> Json:
    role = message["role"].removeprefix("ROLE_").lower()
    return {**message, "kind": "message", "role": role, "parts": [_part(part) for part in message["parts"]]}


def _artifact(artifact: Json) -> Json:
    return {**artifact, "parts": [_part(part) for part in artifact["parts"]]}


def _part(part: Json) -> Json:
    metadata = {"metadata": part["metadata"]} if "metadata" in part else {}
    if "text" in part:
        return {"kind": "text", "text": part["text"], **metadata}
    if "data" in part:
        return {"kind": "data", "data": part["data"], **metadata}
    content = {"bytes": part["raw"]} if "raw" in part else {"uri": part["url"]}
    return {"kind": "file", "file": {**content, "mimeType": part["mediaType"], "name": part["filename"]}, **metadata}

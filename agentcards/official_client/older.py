"""0.3 of the official protocol as its clients write and read it: 1.0 requests become 0.3, 0.3 answers become 1.0.

Source: A2A 0.3, "Protocol RPC Methods"; A2A 1.0, "What's new in v1.0".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentcards.official_client.reading import Json, object_in, objects_in, text_in
from mailbox.outbound.errors import ExternalServiceError

METHODS: Mapping[str, str] = {
    "SendMessage": "message/send",
    "SendStreamingMessage": "message/stream",
    "GetTask": "tasks/get",
    "CancelTask": "tasks/cancel",
    "SubscribeToTask": "tasks/resubscribe",
}
COMPAT = "data_part_compat"  # the member of metadata that marks data which is no object


def request(operation: str, params: Json) -> tuple[str, Json]:
    """Return the 0.3 method and params of a 1.0 operation."""
    sent = dict(params)
    if "message" in sent:
        sent["message"] = _message_out(sent["message"])
    if "configuration" in sent:
        configuration = dict(sent["configuration"])
        configuration["blocking"] = not configuration.pop("returnImmediately", False)
        sent["configuration"] = configuration
    return METHODS[operation], sent


def result(found: Json) -> Json:
    """Return the 1.0 result of a 0.3 result: a task of its own, or a send's message.

    A task is returned both bare and as the ``task`` of a send, since 0.3 does not tell them apart.
    """
    kind = text_in(found, "kind")
    if kind == "message":
        return {"message": message(found)}
    if kind == "task" or "status" in found:
        read = task(found)
        return {**read, "task": read}
    raise ExternalServiceError("the agent's answer has neither a task nor a message")


def event(found: Json) -> Json:
    """Return the StreamResponse of a 0.3 event."""
    match text_in(found, "kind"):
        case "status-update":
            update = {name: found[name] for name in ("taskId", "contextId", "metadata") if name in found}
            return {"statusUpdate": {**update, "status": _status(object_in(found, "status"))}}
        case "artifact-update":
            return {"artifactUpdate": {**found, "artifact": _artifact(object_in(found, "artifact"))}}
    return result(found)


def task(found: Json) -> Json:
    return {
        **found,
        "status": _status(object_in(found, "status")),
        "history": [message(one) for one in objects_in(found, "history")],
        "artifacts": [_artifact(one) for one in objects_in(found, "artifacts")],
    }


def message(found: Json) -> Json:
    role = text_in(found, "role")
    parts = [_part_in(part) for part in objects_in(found, "parts")]
    return {**found, "role": f"ROLE_{role.upper()}", "parts": parts}


def _status(found: Json) -> Json:
    state = text_in(found, "state").upper().replace("-", "_")
    said = object_in(found, "message")
    return {**found, "state": f"TASK_STATE_{state}", **({"message": message(said)} if said else {})}


def _artifact(found: Json) -> Json:
    return {**found, "parts": [_part_in(part) for part in objects_in(found, "parts")]}


def _part_in(part: Json) -> Json:
    metadata = dict(object_in(part, "metadata"))
    beside: Json = {}
    match text_in(part, "kind"):
        case "text":
            read: Json = {"text": text_in(part, "text")}
        case "file":
            file = object_in(part, "file")
            read = {"raw": file["bytes"]} if "bytes" in file else {"url": text_in(file, "uri")}
            names = {"mediaType": text_in(file, "mimeType"), "filename": text_in(file, "name")}
            beside = {name: value for name, value in names.items() if value}
        case "data":
            data: Any = part.get("data")
            if metadata.pop(COMPAT, False) and isinstance(data, dict):
                data = data.get("value")
            read = {"data": data}
        case _:
            return part
    return {**read, **beside, **({"metadata": metadata} if metadata else {})}


def _message_out(said: Json) -> Json:
    parts = [_part_out(part) for part in said["parts"]]
    role = str(said["role"]).removeprefix("ROLE_").lower()
    return {**said, "kind": "message", "role": role, "parts": parts}


def _part_out(part: Json) -> Json:
    metadata = dict(part.get("metadata", {}))
    if "text" in part:
        sent: Json = {"kind": "text", "text": part["text"]}
    elif "data" in part:
        data = part["data"]
        if not isinstance(data, dict):
            data, metadata[COMPAT] = {"value": data}, True
        sent = {"kind": "data", "data": data}
    else:
        file = {"bytes": part["raw"]} if "raw" in part else {"uri": part.get("url", "")}
        names = {"mimeType": part.get("mediaType"), "name": part.get("filename")}
        sent = {"kind": "file", "file": file | {name: value for name, value in names.items() if value}}
    return {**sent, "metadata": metadata} if metadata else sent

"""JSON of the official A2A protocol 1.0 as JSON of 0.3, and back. Pure.

``..._out`` makes 0.3 of 1.0, ``..._in`` makes 1.0 of 0.3. Two things have no place in 0.3: the media type and the file
name of a text or data part. Source: A2A 0.3.0, "Protocol Data Objects"; A2A 1.0, "Appendix A".
"""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

COMPAT = "data_part_compat"  # in metadata: the data of the part is not an object, and stands in its "value"
_STATE_OUT: Mapping[str, str] = {
    "TASK_STATE_UNSPECIFIED": "unknown",
    "TASK_STATE_SUBMITTED": "submitted",
    "TASK_STATE_WORKING": "working",
    "TASK_STATE_INPUT_REQUIRED": "input-required",
    "TASK_STATE_AUTH_REQUIRED": "auth-required",
    "TASK_STATE_COMPLETED": "completed",
    "TASK_STATE_FAILED": "failed",
    "TASK_STATE_CANCELED": "canceled",
    "TASK_STATE_REJECTED": "rejected",
}
_STATE_IN: Mapping[str, str] = {old: new for new, old in _STATE_OUT.items()}
_FINAL = frozenset({"completed", "failed", "canceled", "rejected"})
_ROLE_OUT: Mapping[str, str] = {"ROLE_USER": "user", "ROLE_AGENT": "agent"}
ROLE_IN: Mapping[str, str] = {old: new for new, old in _ROLE_OUT.items()}
_KINDS: Mapping[str, str] = {
    "task": "task",
    "message": "message",
    "statusUpdate": "status-update",
    "artifactUpdate": "artifact-update",
}
_INTERNAL_ERROR = -32603
_NEW_CODES = frozenset({-32000, -32008, -32009})  # codes of the hub and of 1.0 that 0.3 does not know


def part_out(part: Mapping[str, Any]) -> Json:
    metadata = dict(_object(part.get("metadata")))
    if "text" in part:
        return {"kind": "text", "text": part["text"], **_known(metadata=metadata)}
    if "data" in part:
        data = part["data"]
        if not isinstance(data, Mapping):
            data, metadata[COMPAT] = {"value": data}, True
        return {"kind": "data", "data": data, **_known(metadata=metadata)}
    content = {"bytes": part["raw"]} if "raw" in part else {"uri": part.get("url", "")}
    file = content | _known(mimeType=part.get("mediaType"), name=part.get("filename"))
    return {"kind": "file", "file": file, **_known(metadata=metadata)}


def part_in(part: Mapping[str, Any]) -> Json:
    """Return a part in 1.0. A part of no known form becomes a data part of the whole part."""
    metadata = dict(_object(part.get("metadata")))
    match part_kind(part):
        case "text" if "text" in part:
            return {"text": part["text"], **_known(metadata=metadata)}
        case "data" if isinstance(data := part.get("data"), Mapping):
            if metadata.pop(COMPAT, False) and "value" in data:
                data = data["value"]
            return {"data": data, **_known(metadata=metadata)}
        case "file" if file := _object(part.get("file")):
            name = "raw" if file.get("bytes") is not None else "url"
            content = {name: file.get("bytes") if name == "raw" else file.get("uri")}
            beside = _known(mediaType=file.get("mimeType"), filename=file.get("name"), metadata=metadata)
            return content | beside
    return {"data": dict(part)}


def part_kind(part: Mapping[str, Any]) -> object:
    """Return the kind of a part in 0.3: as it says, else by the member that it has; None for no known member."""
    kind = part.get("kind")
    return kind if kind is not None else next((name for name in ("text", "file", "data") if name in part), None)


def message_out(message: Mapping[str, Any]) -> Json:
    role = _ROLE_OUT.get(str(message.get("role")), "agent")
    parts = [part_out(part) for part in _objects(message.get("parts"))]
    return {**_known(**message), "kind": "message", "role": role, "parts": parts}


def message_in(message: Mapping[str, Any]) -> Json:
    role = message.get("role")
    parts = [part_in(part) for part in _objects(message.get("parts"))]
    return {**_without_kind(message), "role": ROLE_IN.get(str(role), role), "parts": parts}


def artifact_out(artifact: Mapping[str, Any]) -> Json:
    return {**_known(**artifact), "parts": [part_out(part) for part in _objects(artifact.get("parts"))]}


def artifact_in(artifact: Mapping[str, Any]) -> Json:
    return {**_known(**artifact), "parts": [part_in(part) for part in _objects(artifact.get("parts"))]}


def task_out(task: Mapping[str, Any]) -> Json:
    history = [message_out(message) for message in _objects(task.get("history"))]
    artifacts = [artifact_out(artifact) for artifact in _objects(task.get("artifacts"))]
    status = _status_out(_object(task.get("status")))
    return {**_known(**task), "kind": "task", "status": status, **_listed(history=history, artifacts=artifacts)}


def task_in(task: Mapping[str, Any]) -> Json:
    history = [message_in(message) for message in _objects(task.get("history"))]
    artifacts = [artifact_in(artifact) for artifact in _objects(task.get("artifacts"))]
    status = _status_in(_object(task.get("status")))
    return {**_without_kind(task), "status": status, **_listed(history=history, artifacts=artifacts)}


def event_out(response: Mapping[str, Any], *, ends_stream: bool = False) -> Json:
    """Return a ``StreamResponse``, or the answer to a message, as the bare object of 0.3 with its kind.

    A status update is final if its state is, or if ``ends_stream``: the stream ends with it.
    """
    [(name, event)] = response.items()
    if name == "task":
        return task_out(event)
    if name == "message":
        return message_out(event)
    if name == "artifactUpdate":
        return {**_known(**event), "kind": _KINDS[name], "artifact": artifact_out(_object(event.get("artifact")))}
    status = _status_out(_object(event.get("status")))
    final = ends_stream or status["state"] in _FINAL
    return {**_known(**event), "kind": _KINDS[name], "status": status, "final": final}


def event_in(event: Mapping[str, Any]) -> Json:
    """Return an event or an answer of 0.3 as a ``StreamResponse``. Raises `ValueError` for another object."""
    match _kind_of_event(event):
        case "task":
            return {"task": task_in(event)}
        case "message":
            return {"message": message_in(event)}
        case "artifact-update" if isinstance(artifact := event.get("artifact"), Mapping):
            return {"artifactUpdate": {**_without_kind(event), "artifact": artifact_in(artifact)}}
        case "status-update" if isinstance(status := event.get("status"), Mapping):
            update = {key: value for key, value in _without_kind(event).items() if key != "final"}
            return {"statusUpdate": {**update, "status": _status_in(status)}}
    raise ValueError("must be a task, a message, a status-update or an artifact-update")


def push_config_out(config: Mapping[str, Any]) -> Json:
    """Return the receiver of a task in the nested form of 0.3."""
    return {**_known(taskId=config.get("taskId")), "pushNotificationConfig": receiver_out(config)}


def receiver_out(config: Mapping[str, Any]) -> Json:
    """Return the receiver alone, without its task."""
    inner = _known(**{key: config.get(key) for key in ("id", "url", "token")})
    if authentication := _object(config.get("authentication")):
        schemes = [authentication["scheme"]] if authentication.get("scheme") else []
        inner["authentication"] = {"schemes": schemes, **_known(credentials=authentication.get("credentials"))}
    return inner


def push_config_in(nested: Mapping[str, Any]) -> Json:
    """Return the receiver of a task in the flat form of 1.0."""
    return _known(taskId=nested.get("taskId")) | receiver_in(_object(nested.get("pushNotificationConfig")))


def receiver_in(inner: Mapping[str, Any]) -> Json:
    """Return a receiver without its task. Of several schemes the first counts."""
    authentication = _object(inner.get("authentication"))
    schemes = authentication.get("schemes")
    first = schemes[0] if isinstance(schemes, list) and schemes else None
    credentials = _known(scheme=first, credentials=authentication.get("credentials"))
    return _known(**{key: inner.get(key) for key in ("id", "url", "token")}, authentication=credentials)


def error_out(error: Mapping[str, Any]) -> Json:
    """Return a JSON-RPC error with a code that 0.3 knows."""
    return {**error, "code": _INTERNAL_ERROR if error["code"] in _NEW_CODES else error["code"]}


def _kind_of_event(event: Mapping[str, Any]) -> object:
    """Return the kind of an event in 0.3: as it says, else by the members that it has."""
    if (kind := event.get("kind")) is not None:
        return kind
    if "artifact" in event:
        return "artifact-update"
    if "status" in event:
        return "task" if "id" in event else "status-update"
    return "message" if "parts" in event else None


def _status_out(status: Mapping[str, Any]) -> Json:
    state = _STATE_OUT.get(str(status.get("state")), "unknown")
    message = message_out(carried) if (carried := _object(status.get("message"))) else None
    return {**_known(**status), "state": state, **_known(message=message)}


def _status_in(status: Mapping[str, Any]) -> Json:
    state = _STATE_IN.get(str(status.get("state")), "TASK_STATE_UNSPECIFIED")
    message = message_in(carried) if (carried := _object(status.get("message"))) else None
    return {**_known(**status), "state": state, **_known(message=message)}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of an array, none of another value."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _listed(**lists: list[Json]) -> Json:
    return {name: items for name, items in lists.items() if items}


def _known(**members: object) -> Json:
    """Return the members that are there: None, empty objects and empty text are not."""
    return {name: value for name, value in members.items() if value is not None and value not in ({}, "")}


def _without_kind(members: Mapping[str, Any]) -> Json:
    return {name: value for name, value in _known(**members).items() if name != "kind"}

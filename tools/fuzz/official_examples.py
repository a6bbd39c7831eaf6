"""Valid documents of the official protocol, from which the mutations start."""

from collections.abc import Mapping, Sequence
from typing import Any

from tools.fuzz.examples import ID

_PARTS: Sequence[Any] = (
    {"text": "# a", "mediaType": "text/markdown", "filename": "a.md", "metadata": {"k": [1, None]}},
    {"data": {"a": [1, 2.5]}},
    {"raw": "aGk", "mediaType": "image/png"},
    {"url": "https://example.org/a", "filename": "a.csv"},
)
MESSAGE = {
    "messageId": "m-1",
    "role": "ROLE_USER",
    "parts": list(_PARTS),
    "contextId": "talk",
    "metadata": {"a2a-hub": {"depth": 1}},
    "extensions": ["urn:x"],
    "referenceTaskIds": [ID],
}
RECEIVER = {
    "url": "https://example.org/hook",
    "id": "mine",
    "token": "t0ken",
    "authentication": {"scheme": "Bearer", "credentials": "s3cret"},
}
_SEND = {
    "message": MESSAGE,
    "configuration": {
        "acceptedOutputModes": ["text/plain"],
        "historyLength": "2",
        "returnImmediately": True,
        "taskPushNotificationConfig": RECEIVER,
        "ifGenerationMatch": 3,
    },
    "metadata": {"trace": 1},
    "tenant": "bob",
}
# Params of each method of 1.0, then of 0.3.
CALLS: Mapping[str, Sequence[Any]] = {
    "SendMessage": [_SEND, {"message": {"message_id": "m", "role": 1, "parts": [{"text": "do it"}], "taskId": ID}}],
    "SendStreamingMessage": [_SEND],
    "GetTask": [{"id": ID, "historyLength": 0}, {"id": ID, "currentGeneration": "4"}],
    "ListTasks": [
        {"contextId": "talk", "status": "TASK_STATE_WORKING", "pageSize": 3, "includeArtifacts": "true"},
        {"statusTimestampAfter": "2026-01-31T12:00:00.123456789+02:00", "status": 3, "pageToken": "x"},
    ],
    "CancelTask": [{"id": ID, "metadata": {"why": "late"}}],
    "SubscribeToTask": [{"id": ID}],
    "CreateTaskPushNotificationConfig": [{"taskId": ID, **RECEIVER}],
    "GetTaskPushNotificationConfig": [{"taskId": ID, "id": "mine"}],
    "ListTaskPushNotificationConfigs": [{"taskId": ID, "pageSize": 0, "pageToken": "x"}],
    "DeleteTaskPushNotificationConfig": [{"task_id": ID, "id": "mine"}],
    "GetExtendedAgentCard": [{"tenant": "bob"}],
}
OLD_MESSAGE = {
    "kind": "message",
    "messageId": "m-1",
    "role": "user",
    "parts": [
        {"kind": "text", "text": "do it"},
        {"kind": "data", "data": {"value": 1}, "metadata": {"data_part_compat": True}},
        {"kind": "file", "file": {"bytes": "aGk=", "mimeType": "image/png", "name": "a.png"}},
    ],
    "metadata": {"k": 1},
}
_OLD_RECEIVER = {"url": "https://example.org/hook", "authentication": {"schemes": ["Bearer"], "credentials": "c"}}
_OLD_SEND = {
    "message": OLD_MESSAGE,
    "configuration": {"blocking": False, "historyLength": 0, "pushNotificationConfig": _OLD_RECEIVER},
}
_OF_CONFIGS = "tasks/pushNotificationConfig/"
OLD_CALLS: Mapping[str, Sequence[Any]] = {
    "message/send": [_OLD_SEND],
    "message/stream": [_OLD_SEND],
    "tasks/get": [{"id": ID, "historyLength": 2}],
    "tasks/cancel": [{"id": ID}],
    "tasks/resubscribe": [{"id": ID}],
    f"{_OF_CONFIGS}set": [{"taskId": ID, "pushNotificationConfig": _OLD_RECEIVER}],
    f"{_OF_CONFIGS}get": [{"id": ID, "pushNotificationConfigId": "mine"}, {"id": ID}],
    f"{_OF_CONFIGS}list": [{"id": ID}],
    f"{_OF_CONFIGS}delete": [{"id": ID, "pushNotificationConfigId": "mine"}],
    "agent/getAuthenticatedExtendedCard": [{}],
}
ENVELOPES: Sequence[Any] = [
    {"jsonrpc": "2.0", "id": number, "method": method, "params": params[0]}
    for number, (method, params) in enumerate({**CALLS, **OLD_CALLS}.items())
]
PROFILE: Mapping[str, Any] = {
    "name": "Zoë",
    "display": "zoe@local",
    "description": "Reads books",
    "inputModes": ["text/plain", "image/*"],
    "outputModes": ["application/json"],
    "cardVersion": "7.1",
    "documentationUrl": "https://docs.example/zoe",
    "iconUrl": "https://docs.example/zoe.png",
    "streaming": False,
    "pushNotifications": True,
    "extendedCard": True,
    "cardFor03": False,
    "extensions": [{"uri": "urn:example:trace", "description": "d", "required": True, "params": {"depth": 3}}],
    "extendedTools": ["read"],
    "cardUrl": "https://agent.example/card.json",
}
# Cards of agents elsewhere.
_SCHEMES = {"k": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}}, "b": {"type": "http"}}
CARDS: Sequence[Any] = (
    {
        "name": "Offie",
        "version": "1",
        "supportedInterfaces": [
            {"url": "https://agent.example/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
            {"url": "https://agent.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "é"},
        ],
        "capabilities": {"streaming": True, "extensions": [{"uri": "urn:a2a-hub:generation:v1"}]},
        "securitySchemes": _SCHEMES,
    },
    {
        "name": "Offie",
        "version": "1",
        "supportedInterfaces": [
            {"url": "https://a.example/r", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.1", "tenant": "a/b"}
        ],
    },
    {
        "name": "Older",
        "version": "1",
        "protocolVersion": "0.3.0",
        "url": "https://agent.example/a2a",
        "preferredTransport": "JSONRPC",
        "additionalInterfaces": [{"url": "https://agent.example/other", "transport": "JSONRPC"}],
        "securitySchemes": {"k": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    },
)
_SAID = {"messageId": "r-1", "role": "ROLE_AGENT", "parts": list(_PARTS), "metadata": {"progress": 0.5, "a": 1}}
_STATUS = {"state": "TASK_STATE_WORKING", "message": _SAID, "timestamp": "2026-11-21T03:53:47.670Z"}
_DONE = {"state": "TASK_STATE_COMPLETED", "message": {**_SAID, "messageId": "r-2"}}
_ASKED = {"state": "TASK_STATE_AUTH_REQUIRED", "timestamp": "2026-11-21T03:53:48Z"}
_MADE = {"artifactId": "out", "name": "Out", "parts": list(_PARTS), "metadata": {"m": 1}, "extensions": ["urn:x"]}
REMOTE_TASK = {"id": "t", "contextId": "c", "status": _STATUS, "history": [_SAID], "artifacts": [_MADE]}
_IDS = {"taskId": "t", "contextId": "c"}
# The events of a stream, in 1.0.
EVENTS: Sequence[Any] = (
    {"task": REMOTE_TASK},
    {"message": _SAID},
    {"artifactUpdate": {**_IDS, "artifact": _MADE, "append": True, "lastChunk": True}},
    *({"statusUpdate": {**_IDS, "status": status}} for status in (_STATUS, _ASKED, _DONE)),
    {"statusUpdate": {**_IDS, "status": _DONE, "metadata": {"a2a-hub": {"outcome": "partial"}}}},
)

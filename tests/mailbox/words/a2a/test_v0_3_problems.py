from typing import Any

import pytest

from mailbox.dialects.a2a import requests
from mailbox.dialects.base.view import parse
from mailbox.words.a2a.v0_3_requests import METHODS, OldRequest
from mailbox.words.errors import InvalidRequestError
from tests.mailbox.words.a2a.test_v0_3 import OLD_MESSAGE
from tests.mailbox.words.a2a.test_v0_3_requests import PUSH, REQUESTS

pytestmark = pytest.mark.one_database

SHAPES: dict[str, Any] = {
    "SendMessage": requests.SendMessageRequest,
    "SendStreamingMessage": requests.SendMessageRequest,
    "GetTask": requests.GetTaskRequest,
    "CancelTask": requests.CancelTaskRequest,
    "SubscribeToTask": requests.SubscribeToTaskRequest,
    "CreateTaskPushNotificationConfig": requests.CreatePushConfigRequest,
    "GetTaskPushNotificationConfig": requests.GetPushConfigRequest,
    "ListTaskPushNotificationConfigs": requests.ListPushConfigsRequest,
    "DeleteTaskPushNotificationConfig": requests.DeletePushConfigRequest,
    "GetExtendedAgentCard": requests.GetExtendedAgentCardRequest,
}


def problems(wanted: str, params: object) -> dict[str, str]:
    """Return the problems of a request of 0.3, found in its translation or by the shape of 1.0."""
    try:
        request = OldRequest.read(wanted, params)
    except InvalidRequestError as refusal:
        return refusal.fields
    with pytest.raises(InvalidRequestError) as found:
        parse(SHAPES[request.method], request.params)
    return request.problem(found.value).fields


@pytest.mark.parametrize(
    ("wanted", "params", "expected"),
    [
        ("message/send", [], {"params": "must be a JSON object"}),
        ("message/send", None, {"message": "is required"}),
        ("message/send", {"message": "hi"}, {"message": "must be a JSON object"}),
        ("message/send", {"message": {}}, {"message.role": "is required", "message.parts": "is required"}),
        ("message/send", {"message": OLD_MESSAGE | {"role": "ROLE_USER"}}, {"message.role": "must be user or agent"}),
        ("message/send", {"message": OLD_MESSAGE | {"parts": "hi"}}, {"message.parts": "must be a JSON array"}),
        ("message/send", {"message": OLD_MESSAGE | {"parts": []}}, {"message.parts": "must have at least 1 entries"}),
        ("message/send", {"message": OLD_MESSAGE | {"messageId": None}}, {"message.messageId": "is required"}),
        ("message/send", {"message": OLD_MESSAGE | {"contextId": " "}}, {"message.contextId": "must not be blank"}),
        ("tasks/get", {}, {"id": "is required"}),
        ("tasks/get", {"id": 5, "historyLength": -1}, {"id": "must be text", "historyLength": "must be at least 0"}),
        ("tasks/get", {"id": "t", "historyLength": False}, {"historyLength": "must be a whole number"}),
        (f"{PUSH}set", {"taskId": "t"}, {"pushNotificationConfig": "is required"}),
        (f"{PUSH}set", {"pushNotificationConfig": {"url": "u"}}, {"taskId": "is required"}),
        (
            f"{PUSH}set",
            {"taskId": "t", "pushNotificationConfig": 5},
            {"pushNotificationConfig": "must be a JSON object"},
        ),
        (
            f"{PUSH}set",
            {"taskId": "t", "pushNotificationConfig": {"id": 5, "authentication": {"credentials": "c"}}},
            {
                "pushNotificationConfig.id": "must be text",
                "pushNotificationConfig.url": "is required",
                "pushNotificationConfig.authentication.schemes": "is required",
            },
        ),
        (f"{PUSH}get", {"pushNotificationConfigId": "p"}, {"id": "is required"}),
        (f"{PUSH}get", {}, {"id": "is required"}),
        (f"{PUSH}get", {"id": "t", "pushNotificationConfigId": 5}, {"pushNotificationConfigId": "must be text"}),
        (f"{PUSH}list", {}, {"id": "is required"}),
        (f"{PUSH}delete", {"id": "t"}, {"pushNotificationConfigId": "is required"}),
    ],
)
def test_malformed_parameters_are_named_by_their_paths_in_0_3(wanted, params, expected):
    assert problems(wanted, params) == expected


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (5, {"": "must be a JSON object"}),
        ({}, {".kind": "must be text, file or data"}),
        ({"kind": "video"}, {".kind": "must be text, file or data"}),
        ({"kind": "text"}, {".text": "is required"}),
        ({"kind": "text", "text": 5}, {".text": "must be text"}),
        ({"kind": "text", "text": "a", "metadata": 5}, {".metadata": "must be a JSON object"}),
        ({"kind": "data", "data": [1]}, {".data": "must be a JSON object"}),
        ({"kind": "file"}, {".file": "is required"}),
        ({"kind": "file", "file": "f"}, {".file": "must be a JSON object"}),
        ({"kind": "file", "file": {}}, {".file": "must have either bytes or uri"}),
        ({"kind": "file", "file": {"bytes": "", "uri": ""}}, {".file": "must have either bytes or uri"}),
        ({"kind": "file", "file": {"bytes": "!"}}, {".file.bytes": "must be base64"}),
        ({"kind": "file", "file": {"uri": 5}}, {".file.uri": "must be text"}),
        (
            {"kind": "file", "file": {"bytes": "", "mimeType": 5, "name": 6}},
            {".file.mimeType": "must be text", ".file.name": "must be text"},
        ),
    ],
)
def test_a_malformed_part_is_named_by_its_path_in_0_3(part, expected):
    params = {"message": OLD_MESSAGE | {"parts": [{"kind": "text", "text": "a"}, part]}}

    assert problems("message/stream", params) == {f"message.parts.1{path}": text for path, text in expected.items()}


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ("c", {"": "must be a JSON object"}),
        ({"blocking": 0}, {".blocking": "must be true or false"}),
        ({"historyLength": -1}, {".historyLength": "must be at least 0"}),
        ({"acceptedOutputModes": "x"}, {".acceptedOutputModes": "must be a JSON array"}),
        ({"pushNotificationConfig": "x"}, {".pushNotificationConfig": "must be a JSON object"}),
        ({"pushNotificationConfig": {"id": "p"}}, {".pushNotificationConfig.url": "is required"}),
        (
            {"pushNotificationConfig": {"url": "u", "authentication": 5}},
            {".pushNotificationConfig.authentication": "must be a JSON object"},
        ),
        (
            {"pushNotificationConfig": {"url": "u", "authentication": {"schemes": "Bearer"}}},
            {".pushNotificationConfig.authentication.schemes": "must be a JSON array"},
        ),
        (
            {"pushNotificationConfig": {"url": "u", "authentication": {"schemes": [5]}}},
            {".pushNotificationConfig.authentication.schemes": "must be text"},
        ),
    ],
)
def test_a_malformed_configuration_is_named_by_its_path_in_0_3(configuration, expected):
    params = {"message": OLD_MESSAGE, "configuration": configuration}

    assert problems("message/send", params) == {f"configuration{path}": text for path, text in expected.items()}


@pytest.mark.parametrize(("wanted", "params"), [(wanted, params) for wanted, params, *_ in REQUESTS])
def test_a_translated_request_has_the_shape_of_1_0(wanted, params):
    request = OldRequest.read(wanted, params)

    assert SHAPES.keys() == set(METHODS.values())
    parse(SHAPES[request.method], request.params)

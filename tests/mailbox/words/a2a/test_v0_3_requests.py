"""The methods of 0.3 as data. The samples of 0.3 are valid by the types of the official Python SDK 0.3.26."""

from typing import Any

import pytest

from mailbox.words.a2a.v0_3_requests import METHODS, OldRequest
from mailbox.words.errors import InvalidRequestError, UnknownTaskError
from tests.mailbox.words.a2a.test_v0_3 import (
    ARTIFACT,
    CONFIGS,
    IDS,
    MESSAGE,
    OLD_MESSAGE,
    OLD_QUESTION,
    OLD_TASK,
    QUESTION,
    TASK,
)

pytestmark = pytest.mark.one_database

CONFIG, OLD_CONFIG = CONFIGS[1]
OLD_RECEIVER = OLD_CONFIG["pushNotificationConfig"]
RECEIVER = {key: value for key, value in CONFIG.items() if key != "taskId"}
PUSH = "tasks/pushNotificationConfig/"
SENT = {
    "message": OLD_MESSAGE,
    "configuration": {
        "acceptedOutputModes": ["text/plain"],
        "blocking": False,
        "historyLength": 3,
        "pushNotificationConfig": OLD_RECEIVER,
    },
    "metadata": {"r": 1},
}
NEW_SENT = {
    "message": MESSAGE,
    "configuration": {
        "acceptedOutputModes": ["text/plain"],
        "returnImmediately": True,
        "historyLength": 3,
        "taskPushNotificationConfig": RECEIVER,
    },
    "metadata": {"r": 1},
}
REQUESTS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("message/send", SENT, "SendMessage", NEW_SENT),
    ("message/stream", SENT, "SendStreamingMessage", NEW_SENT),
    ("tasks/get", {"id": "t", "historyLength": 2}, "GetTask", {"id": "t", "historyLength": 2}),
    ("tasks/cancel", {"id": "t", "metadata": {"k": 1}}, "CancelTask", {"id": "t", "metadata": {"k": 1}}),
    ("tasks/resubscribe", {"id": "t"}, "SubscribeToTask", {"id": "t"}),
    (f"{PUSH}set", OLD_CONFIG, "CreateTaskPushNotificationConfig", CONFIG),
    (
        f"{PUSH}get",
        {"id": "t", "pushNotificationConfigId": "p"},
        "GetTaskPushNotificationConfig",
        {"taskId": "t", "id": "p"},
    ),
    (f"{PUSH}list", {"id": "t"}, "ListTaskPushNotificationConfigs", {"taskId": "t"}),
    (
        f"{PUSH}delete",
        {"id": "t", "pushNotificationConfigId": "p"},
        "DeleteTaskPushNotificationConfig",
        {"taskId": "t", "id": "p"},
    ),
    ("agent/getAuthenticatedExtendedCard", {}, "GetExtendedAgentCard", {}),
]


@pytest.mark.parametrize(("old_method", "old", "method", "new"), REQUESTS)
def test_a_request_is_translated(old_method, old, method, new):
    request = OldRequest.read(old_method, old)

    assert (request.method, request.params) == (method, new)


def test_every_method_of_0_3_is_translated():
    assert {old_method for old_method, *_ in REQUESTS} == METHODS.keys()


@pytest.mark.parametrize(
    ("configuration", "new"),
    [
        (None, {}),
        ({}, {}),
        ({"blocking": True}, {}),
        ({"blocking": None, "historyLength": None, "pushNotificationConfig": None}, {}),
        ({"blocking": False}, {"returnImmediately": True}),
        ({"historyLength": 0}, {}),
    ],
)
def test_a_send_waits_unless_it_is_not_blocking_and_a_history_of_0_is_all(configuration, new):
    params = {"message": OLD_MESSAGE, "configuration": configuration}

    assert OldRequest.read("message/send", params).params == {"message": MESSAGE, "configuration": new}


def test_a_history_of_0_is_all_for_a_read_too():
    assert OldRequest.read("tasks/get", {"id": "t", "historyLength": 0}).params == {"id": "t"}


CARD = {"name": "bob"}
ANSWERS: list[tuple[str, Any, Any]] = [
    ("message/send", {"task": TASK}, OLD_TASK),
    ("message/send", {"message": QUESTION}, OLD_QUESTION),
    ("tasks/get", TASK, OLD_TASK),
    ("tasks/cancel", TASK, OLD_TASK),
    (f"{PUSH}set", CONFIG, OLD_CONFIG),
    (f"{PUSH}get", CONFIG, OLD_CONFIG),
    (f"{PUSH}list", {"configs": [CONFIG], "nextPageToken": ""}, [OLD_CONFIG]),
    (f"{PUSH}list", {"configs": [], "nextPageToken": ""}, []),
    (f"{PUSH}delete", None, None),
    ("agent/getAuthenticatedExtendedCard", CARD, CARD),
]


@pytest.mark.parametrize(("wanted", "new", "old"), ANSWERS)
def test_an_answer_is_translated(wanted, new, old):
    params = next(params for method, params, *_ in REQUESTS if method == wanted)

    assert OldRequest.read(wanted, params).answer(new) == old


def test_the_only_receiver_of_a_task_is_read_without_its_id():
    request = OldRequest.read(f"{PUSH}get", {"id": "t"})

    assert (request.method, request.params) == ("ListTaskPushNotificationConfigs", {"taskId": "t"})
    assert request.answer({"configs": [CONFIG]}) == OLD_CONFIG
    with pytest.raises(UnknownTaskError):
        request.answer({"configs": []})
    with pytest.raises(InvalidRequestError) as refusal:
        request.answer({"configs": [CONFIG, CONFIG]})
    assert refusal.value.fields.keys() == {"pushNotificationConfigId"}


@pytest.mark.parametrize(
    ("wanted", "state", "final"),
    [
        ("message/stream", "TASK_STATE_WORKING", False),
        ("message/stream", "TASK_STATE_INPUT_REQUIRED", True),
        ("message/stream", "TASK_STATE_AUTH_REQUIRED", True),
        ("message/stream", "TASK_STATE_COMPLETED", True),
        ("tasks/resubscribe", "TASK_STATE_INPUT_REQUIRED", False),
        ("tasks/resubscribe", "TASK_STATE_FAILED", True),
    ],
)
def test_the_event_that_ends_its_stream_is_final(wanted, state, final):
    params = {"id": "t", "message": OLD_MESSAGE}

    event = OldRequest.read(wanted, params).event({"statusUpdate": IDS | {"status": {"state": state}}})

    assert event["final"] is final


def test_an_artifact_s_event_ends_no_stream():
    request = OldRequest.read("message/stream", {"message": OLD_MESSAGE})

    assert request.event({"artifactUpdate": IDS | {"artifact": ARTIFACT}})["kind"] == "artifact-update"

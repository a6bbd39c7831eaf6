"""The table of 0.3 as data. The samples of 0.3 are valid by the types of the official Python SDK 0.3.26."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailbox.words import json_text
from mailbox.words.a2a import v0_3
from mailbox.words.a2a.parts import parts_of
from tests.mailbox.words.a2a.test_parts import any_parts, mcp_blocks

pytestmark = pytest.mark.one_database

META = {"k": [1, None]}
PARTS = [
    ({"text": "hi"}, {"kind": "text", "text": "hi"}),
    ({"text": ""}, {"kind": "text", "text": ""}),
    ({"text": "hi", "metadata": META}, {"kind": "text", "text": "hi", "metadata": META}),
    ({"data": {"a": 1}}, {"kind": "data", "data": {"a": 1}}),
    ({"data": {}, "metadata": META}, {"kind": "data", "data": {}, "metadata": META}),
    ({"data": [1]}, {"kind": "data", "data": {"value": [1]}, "metadata": {"data_part_compat": True}}),
    ({"data": None}, {"kind": "data", "data": {"value": None}, "metadata": {"data_part_compat": True}}),
    (
        {"data": 5, "metadata": META},
        {"kind": "data", "data": {"value": 5}, "metadata": META | {"data_part_compat": True}},
    ),
    ({"raw": "aGk="}, {"kind": "file", "file": {"bytes": "aGk="}}),
    ({"raw": ""}, {"kind": "file", "file": {"bytes": ""}}),
    (
        {"raw": "aGk=", "mediaType": "image/png", "filename": "a.png", "metadata": META},
        {"kind": "file", "file": {"bytes": "aGk=", "mimeType": "image/png", "name": "a.png"}, "metadata": META},
    ),
    (
        {"url": "https://x/a", "mediaType": "text/csv", "filename": "a.csv"},
        {"kind": "file", "file": {"uri": "https://x/a", "mimeType": "text/csv", "name": "a.csv"}},
    ),
]
STATES = [
    ("TASK_STATE_SUBMITTED", "submitted"),
    ("TASK_STATE_WORKING", "working"),
    ("TASK_STATE_INPUT_REQUIRED", "input-required"),
    ("TASK_STATE_AUTH_REQUIRED", "auth-required"),
    ("TASK_STATE_COMPLETED", "completed"),
    ("TASK_STATE_FAILED", "failed"),
    ("TASK_STATE_CANCELED", "canceled"),
    ("TASK_STATE_REJECTED", "rejected"),
    ("TASK_STATE_UNSPECIFIED", "unknown"),
]
IDS = {"contextId": "c", "taskId": "t"}
EXTRA = {"metadata": META, "extensions": ["urn:x"], "referenceTaskIds": ["r"]}
QUESTION = {"messageId": "m1", **IDS, "role": "ROLE_AGENT", "parts": [{"text": "which one?"}]}
OLD_QUESTION = {
    "kind": "message",
    "messageId": "m1",
    **IDS,
    "role": "agent",
    "parts": [{"kind": "text", "text": "which one?"}],
}
MESSAGE = {"messageId": "m0", **IDS, "role": "ROLE_USER", "parts": [{"text": "hi"}, {"data": 1}], **EXTRA}
OLD_MESSAGE = {
    "kind": "message",
    "messageId": "m0",
    **IDS,
    "role": "user",
    "parts": [
        {"kind": "text", "text": "hi"},
        {"kind": "data", "data": {"value": 1}, "metadata": {"data_part_compat": True}},
    ],
    **EXTRA,
}
ARTIFACT = {"artifactId": "out", "name": "out", "description": "d", "parts": [{"raw": "aGk="}], "metadata": META}
OLD_ARTIFACT = ARTIFACT | {"parts": [{"kind": "file", "file": {"bytes": "aGk="}}]}
STATUS = {"state": "TASK_STATE_INPUT_REQUIRED", "message": QUESTION, "timestamp": "2026-11-21T03:53:47.670Z"}
OLD_STATUS = STATUS | {"state": "input-required", "message": OLD_QUESTION}
TASK = {"id": "t", "contextId": "c", "status": STATUS, "history": [MESSAGE], "artifacts": [ARTIFACT], "metadata": META}
OLD_TASK = TASK | {"kind": "task", "status": OLD_STATUS, "history": [OLD_MESSAGE], "artifacts": [OLD_ARTIFACT]}
WORKING = {"state": "TASK_STATE_WORKING", "timestamp": "2026-11-21T03:53:47.670Z"}
EVENTS = [
    ({"task": TASK}, OLD_TASK),
    (
        {"task": {"id": "t", "contextId": "c", "status": WORKING}},
        {"kind": "task", "id": "t", "contextId": "c", "status": WORKING | {"state": "working"}},
    ),
    ({"message": QUESTION}, OLD_QUESTION),
    (
        {"statusUpdate": IDS | {"status": WORKING, "metadata": META}},
        {"kind": "status-update", **IDS, "status": WORKING | {"state": "working"}, "final": False, "metadata": META},
    ),
    (
        {"statusUpdate": IDS | {"status": STATUS}},
        {"kind": "status-update", **IDS, "status": OLD_STATUS, "final": False},
    ),
    (
        {"artifactUpdate": IDS | {"artifact": ARTIFACT, "append": True, "lastChunk": True, "metadata": META}},
        {
            "kind": "artifact-update",
            **IDS,
            "artifact": OLD_ARTIFACT,
            "append": True,
            "lastChunk": True,
            "metadata": META,
        },
    ),
]


@pytest.mark.parametrize(("new", "old"), PARTS)
def test_a_part_is_translated_both_ways(new, old):
    assert v0_3.part_out(new) == old
    assert v0_3.part_in(old) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"text": "no kind"}, {"text": "no kind"}),
        ({"file": {"uri": "https://x", "name": None}, "metadata": None}, {"url": "https://x"}),
        (
            {"kind": "data", "data": {"other": 1}, "metadata": {"data_part_compat": True}},
            {"data": {"other": 1}},
        ),
        (
            {"kind": "data", "data": {"value": 1}, "metadata": {"data_part_compat": False}},
            {"data": {"value": 1}},
        ),
        ({"kind": "video", "video": 1}, {"data": {"kind": "video", "video": 1}}),
        ({"kind": "file", "file": "f"}, {"data": {"kind": "file", "file": "f"}}),
        ({"kind": ["text"]}, {"data": {"kind": ["text"]}}),
    ],
)
def test_an_unusual_part_of_0_3_is_read(old, new):
    assert v0_3.part_in(old) == new


@pytest.mark.parametrize(("new", "old"), STATES)
def test_a_state_is_translated_both_ways(new, old):
    [(name, update)] = v0_3.event_in({"kind": "status-update", **IDS, "status": {"state": old}, "final": True}).items()

    assert (name, update) == ("statusUpdate", IDS | {"status": {"state": new}})
    assert v0_3.event_out({"statusUpdate": IDS | {"status": {"state": new}}})["status"] == {"state": old}


@pytest.mark.parametrize(("new", "old"), EVENTS)
def test_an_event_is_translated_both_ways(new, old):
    assert v0_3.event_out(new) == old
    assert v0_3.event_in(old) == new
    assert v0_3.event_in({key: value for key, value in old.items() if key != "kind"}) == new


@pytest.mark.parametrize(
    ("state", "ends_stream", "final"),
    [
        *((state, False, state[11:] in ("COMPLETED", "FAILED", "CANCELED", "REJECTED")) for state, _ in STATES),
        ("TASK_STATE_INPUT_REQUIRED", True, True),
    ],
)
def test_a_status_update_is_final_with_a_terminal_state_or_at_the_end_of_the_stream(state, ends_stream, final):
    event = {"statusUpdate": IDS | {"status": {"state": state}}}

    assert v0_3.event_out(event, ends_stream=ends_stream)["final"] is final


def test_a_whole_task_is_translated_alone_as_a_notification_shows_it():
    assert v0_3.task_out(TASK) == OLD_TASK
    assert v0_3.task_in(OLD_TASK) == TASK


@pytest.mark.parametrize("event", [{}, {"kind": "task-update"}, {"kind": "status-update"}, {"kind": 5}])
def test_another_object_is_no_event(event):
    with pytest.raises(ValueError, match="must be a task"):
        v0_3.event_in(event)


@pytest.mark.parametrize(
    "task",
    [
        {},
        {"status": 5, "history": "h", "artifacts": {}},
        {"status": {"state": [], "message": 5}, "history": [None, {}], "artifacts": [{"parts": [5]}]},
    ],
)
def test_a_malformed_task_of_a_remote_agent_breaks_nothing(task):
    assert v0_3.task_in({"kind": "task"} | task)["status"]["state"] == "TASK_STATE_UNSPECIFIED"


CONFIGS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"taskId": "t", "url": "https://x"}, {"taskId": "t", "pushNotificationConfig": {"url": "https://x"}}),
    (
        {
            "taskId": "t",
            "id": "p",
            "url": "https://x",
            "token": "k",
            "authentication": {"scheme": "Bearer", "credentials": "c"},
        },
        {
            "taskId": "t",
            "pushNotificationConfig": {
                "id": "p",
                "url": "https://x",
                "token": "k",
                "authentication": {"schemes": ["Bearer"], "credentials": "c"},
            },
        },
    ),
    (
        {"taskId": "t", "url": "https://x", "authentication": {"scheme": "Bearer"}},
        {"taskId": "t", "pushNotificationConfig": {"url": "https://x", "authentication": {"schemes": ["Bearer"]}}},
    ),
]


@pytest.mark.parametrize(("new", "old"), CONFIGS)
def test_a_receiver_is_nested_in_0_3(new, old):
    assert v0_3.push_config_out(new) == old
    assert v0_3.push_config_in(old) == new


@pytest.mark.parametrize(
    ("schemes", "authentication"),
    [
        (["Bearer", "Basic"], {"authentication": {"scheme": "Bearer"}}),
        ([], {}),
        (None, {}),
        ("Bearer", {}),
    ],
)
def test_the_first_of_several_schemes_counts(schemes, authentication):
    assert v0_3.receiver_in({"url": "u", "authentication": {"schemes": schemes}}) == {"url": "u"} | authentication


@pytest.mark.parametrize(
    ("code", "old"),
    [
        (-32000, -32603),
        (-32008, -32603),
        (-32009, -32603),
        *((code, code) for code in (-32700, -32600, -32601, -32602, -32603, *range(-32007, -32000))),
    ],
)
def test_an_error_has_a_code_that_0_3_knows(code, old):
    error = {"code": code, "message": "m", "data": [{"reason": "R"}]}

    assert v0_3.error_out(error) == error | {"code": old}


def _without_name(part: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key not in ("mediaType", "filename")}


@given(st.lists(any_parts, max_size=4))
def test_any_parts_come_back_but_for_the_media_type_of_text_and_data(parts):
    message = {"messageId": "m", "role": "ROLE_USER", "parts": parts}
    kept = [part if {"raw", "url"} & part.keys() else _without_name(part) for part in parts]

    assert json_text.same(v0_3.message_in(v0_3.message_out(message))["parts"], kept)


@given(mcp_blocks)
def test_each_valid_block_has_a_part_whose_fields_have_the_types_of_0_3(block):
    part = v0_3.part_out(*parts_of([block]))

    assert isinstance(part.pop("metadata", {}), dict)
    match part:
        case {"kind": "text", "text": str(), **rest} | {"kind": "data", "data": dict(), **rest}:
            assert rest == {}
        case {"kind": "file", "file": dict(file), **rest}:
            assert rest == {}
            assert len(file.keys() & {"bytes", "uri"}) == 1
            assert file.keys() <= {"bytes", "uri", "mimeType", "name"}
            assert all(isinstance(value, str) for value in file.values())
        case _:
            pytest.fail(f"no part of 0.3: {part}")

from datetime import UTC, datetime

import pytest

from mailbox.dialects.a2a.requests import (
    STATES,
    CancelTaskRequest,
    CreatePushConfigRequest,
    DeletePushConfigRequest,
    GetExtendedAgentCardRequest,
    GetPushConfigRequest,
    GetTaskRequest,
    ListPushConfigsRequest,
    ListTasksRequest,
    Params,
    SendMessageRequest,
    SubscribeToTaskRequest,
    generation,
)
from mailbox.dialects.base.view import parse
from mailbox.words.errors import InvalidRequestError

pytestmark = pytest.mark.one_database

MESSAGE = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}


def problems(shape: type[Params], value: object) -> dict[str, str]:
    with pytest.raises(InvalidRequestError) as refusal:
        parse(shape, value)
    return refusal.value.fields


@pytest.mark.parametrize(
    ("shape", "least"),
    [
        (SendMessageRequest, {"message": MESSAGE}),
        (GetTaskRequest, {"id": "no uuid"}),
        (ListTasksRequest, {}),
        (CancelTaskRequest, {"id": "x"}),
        (SubscribeToTaskRequest, {"id": "x"}),
        (CreatePushConfigRequest, {"taskId": "x", "url": "https://x"}),
        (GetPushConfigRequest, {"taskId": "x", "id": "y"}),
        (ListPushConfigsRequest, {"taskId": "x"}),
        (DeletePushConfigRequest, {"taskId": "x", "id": "y"}),
        (GetExtendedAgentCardRequest, {}),
    ],
)
def test_an_operation_needs_its_required_fields_alone(shape, least):
    nulls = {field.alias: None for field in shape.model_fields.values() if field.alias not in least}
    nothing = dict.fromkeys(nulls, "")

    read = parse(shape, least)

    assert read.tenant == ""
    assert parse(shape, least | {"unknown": 1, "another_one": {}}) == read
    assert parse(shape, nulls | least).model_dump() == read.model_dump()
    assert parse(shape, nothing | least).model_dump() == read.model_dump()
    for key in least:
        for missing in ({}, {key: None}, {key: ""}):
            given_fields = {name: value for name, value in least.items() if name != key} | missing
            assert problems(shape, given_fields) == {key: "is required"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"pageSize": 0}, {"pageSize": "must be at least 1"}),
        ({"pageSize": 101}, {"pageSize": "must be at most 100"}),
        ({"pageSize": "1.5"}, {"pageSize": "must be a whole number"}),
        ({"pageSize": True}, {"pageSize": "must be a whole number"}),
        ({"historyLength": "-1"}, {"historyLength": "must be at least 0"}),
        ({"historyLength": 2**31}, {"historyLength": "must be at most 2147483647"}),
        ({"includeArtifacts": "yes"}, {"includeArtifacts": "must be true or false"}),
        ({"contextId": "\x00"}, {"contextId": "contains a NUL character"}),
        ({"status": "TASK_STATE_RUNNING"}, {"status": f"must be one of {', '.join(STATES[1:])}"}),
        ({"status": "working"}, {"status": f"must be one of {', '.join(STATES[1:])}"}),
        ({"status": 9}, {"status": f"must be one of {', '.join(STATES[1:])}"}),
    ],
)
def test_a_problem_of_a_list_is_named(value, expected):
    assert problems(ListTasksRequest, value) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("now", "2026-01-31", "2026-01-31T12:00:00", "2026-02-30T12:00:00Z", "0001-01-01T00:00:00+14:00"),
        *("2026-01-31T12:00Z", "2026-01-31T25:00:00Z", 5, {}),
    ],
)
def test_a_time_has_an_offset(text: object) -> None:
    expected = {"statusTimestampAfter": "must be a time with an offset, such as 2026-01-31T12:00:00Z"}

    assert problems(ListTasksRequest, {"statusTimestampAfter": text}) == expected


@pytest.mark.parametrize(
    ("value", "name", "read"),
    [
        ({}, "page_size", 50),
        ({"pageSize": "100"}, "page_size", 100),
        ({"pageSize": 1.0}, "page_size", 1),
        ({"historyLength": "0"}, "history_length", 0),
        ({"includeArtifacts": "true"}, "include_artifacts", True),
        ({"includeArtifacts": "False"}, "include_artifacts", False),
        ({"status": "TASK_STATE_UNSPECIFIED"}, "status", None),
        ({"status": 0}, "status", None),
        ({"status": "2"}, "status", "TASK_STATE_WORKING"),
        ({"status": 8}, "status", "TASK_STATE_AUTH_REQUIRED"),
        ({"statusTimestampAfter": "2026-01-31t12:00:00z"}, "at", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        (
            {"statusTimestampAfter": "2026-01-31T12:00:00.123456789+05:30"},
            "at",
            datetime(2026, 1, 31, 6, 30, 0, 123456, UTC),
        ),
    ],
)
def test_a_list_reads_proto_json_and_query_strings(value, name, read):
    name = "status_timestamp_after" if name == "at" else name

    assert getattr(parse(ListTasksRequest, value), name) == read


@pytest.mark.parametrize("number", range(1, len(STATES)))
def test_a_state_is_read_by_name_and_by_number(number):
    for value in (STATES[number], number, str(number)):
        assert parse(ListTasksRequest, {"status": value}).status == STATES[number]


def test_a_page_of_receivers_has_a_usual_size_and_a_largest_size():
    sizes = {
        given_size: parse(ListPushConfigsRequest, {"taskId": "x", "pageSize": given_size}).page_size
        for given_size in (0, 1, 500)
    }

    assert sizes == {0: 50, 1: 1, 500: 100}
    assert problems(ListPushConfigsRequest, {"taskId": "x", "pageSize": -1}) == {"pageSize": "must be at least 0"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"id": "x" * 201}, {"id": "must have at most 200 characters"}),
        ({"url": "x" * 2001}, {"url": "must have at most 2000 characters"}),
        ({"token": "a\nb"}, {"token": "must be visible ASCII characters"}),
        ({"token": "é"}, {"token": "must be visible ASCII characters"}),
        ({"authentication": {"scheme": "a\rb"}}, {"authentication.scheme": "must be visible ASCII characters"}),
        ({"authentication": "Bearer"}, {"authentication": "must be a JSON object"}),
    ],
)
def test_what_goes_into_a_notification_is_checked(value, expected):
    assert problems(CreatePushConfigRequest, {"taskId": "x", "url": "https://x"} | value) == expected


@pytest.mark.parametrize(("value", "read"), [(None, None), (0, 0), ("5", 5), (2**63 - 1, 2**63 - 1)])
def test_a_generation_is_a_whole_number_of_64_bits(value, read):
    assert generation(value, "currentGeneration") == read


@pytest.mark.parametrize("value", [-1, 2**63, "x", True, {}])
def test_another_generation_is_refused_with_its_path(value):
    with pytest.raises(InvalidRequestError) as refusal:
        generation(value, "currentGeneration")

    assert refusal.value.fields.keys() == {"currentGeneration"}

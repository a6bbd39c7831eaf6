from uuid import UUID

import pytest
from hypothesis import given

from mailbox.dialects.a2a.requests import ROLES, SendMessageRequest
from mailbox.dialects.base.view import parse
from mailbox.words import json_text
from mailbox.words.a2a.fold import opening_of
from mailbox.words.a2a.parts import parts_of
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import InvalidRequestError
from tests.mailbox.words.a2a.test_parts import messages_parts

pytestmark = pytest.mark.one_database

BOB = AgentRef("bob@local")
TASK = "8d9d6a1e-1b0c-4a0e-8f0d-0d5d0c1f2a3b"
MESSAGE = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}


def problems(value: object) -> dict[str, str]:
    with pytest.raises(InvalidRequestError) as refusal:
        parse(SendMessageRequest, value)
    return refusal.value.fields


def sent(**changed: object) -> SendMessageRequest:
    return parse(SendMessageRequest, {"message": MESSAGE | changed})


def envelope(request: SendMessageRequest) -> TaskEnvelope:
    return request.envelope(BOB, task_id=UUID(TASK), context_id="c", extensions=["urn:y"])


def test_all_fields_of_a_send_are_read_in_camel_case_and_in_snake_case():
    camel = {
        "tenant": "bob",
        "message": MESSAGE
        | {
            "contextId": "c",
            "taskId": TASK,
            "metadata": {"snake_key": None},
            "extensions": ["urn:x"],
            "referenceTaskIds": ["t"],
            "parts": [{"raw": "aGk", "mediaType": "a/b", "filename": "f", "metadata": {"k": 1}}],
        },
        "configuration": {
            "acceptedOutputModes": ["text/plain"],
            "historyLength": 3,
            "returnImmediately": True,
            "taskPushNotificationConfig": {
                "id": "p",
                "url": "https://x",
                "token": "t",
                "authentication": {"scheme": "Bearer", "credentials": "c"},
            },
        },
        "metadata": {"k": 1},
    }
    snake = {
        "tenant": "bob",
        "message": {
            "message_id": "m",
            "role": 1,
            "context_id": "c",
            "task_id": TASK,
            "metadata": {"snake_key": None},
            "extensions": ["urn:x"],
            "reference_task_ids": ["t"],
            "parts": [{"raw": "aGk", "media_type": "a/b", "filename": "f", "metadata": {"k": 1}}],
        },
        "configuration": {
            "accepted_output_modes": ["text/plain"],
            "history_length": "3",
            "return_immediately": "true",
            "task_push_notification_config": {
                "id": "p",
                "url": "https://x",
                "token": "t",
                "authentication": {"scheme": "Bearer", "credentials": "c"},
            },
        },
        "metadata": {"k": 1},
    }

    read = parse(SendMessageRequest, camel)

    assert parse(SendMessageRequest, snake) == read
    assert read.message.model_dump(exclude={"parts"}) == {
        "message_id": "m",
        "role": "ROLE_USER",
        "context_id": "c",
        "task_id": TASK,
        "metadata": {"snake_key": None},
        "extensions": ["urn:x"],
        "reference_task_ids": ["t"],
    }
    assert read.message.media_types == ["a/b"]
    assert (read.configuration.history_length, read.configuration.return_immediately) == (3, True)
    receiver = read.configuration.task_push_notification_config
    assert receiver is not None
    assert receiver.model_dump() == {
        "id": "p",
        "url": "https://x",
        "token": "t",
        "authentication": {"scheme": "Bearer", "credentials": "c"},
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], {"body": "must be a JSON object"}),
        ({}, {"message": "is required"}),
        ({"message": 5}, {"message": "must be a JSON object"}),
        ({"message": MESSAGE | {"messageId": 5}}, {"message.messageId": "must be text"}),
        ({"message": {**MESSAGE, "messageId": None, "message_id": 5}}, {"message.messageId": "must be text"}),
        (
            {"message": MESSAGE | {"messageId": "x" * 501}},
            {"message.messageId": "must have at most 500 characters"},
        ),
        ({"message": MESSAGE | {"messageId": "\x00"}}, {"message.messageId": "contains a NUL character"}),
        ({"message": MESSAGE | {"role": "ROLE_UNSPECIFIED"}}, {"message.role": "is required"}),
        ({"message": MESSAGE | {"role": 0}}, {"message.role": "is required"}),
        *(
            ({"message": MESSAGE | {"role": role}}, {"message.role": "must be one of ROLE_USER, ROLE_AGENT"})
            for role in ("user", 3, -1, True, 1.5, ["ROLE_USER"], "-1", "3")
        ),
        ({"message": {"messageId": "m", "role": "ROLE_USER"}}, {"message.parts": "is required"}),
        ({"message": MESSAGE | {"parts": []}}, {"message.parts": "must have at least 1 entries"}),
        ({"message": MESSAGE | {"parts": "hi"}}, {"message.parts": "must be a JSON array"}),
        ({"message": MESSAGE | {"parts": [None]}}, {"message.parts.0": "must be a JSON object"}),
        ({"message": MESSAGE | {"contextId": " "}}, {"message.contextId": "must not be blank"}),
        ({"message": MESSAGE | {"contextId": "x" * 501}}, {"message.contextId": "must have at most 500 characters"}),
        ({"message": MESSAGE | {"metadata": []}}, {"message.metadata": "must be a JSON object"}),
        ({"message": MESSAGE | {"extensions": [1]}}, {"message.extensions.0": "must be text"}),
        (
            {"message": MESSAGE, "configuration": {"historyLength": -1, "returnImmediately": 1}},
            {
                "configuration.historyLength": "must be at least 0",
                "configuration.returnImmediately": "must be true or false",
            },
        ),
        (
            {"message": MESSAGE, "configuration": {"taskPushNotificationConfig": {"authentication": {}}}},
            {
                "configuration.taskPushNotificationConfig.url": "is required",
                "configuration.taskPushNotificationConfig.authentication.scheme": "is required",
            },
        ),
    ],
)
def test_a_problem_of_a_send_is_named_by_its_path_in_camel_case(value, expected):
    assert problems(value) == expected


ONE = "must have exactly one of text, raw, url, data"


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({}, {"": ONE}),
        ({"text": None}, {"": ONE}),
        ({"kind": "text"}, {"": ONE}),
        ({"text": "a", "url": "b"}, {"": ONE}),
        ({"text": "a", "data": None}, {"": ONE}),
        ({"text": 5}, {".text": "must be text"}),
        ({"raw": "!"}, {".raw": "must be base64"}),
        ({"raw": 5}, {".raw": "must be text"}),
        ({"url": {}}, {".url": "must be text"}),
        ({"text": "a", "mediaType": 5}, {".mediaType": "must be text"}),
        ({"text": "a", "filename": []}, {".filename": "must be text"}),
        ({"text": "a", "metadata": "m"}, {".metadata": "must be a JSON object"}),
    ],
)
def test_a_part_has_exactly_one_content_of_its_type(part, expected):
    named = {f"message.parts.0{path}": problem for path, problem in expected.items()}

    assert problems({"message": MESSAGE | {"parts": [part]}}) == named


@pytest.mark.parametrize(
    ("part", "read"),
    [
        ({"text": ""}, {"text": ""}),
        ({"text": "a", "raw": None, "mediaType": "", "metadata": {}, "filename": None}, {"text": "a"}),
        ({"data": None}, {"data": None}),
        ({"data": ""}, {"data": ""}),
        ({"data": {"a": None}}, {"data": {"a": None}}),
        ({"raw": "_-8"}, {"raw": "/+8="}),
        ({"raw": ""}, {"raw": ""}),
        ({"url": "https://x", "media_type": "a/b"}, {"url": "https://x", "mediaType": "a/b"}),
    ],
)
def test_a_part_is_read_without_empty_members(part, read):
    assert [one.part() for one in sent(parts=[part]).message.parts] == [read]


def test_a_bare_text_makes_a_task_that_converses_and_reads_its_result():
    made = envelope(sent())

    made.check()
    assert made == TaskEnvelope(
        recipient=BOB,
        intent_text="hi",
        id=UUID(TASK),
        context_id="c",
        metadata={"message": {"message_id": "m"}, "extensions": ["urn:y"]},
        dialect="a2a",
        converses=True,
        reads_result=True,
    )


def test_all_that_a_message_says_is_in_the_metadata_of_its_task():
    request = parse(
        SendMessageRequest,
        {
            "message": MESSAGE
            | {
                "parts": [{"text": "hi", "mediaType": "text/plain"}],
                "metadata": {"k": 1},
                "extensions": ["urn:x"],
                "referenceTaskIds": ["t"],
            },
            "configuration": {"acceptedOutputModes": ["text/plain"]},
            "metadata": {"r": 1},
        },
    )

    made = envelope(request)

    made.check()
    assert made.metadata == {
        "message": {
            "message_id": "m",
            "content": [{"type": "text", "text": "hi", "mediaType": "text/plain"}],
            "metadata": {"k": 1},
            "extensions": ["urn:x"],
            "reference_task_ids": ["t"],
        },
        "accepted_output_modes": ["text/plain"],
        "extensions": ["urn:y"],
        "metadata": {"r": 1},
    }


@pytest.mark.parametrize("role", ROLES[1:])
def test_the_role_of_a_message_is_kept(role):
    request = sent(role=role)

    opening = opening_of("hi", envelope(request).metadata)
    words = request.words()

    words.check()
    assert opening.is_agents == (role == "ROLE_AGENT")
    assert json_text.loads(words.extra).get("role") == ("agent" if role == "ROLE_AGENT" else None)


@given(messages_parts)
def test_the_parts_of_a_message_are_read_back_from_its_task_and_from_its_words(parts):
    request = sent(parts=parts)

    made, words = envelope(request), request.words()

    made.check()
    words.check()
    read = [part.part() for part in request.message.parts]
    assert json_text.same(parts_of(opening_of(made.intent_text, made.metadata).blocks), read)
    assert json_text.same(parts_of(words.content), read)

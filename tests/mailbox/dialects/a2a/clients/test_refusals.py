"""Official clients meet each refusal as the error that their SDK has for it."""

import pytest

from tests.support.clients.driven import RefusedError
from tests.support.clients.stage import PURIST
from tests.support.clients.talk import EVERY, NEW

UNKNOWN = "6f1c5a0e-0000-4000-8000-000000000000"
every = pytest.mark.parametrize("sdk", EVERY, ids=str)


def refusal(act, *arguments, **named):
    with pytest.raises(RefusedError) as refused:
        act(*arguments, **named)
    return refused.value.name


def refused_streams(talk, name):
    """Return the names that a client has for the refusal of a stream. Version 0.3 knows only that it is no stream."""
    return ("A2AClientHTTPError", "Error") if talk.client.is_old else (name,)


@every
@pytest.mark.parametrize("task_id", [UNKNOWN, "nope"])
def test_an_unknown_task_is_not_found(talk, task_id):
    acts = [talk.get, talk.cancel, lambda each: talk.config(each, "x")]

    assert {refusal(act, task_id) for act in acts} == {"TaskNotFoundError"}
    assert refusal(talk.subscribe(task_id).rest) in refused_streams(talk, "TaskNotFoundError")


@every
def test_a_finished_task_takes_no_message_and_no_subscription(talk):
    done = talk.task("complete")

    assert refusal(talk.send, "more", of=done) == "UnsupportedOperationError"
    assert refusal(talk.stream("more", of=done).rest) in refused_streams(talk, "UnsupportedOperationError")
    assert refusal(talk.subscribe(done.id).rest) in refused_streams(talk, "UnsupportedOperationError")


@pytest.mark.parametrize("sdk", NEW, ids=str)
def test_an_unknown_webhook_is_not_found(talk):
    assert refusal(talk.config, talk.task("ask").id, "nope") == "TaskNotFoundError"


@every
def test_a_context_that_is_not_the_task_s_is_refused(talk):
    asked = talk.task("ask")

    assert refusal(talk.send, "red", of=asked, context="another")


@every
def test_a_part_of_a_media_type_that_the_agent_does_not_take_is_refused(stage, sdk):
    talk = stage.talk(sdk, to=PURIST)
    file = {"bytes": "dGNr", "mimeType": "image/png"}
    part = {"kind": "file", "file": file} if sdk.is_old else {"raw": "dGNr", "mediaType": "image/png"}

    assert refusal(talk.send, parts=[talk.text_part("look"), part]) == "ContentTypeNotSupportedError"

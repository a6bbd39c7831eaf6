"""Callers of an agent: with a key, without one, and other callers, for whom a foreign task is not there."""

import uuid

import pytest

from tests.support.clients.driven import RefusedError
from tests.support.clients.talk import EVERY

INVALID = ("InvalidParamsError", "RequestMalformedError")

pytestmark = pytest.mark.parametrize("sdk", EVERY, ids=str)


def refusal(act, *arguments, **named):
    with pytest.raises(RefusedError) as refused:
        act(*arguments, **named)
    return refused.value.name


def test_other_agents_need_a_key(stage, sdk):
    message = refusal(stage.talk(sdk, by="").send, "complete")

    assert message


def test_a_foreign_task_is_not_there(talk, stage):
    task = talk.task("ask")
    other = stage.talk(talk.client, by="carol")

    acts = [
        (other.get, task.id),
        (other.cancel, task.id),
        (other.create_config, task.id, {"url": "https://example.com/"}),
        (other.config, task.id, "x"),
    ]

    assert {refusal(*act) for act in acts} == {"TaskNotFoundError"}
    assert refusal(other.send, "red", of=task) == "TaskNotFoundError"
    assert refusal(other.subscribe(task.id).rest)
    assert talk.get(task.id).state == "input_required"


def test_a_key_of_the_client_makes_one_task_of_many_sends(talk):
    key = {"Idempotency-Key": str(uuid.uuid4())}
    message = {"messageId": "m1", "context": "c1"}

    first = talk.task("complete once", headers=key, **message)
    again = talk.task("complete once", headers=key, **message)
    streamed = talk.stream("complete once", headers=key, **message).rest()

    assert again.id == first.id == streamed[0].id
    assert streamed[-1].state == "completed"
    assert refusal(talk.send, "complete twice", headers=key, **message) in INVALID


def test_a_direct_answer_is_read_again_with_the_key_of_its_request(talk):
    key = {"Idempotency-Key": str(uuid.uuid4())}
    first, again = (talk.send("direct", headers=key, messageId="m1", context="c1") for _ in range(2))

    assert again == first

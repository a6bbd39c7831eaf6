"""Official clients configure webhooks, and a receiver gets each event of the task in order."""

import json

import pytest

from tests.support.clients import readings
from tests.support.clients.driven import RefusedError
from tests.support.clients.player import CHUNKS
from tests.support.clients.readings import Piece
from tests.support.clients.talk import EVERY, LISTING_WEBHOOKS, NEW, OLD
from tests.support.hub import wait_until

CREDENTIALS = {"token": "t0ken", "authentication": {"scheme": "Bearer", "credentials": "s3cret"}}
OLD_CREDENTIALS = {"token": "t0ken", "authentication": {"schemes": ["Bearer"], "credentials": "s3cret"}}


def sealed(talk):
    return OLD_CREDENTIALS if talk.client.is_old else CREDENTIALS


def bodies(hook, count):
    wait_until(lambda: len(hook.calls) >= count)
    return [json.loads(body) for _, body in hook.calls]


def told(hook, count):
    events = [readings.event(body) for body in bodies(hook, count)]
    return [event.text if isinstance(event, Piece) else getattr(event, "state", "") for event in events]


@pytest.mark.parametrize("sdk", LISTING_WEBHOOKS, ids=str)
def test_a_webhook_is_created_read_listed_and_deleted(talk, hook):
    task = talk.task("ask")

    made = talk.create_config(task.id, {"id": "mine", "url": hook.url, **sealed(talk)})
    read = talk.config(task.id, "mine")
    listed = talk.configs(task.id)
    for _ in range(2):
        talk.delete_config(task.id, "mine")

    assert (made["taskId"], made["id"], made["url"]) == (task.id, "mine", hook.url)
    assert (read["id"], read["url"], listed) == ("mine", hook.url, ["mine"])
    assert talk.configs(task.id) == []


@pytest.mark.parametrize("sdk", EVERY, ids=str)
def test_credentials_are_never_read_back(talk, hook):
    task = talk.task("ask")
    made = talk.create_config(task.id, {"url": hook.url, **sealed(talk)})

    read = talk.config(task.id, made["id"])

    assert made["authentication"]["credentials"] == "s3cret"
    assert "s3cret" not in json.dumps(read)
    assert "t0ken" not in json.dumps(read)


@pytest.mark.parametrize("sdk", NEW, ids=str)
def test_a_receiver_gets_each_event_in_order_with_both_headers(talk, hook):
    task = talk.task("ask twice")
    talk.create_config(task.id, {"url": hook.url, **CREDENTIALS})

    talk.task("red", of=task)
    talk.task("large", of=task)

    wanted = ["submitted", "working", "input_required", "submitted", "working", "painted large", "completed"]
    assert told(hook, len(wanted)) == wanted
    for headers, _ in hook.calls:
        assert headers["Content-Type"] == "application/a2a+json"
        assert (headers["Authorization"], headers["X-A2A-Notification-Token"]) == ("Bearer s3cret", "t0ken")


@pytest.mark.parametrize("sdk", NEW, ids=str)
def test_an_inline_webhook_gets_everything_after_the_task(talk, hook):
    talk.task("chunks", webhook={"url": hook.url, **CREDENTIALS})

    wait_until(lambda: hook.calls and "TASK_STATE_COMPLETED" in hook.calls[-1][1].decode())
    events = told(hook, 3)
    assert (events[0], events[-1]) == ("working", "completed")
    assert "".join(events[1:-1]) == "".join(CHUNKS)  # chunks that wait together are one update


@pytest.mark.parametrize("sdk", NEW[:1], ids=str)
def test_a_receiver_that_fails_gets_the_event_again_before_the_next(talk, hook):
    hook.statuses = [500, 500]

    talk.task("complete", webhook={"url": hook.url})

    wanted = ["working"] * 3 + ["done: complete", "completed"]
    assert told(hook, len(wanted)) == wanted
    ids = [headers["webhook-id"] for headers, _ in hook.calls]
    assert len(set(ids[:3])) == 1
    assert len(set(ids)) == 3


@pytest.mark.parametrize("sdk", OLD, ids=str)
def test_a_receiver_of_0_3_gets_the_task_of_0_3(talk, hook):
    task = talk.task("ask")
    talk.create_config(task.id, {"url": hook.url, **OLD_CREDENTIALS})

    talk.task("red", of=task)

    wait_until(lambda: hook.calls and b'"completed"' in hook.calls[-1][1])
    last = json.loads(hook.calls[-1][1])
    assert (last["kind"], last["id"], last["status"]["state"]) == ("task", task.id, "completed")
    assert last["artifacts"][0]["parts"] == [{"kind": "text", "text": "painted red"}]
    assert {headers["Content-Type"] for headers, _ in hook.calls} == {"application/json"}


@pytest.mark.parametrize("sdk", NEW, ids=str)
def test_a_webhook_within_the_network_is_refused(talk):
    task = talk.task("ask")

    with pytest.raises(RefusedError) as refused:
        talk.create_config(task.id, {"url": "http://10.1.2.3/hook"})

    assert refused.value.name in ("InvalidParamsError", "RequestMalformedError")

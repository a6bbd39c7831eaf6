"""Official clients without a key talk with an agent that is open to anyone. They know its tasks by their ids."""

import pytest

from tests.support.clients.stage import DOORMAN
from tests.support.clients.talk import EVERY, LISTING_WEBHOOKS, NEW
from tests.support.hub import wait_until

every = pytest.mark.parametrize("sdk", EVERY, ids=str)


@pytest.fixture
def talk(stage, sdk):
    """Return the client that the test's parameter ``sdk`` names, without a key."""
    return stage.talk(sdk, by="", to=DOORMAN)


@every
def test_a_caller_without_a_key_sends_answers_streams_and_reads(talk):
    asked = talk.task("ask")
    painted = talk.task("red", of=asked)

    assert painted.artifacts == {"result": "painted red"}
    assert [getattr(event, "state", "") for event in talk.stream("complete").rest()][-1] == "completed"
    assert talk.get(asked.id).state == "completed"


@every
def test_a_caller_without_a_key_cancels_once(talk):
    asked = talk.task("ask")

    cancelled = talk.cancel(asked.id)

    assert (cancelled.id, cancelled.state) == (asked.id, "canceled")
    assert talk.cancel(asked.id) == cancelled
    assert talk.get(asked.id).state == "canceled"


@pytest.mark.parametrize("sdk", NEW, ids=str)
def test_a_caller_without_a_key_lists_the_tasks_of_a_context_that_it_names_and_no_others(talk):
    asked = talk.task("ask")
    done = talk.task("complete", context=asked.context)

    first = talk.driven.do("list", {"contextId": asked.context, "pageSize": 1})
    second = talk.driven.do("list", {"contextId": asked.context, "pageToken": first["nextPageToken"]})
    everything = talk.driven.do("list")

    assert [[task["id"] for task in page["tasks"]] for page in (first, second)] == [[done.id], [asked.id]]
    assert (first["totalSize"], second["nextPageToken"]) == (2, "")
    assert everything == {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}


@every
def test_a_caller_without_a_key_creates_and_reads_a_webhook_that_is_told(talk, hook):
    asked = talk.task("ask")

    made = talk.create_config(asked.id, {"id": "mine", "url": hook.url})
    read = talk.config(asked.id, "mine")
    talk.task("red", of=asked)

    for config in (made, read):
        assert (config["taskId"], config["id"], config["url"]) == (asked.id, "mine", hook.url)
    wait_until(lambda: hook.calls and b"completed" in hook.calls[-1][1].lower())
    assert asked.id.encode() in hook.calls[-1][1]


@pytest.mark.parametrize("sdk", LISTING_WEBHOOKS, ids=str)
def test_a_caller_without_a_key_lists_and_deletes_webhooks(talk, hook):
    asked = talk.task("ask")
    for name in ("one", "two"):
        talk.create_config(asked.id, {"id": name, "url": hook.url})

    listed = talk.configs(asked.id)
    for _ in range(2):
        talk.delete_config(asked.id, "one")

    assert (listed, talk.configs(asked.id)) == (["one", "two"], ["two"])

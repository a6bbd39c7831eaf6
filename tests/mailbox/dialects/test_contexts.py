"""A conversation belongs to one sender: its recipient never takes the tasks of two senders for one conversation."""

from uuid import UUID

import pytest

from mailbox.life import leasing
from tests.support import factories
from tests.support.a2a import OfficialClient
from tests.support.api import Api
from tests.support.mcp import McpClient

pytestmark = pytest.mark.django_db

NEXT = "/a2a/tasks/next"
BATCH = "/a2a/tasks/lease"


@pytest.fixture
def mallory():
    return factories.agent("mallory", "a2a.send.*")


@pytest.fixture
def talks(alice, mallory, bob):
    """Send as two senders who chose the same context, twice as the first of them."""
    talks = [OfficialClient(sender, bob).send(contextId="default") for sender in (alice, mallory, alice)]
    assert {talk["contextId"] for talk in talks} == {"default"}
    return [talk["id"] for talk in talks]


def test_every_lease_and_read_of_the_recipient_tells_two_senders_of_one_context_apart(talks, bob):
    api = Api(bob)
    first, second = (api.post(NEXT).json()["task"]["context_id"] for _ in range(2))
    (third,) = (leased["task"]["context_id"] for leased in api.post(BATCH, {"max": 10}).json()["leases"])
    for task in talks:
        leasing.release(bob, UUID(task), reason="the other ways")
    by_id = [api.post(f"/a2a/tasks/{task}/lease").json()["task"]["context_id"] for task in talks]
    held = [lease["task"]["context_id"] for lease in api.get("/a2a/leases").json()["leases"]]
    entry = [api.get(f"/a2a/tasks/{task}/entry").json()["entry"]["task"]["context_id"] for task in talks]
    listed = [entry["task"]["context_id"] for entry in api.get("/a2a/tasks").json()["entries"]]
    sessions = [api.get(f"/api/v1/tasks/{task}").json()["session_id"] for task in talks]

    assert first == third != second
    assert "default" not in (first, second)
    assert by_id == held == entry == listed[::-1] == sessions == [first, second, first]


def test_a_task_received_by_mcp_has_the_context_of_the_other_protocols_and_no_id_of_a_sender(talks, bob):
    received = [McpClient(bob).tool("receive_task")["task"] for _ in talks]
    held = [lease["task"]["context_id"] for lease in Api(bob).get("/a2a/leases").json()["leases"]]

    assert [task["context_id"] for task in received] == held
    assert held[0] == held[2] != held[1]
    assert "default" not in str(received)


def test_the_sender_sees_its_own_context_in_every_dialect(talks, alice, mallory, bob, olga):
    leasing.lease_tasks(bob)
    for sender, task in ((alice, talks[0]), (mallory, talks[1]), (olga, talks[0])):
        api = Api(sender)
        assert api.get(f"/a2a/tasks/{task}/entry").json()["entry"]["task"]["context_id"] == "default"
        if sender is not olga:
            assert api.get(f"/api/v1/tasks/{task}").json()["session_id"] == "default"
            assert OfficialClient(sender, bob).get(task)["contextId"] == "default"


def test_no_sender_chooses_the_context_that_the_recipient_sees_of_another(talks, mallory, bob):
    of_alice = Api(bob).post(NEXT).json()["task"]["context_id"]

    OfficialClient(mallory, bob).send(contextId=of_alice)

    leased = Api(bob).post(BATCH, {"max": 10}).json()["leases"]
    assert [one["task"]["context_id"] == of_alice for one in leased] == [False, True, False]

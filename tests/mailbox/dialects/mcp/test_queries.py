"""How many statements the tools and the resources take, so that no page takes one for each of its tasks."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.mailbox.test_query_counts import SAVEPOINT
from tests.support import factories
from tests.support.a2a import Holder
from tests.support.mcp import McpClient, held, sent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("bob")]

KEY = 2  # the key with its agent, and the note of its use


@pytest.fixture
def at_most(django_assert_max_num_queries):
    return lambda number: django_assert_max_num_queries(KEY + number)


@pytest.fixture
def sender(alice):
    return McpClient(alice)


@pytest.fixture
def worker(bob):
    return McpClient(bob)


def test_a_send_takes_no_more_than_a_send_of_the_mailbox(sender, django_assert_num_queries):
    sent(sender)
    with CaptureQueriesContext(connection) as of_the_mailbox:
        sender.api.post("/a2a/tasks", {"recipient": "bob", "intent_text": "paint a house"})

    with django_assert_num_queries(len(of_the_mailbox)):
        sent(sender)


def test_a_receive_takes_no_more_than_a_receive_of_the_mailbox(sender, worker, at_most):
    sent(sender)

    with at_most(3 + 2 + SAVEPOINT):
        held(worker)


def test_a_receive_of_nothing_takes_one_statement(worker, at_most):
    with at_most(1):
        assert worker.tool("receive_task")["task"] is None


def test_a_look_at_an_open_task_takes_two_statements_and_at_its_result_one(sender, worker, at_most):
    task_id = sent(sender)
    with at_most(2):
        sender.tool("wait_for_result", task_id=task_id, wait_ms=0)
    worker.tool("answer_task", **held(worker), content="done")

    with at_most(1):
        assert "result" in sender.tool("wait_for_result", task_id=task_id)


def test_a_task_is_read_by_five_statements(sender, at_most):
    task_id = sent(sender)

    with at_most(5):
        sender.tool("read_task", task_id=task_id)


@pytest.mark.parametrize("size", [1, 15])
def test_a_page_of_tasks_takes_three_statements(sender, alice, bob, at_most, size):
    for _ in range(size):
        factories.sent_task(alice, bob)

    with at_most(3):
        assert len(sender.tool("list_tasks", limit=size)["tasks"]) == size
    with at_most(3):
        assert len(sender.call("resources/list")["resources"]) == size


@pytest.mark.parametrize("size", [1, 15])
def test_a_page_of_held_tasks_takes_one_statement(worker, alice, bob, at_most, size):
    for _ in range(size):
        factories.leased_task(alice, bob)

    with at_most(1):
        assert len(worker.tool("held_tasks", limit=size)["held"]) == size


@pytest.mark.parametrize("size", [1, 10])
def test_a_page_of_agents_takes_two_statements(sender, at_most, size):
    for number in range(size):
        factories.profile(factories.agent(f"agent-{number}"), tool_permissions=["paint"])
        factories.tool(f"tool-{number}")

    with at_most(2):
        assert len(sender.tool("list_agents", limit=size)["agents"]) == size


def test_lists_of_the_protocol_take_none(sender, at_most):
    for method in ("ping", "tools/list", "resources/templates/list"):
        with at_most(0):
            sender.call(method)


@pytest.mark.parametrize("size", [1, 10])
def test_a_task_as_a_resource_takes_as_many_statements_with_many_artifacts(sender, alice, bob, at_most, size):
    factories.sent_task(alice, bob)
    holder = Holder(bob)
    task = holder.take()
    for number in range(size):
        holder.make("x", artifact_id=f"a-{number}", name="A")
    holder.answer("done")

    with at_most(10):
        sender.call("resources/read", {"uri": f"a2a://tasks/{task.uuid}"})

"""How many statements the operations of the official protocol take, and that the list walks its index."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from agentcards import official_agents
from mailbox.inspection import event_log, official_tasks
from mailbox.models import Task
from tests.mailbox.test_query_counts import COUNTED, SAVEPOINT
from tests.support import factories
from tests.support.queries import analyze, plan_of

pytestmark = pytest.mark.django_db

KEY = 2  # the key with its agent, and the note of its use
MANY = 3_000


@pytest.fixture
def known(client, monkeypatch):
    """Let the process know the agent for the whole test, as it does between two requests."""
    monkeypatch.setattr(official_agents, "KEPT_FOR", 3600)
    client.send()
    return client


def test_a_send_that_does_not_wait_takes_no_more_than_a_send_of_the_mailbox(known, django_assert_max_num_queries):
    with django_assert_max_num_queries(KEY + 3 + COUNTED + SAVEPOINT):
        known.send()


def test_a_plain_task_is_read_by_one_statement(known, django_assert_max_num_queries):
    task = known.send()

    with django_assert_max_num_queries(KEY + 1):
        known.get(task["id"])


@pytest.mark.parametrize("size", [1, 20])
def test_a_page_of_the_list_takes_four_statements_at_most(known, django_assert_max_num_queries, size):
    for _ in range(size):
        known.send()

    with django_assert_max_num_queries(KEY + 4):
        page = known.rpc("ListTasks", {"pageSize": size})
    assert len(page["tasks"]) == size


def test_a_feed_that_has_nothing_new_takes_one_statement_and_else_three(client, holder, django_assert_max_num_queries):
    client.send()
    task = holder.take()
    with event_log.following(task) as followed:
        followed.catch_up()
        with django_assert_max_num_queries(1):
            followed.catch_up()
        holder.tell("half")
        with django_assert_max_num_queries(3):
            followed.catch_up()


@pytest.fixture
def crowd(alice, bob):
    """Tasks of alice and bob among thousands of others, also of the same sender and of the same recipient."""
    agents = factories.AgentFactory.create_batch(30)
    pairs = [(alice.agent, bob.agent)] * 40
    pairs += [(alice.agent, agents[n % 30]) for n in range(MANY)] + [(agents[n % 30], bob.agent) for n in range(MANY)]
    start = timezone.now() - timedelta(days=1)
    Task.objects.bulk_create(
        Task(
            uuid=uuid4(),
            sender=sender,
            recipient=recipient,
            intent_text="x",
            dialect="a2a",
            context_id=f"talk-{number % 9}",
            sent_at=start,
            queued_at=start,
            status_at=start + timedelta(seconds=number),
        )
        for number, (sender, recipient) in enumerate(pairs)
    )
    analyze()


@pytest.mark.usefixtures("crowd")
def test_the_list_walks_its_index_among_many_tasks_of_others(alice, bob, django_assert_max_num_queries):
    with django_assert_max_num_queries(4):
        page = official_tasks.listing(alice.agent, bob.agent, limit=10)
    assert (len(page.tasks), page.total) == (10, 40)

    own = Task.objects.filter(sender=alice.agent, recipient=bob.agent).of_official_dialect().filter(is_direct=False)
    plan = plan_of(own.order_by("-status_at", "-pk")[:11])
    assert "task_by_status_time" in plan, plan
    assert "Seq Scan on mailbox_task" not in plan

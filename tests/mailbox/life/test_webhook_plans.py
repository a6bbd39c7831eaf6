"""The courier's statements: how many they are, and that none reads a whole table among many webhooks."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from mailbox.life import outbox
from mailbox.life.outbox import DeliveryOutcome, Event
from mailbox.models import PushConfig, PushDelivery, Task
from tests.mailbox.test_query_counts import SAVEPOINT
from tests.support import factories
from tests.support.queries import analyze

pytestmark = pytest.mark.django_db

DONE, PARKED, DUE = 6_000, 300, 40  # webhooks that ended, webhooks without news, and webhooks that are due
AGENTS = 30
OK = DeliveryOutcome(status=200)
FAILED = DeliveryOutcome(status=500, problem="HTTP 500")
WHOLE_TABLE = re.compile(r"Seq Scan on mailbox_\w+|SCAN mailbox_\w+\b(?! USING)")
OF_TRANSACTIONS = ("SAVEPOINT", "RELEASE", "ROLLBACK", "BEGIN", "COMMIT")


@pytest.fixture(scope="module")
def crowd(django_db_setup, django_db_blocker):
    """Many webhooks of tasks among some agents. Nearly all of them are done."""
    with django_db_blocker.unblock(), transaction.atomic():
        _fill()
        analyze()
        yield
        transaction.set_rollback(True)


def _fill():
    now = timezone.now()
    start = now - timedelta(days=1)
    agents = factories.AgentFactory.create_batch(AGENTS)
    tasks = Task.objects.bulk_create(
        Task(
            uuid=uuid4(),
            sender=agents[number % AGENTS],
            recipient=agents[(number + 1) % AGENTS],
            intent_text="x",
            dialect="a2a",
            state="resolved" if number < DONE else "queued",
            outcome="ok" if number < DONE else None,
            resolved_at=start if number < DONE else None,
            journal_seq=3,
            sent_at=start,
            queued_at=start,
            status_at=start,
        )
        for number in range(DONE + PARKED + DUE)
    )
    configs = PushConfig.objects.bulk_create(
        PushConfig(
            task=task,
            config_id="mine",
            protocol="1.0",
            url=f"https://receiver{number % 7}.example/hook",
            told_seq=3 if number < DONE + PARKED else 1,
            next_attempt_at=None if number < DONE else start + timedelta(seconds=number),
            created_at=start,
        )
        for number, task in enumerate(tasks)
    )
    PushDelivery.objects.bulk_create(
        PushDelivery(
            task_uuid=config.task.uuid,
            sender_id=config.task.sender_id,
            url=config.url,
            body="{}",
            created_at=start,
            state=PushDelivery.State.DELIVERED,
            attempts=1,
            next_attempt_at=start,
            delivered_at=start,
            config=config,
            seq=2,
            part=PushConfig.WHOLE_ROW,
        )
        for config in configs[: DONE + PARKED]
    )


def whole_tables(captured):
    """Return the plans of the captured statements that read a whole table."""
    explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"
    found = []
    for query in captured.captured_queries:
        if query["sql"].startswith((*OF_TRANSACTIONS, "INSERT")):
            continue
        with connection.cursor() as cursor:
            cursor.execute(f"{explain} {query['sql']}".replace("%", "%%"))
            plan = " ".join(str(row) for row in cursor.fetchall())
        if WHOLE_TABLE.search(plan):
            found.append(f"{query['sql']}: {plan}")
    return found


def telling(candidate):
    return candidate, Event(position=(3, PushConfig.WHOLE_ROW), body="{}")


@pytest.mark.usefixtures("crowd")
def test_no_statement_of_a_round_reads_a_whole_table():
    with CaptureQueriesContext(connection) as captured:
        claimed = outbox.claim([], [telling(one) for one in outbox.due(limit=10).webhooks])
        outbox.report(claimed[0], OK)
        outbox.report(claimed[1], FAILED)
        outbox.pass_over(outbox.due(limit=1).webhooks[0], 3)
        outbox.pause_until_due(shortest=1, longest=60)

    assert len(claimed) == 10
    assert len(captured) > 40
    assert whole_tables(captured) == []


@pytest.mark.usefixtures("crowd")
def test_a_statement_that_reads_a_whole_table_is_found():
    with CaptureQueriesContext(connection) as captured:
        list(PushConfig.objects.filter(url__contains="receiver1")[:9000])

    assert len(whole_tables(captured)) == 1


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("count", [1, 20])
def test_the_due_webhooks_are_read_by_four_statements(count, django_assert_max_num_queries):
    with django_assert_max_num_queries(4):
        found = outbox.due(limit=count).webhooks

    assert len(found) == count


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("count", [1, 20])
def test_a_claim_takes_two_statements_and_two_for_each_webhook(count, django_assert_max_num_queries):
    tellings = [telling(one) for one in outbox.due(limit=count).webhooks]

    with django_assert_max_num_queries(2 + 2 * count + SAVEPOINT):
        claimed = outbox.claim([], tellings)

    assert len(claimed) == count


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("outcome", [OK, FAILED])
def test_a_report_takes_six_statements(outcome):
    [claimed] = outbox.claim([], [telling(one) for one in outbox.due(limit=1).webhooks])

    with CaptureQueriesContext(connection) as captured:
        outbox.report(claimed, outcome)

    statements = [query["sql"] for query in captured.captured_queries]
    assert len([sql for sql in statements if not sql.startswith(OF_TRANSACTIONS)]) <= 6


@pytest.mark.usefixtures("crowd")
def test_a_look_of_the_courier_with_nothing_due_takes_two_statements(django_assert_max_num_queries):
    PushConfig.objects.update(next_attempt_at=None)

    with django_assert_max_num_queries(2):
        outbox.pause_until_due(shortest=1, longest=60)

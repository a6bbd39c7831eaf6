"""The hot queries walk the index made for them, in its order, on tables large enough to matter."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone

from mailbox.inspection import tasks as tasks_
from mailbox.inspection.search import queries, terms
from mailbox.life.fast_path import postgresql
from mailbox.models import Agent, AuditEvent, Lease, PushDelivery, ReplayEntry, Result, Task
from mailbox.models.result import ResultQuerySet
from mailbox.upkeep import compaction
from tests.support import factories
from tests.support.queries import analyze, assert_walks, plan_of

pytestmark = pytest.mark.django_db

ROWS, AGENTS = 5_000, 100


@dataclass(frozen=True)
class Crowd:
    sender: Agent
    recipient: Agent
    tasks: Sequence[Task]


@pytest.fixture(scope="module")
def crowd(django_db_setup, django_db_blocker):
    """Thousands of tasks in all states among a hundred agents, with leases, results, callbacks and cached results."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield _crowd()
        transaction.set_rollback(True)


def _crowd() -> Crowd:
    agents = factories.AgentFactory.create_batch(AGENTS)
    start = timezone.now() - timedelta(days=1)
    tasks = Task.objects.bulk_create(
        Task(
            sender=agents[number % AGENTS],
            recipient=agents[(number + 1) % AGENTS],
            intent_text="x",
            parent=uuid4() if number % 50 == 0 else None,
            deadline_ms=number if number % 101 == 0 else None,
            state=state,
            attempt=int(state != "queued"),
            outcome="ok" if state == "resolved" else None,
            resolved_at=start if state == "resolved" else None,
            sent_at=start + timedelta(seconds=number),
            queued_at=start + timedelta(seconds=number),
        )
        for number in range(ROWS)
        for state in [("queued", "in_flight", "resolved", "queued")[number // AGENTS % 4]]
    )
    Lease.objects.bulk_create(
        Lease(
            task=task,
            holder=task.recipient,
            attempt=1,
            leased_at=task.queued_at,
            last_seen_at=task.queued_at,
            ended_at=None if task.state == "in_flight" else start,
            end=None if task.state == "in_flight" else "result",
        )
        for task in tasks
        if task.state != "queued"
    )
    Result.objects.bulk_create(
        Result(
            task=task,
            sender_id=task.sender_id,
            recipient_id=task.recipient_id,
            status="ok",
            posted_at=task.queued_at,
            delivery="pending" if number % 3 == 0 else "delivered",
        )
        for number, task in enumerate(tasks)
        if task.state == "resolved"
    )
    AuditEvent.objects.bulk_create(
        AuditEvent(
            kind="a2a_task_sent",
            actor="x",
            actor_pubkey=task.sender.pubkey,
            task_id=task.uuid,
            seq=1,
            data="{}",
            at=start,
        )
        for task in tasks
    )
    PushDelivery.objects.bulk_create(
        PushDelivery(
            task_uuid=task.uuid,
            sender_id=task.sender_id,
            url="https://receiver.example/",
            body="{}",
            created_at=start,
            next_attempt_at=start,
            state="disabled" if number % 500 == 0 else "delivered",
        )
        for number, task in enumerate(tasks)
    )
    ReplayEntry.objects.bulk_create(
        ReplayEntry(
            cache_key=f"{number:064}",
            sender_pubkey=task.sender.pubkey,
            recipient_pubkey=task.recipient.pubkey,
            task_kind="x",
            key=f"inv-{number}",
            source_task_id=task.uuid,
            status="ok",
            content="[]",
            stored_at=start,
            expires_at=start if number % 500 == 0 else None,
        )
        for number, task in enumerate(tasks)
    )
    analyze()
    return Crowd(agents[0], agents[1], tasks)


def test_leasing_walks_the_queue_of_its_recipient(crowd):
    waiting = Task.objects.leasable().filter(recipient__paused_at=None).addressed_to(crowd.recipient)
    locked = waiting.with_parties().in_order().select_for_update(skip_locked=True, no_key=True, of=("self",))

    assert_walks(locked[:1], "task_lease_order")


def test_a_look_for_a_task_to_lease_walks_the_same_queue(crowd):
    assert_walks(Task.objects.leasable().addressed_to(crowd.recipient).in_order()[:1], "task_lease_order")


def test_draining_walks_the_pending_results_of_their_sender(crowd):
    pending = Result.objects.addressed_to(crowd.sender).pending().in_order().select_related("task")
    locked = pending.select_for_update(skip_locked=True, no_key=True, of=("task",))

    assert_walks(locked[:1], "result_pending_by_sender")


def test_the_queued_tasks_of_a_sender_walk_their_index(crowd):
    assert_walks(Task.objects.queued().filter(sender=crowd.sender).in_order()[:10], "task_queued_by_sender")


def test_a_holder_lists_its_leases_by_index(crowd):
    plan = plan_of(Lease.objects.live().filter(holder=crowd.recipient).order_by("leased_at")[:10])

    assert "lease_live_by_holder" in plan, plan


def test_the_oldest_live_leases_are_found_by_age(crowd):
    assert_walks(Lease.objects.live().order_by("leased_at")[:10], "lease_live_by_age")


def test_the_live_lease_of_a_task_is_found_by_its_constraint(crowd):
    plan = plan_of(Lease.objects.live().filter(task=crowd.tasks[1]))

    assert re.search(r"lease_one_live_per_task|lease_attempt_unique", plan), plan


def test_overdue_and_interrupted_tasks_are_found_by_indexes_of_their_own(crowd):
    assert_walks(Task.objects.filter(state="interrupted").order_by("-pk")[:10], "task_interrupted")
    plan = plan_of(Task.objects.overdue(timezone.now()).order_by("deadline_ms")[:10])

    assert "task_open_by_deadline" in plan, plan


def test_children_are_found_by_their_parent(crowd):
    plan = plan_of(Task.objects.filter(parent=crowd.tasks[0].parent))

    assert "task_children" in plan, plan


def test_a_task_is_found_by_its_public_id(crowd):
    plan = plan_of(Task.objects.filter(uuid=crowd.tasks[0].uuid))

    assert re.search(r"mailbox_task_uuid\w*|sqlite_autoindex_mailbox_task_1", plan), plan


def test_a_timeline_walks_its_numbers(crowd):
    plan = plan_of(AuditEvent.objects.of_task(crowd.tasks[0].uuid))

    assert re.search(r"audit_task_seq_unique|sqlite_autoindex_mailbox_auditevent_1 \(task_id=\? AND seq", plan), plan


def test_an_agents_journal_is_found_by_its_key(crowd):
    assert_walks(AuditEvent.objects.newest_first().filter(actor_pubkey=crowd.sender.pubkey)[:10], "audit_actor")


def test_repairs_are_found_by_index_in_the_journal(crowd):
    assert_walks(AuditEvent.objects.repairs().one_by_one().newest_first()[:50], "audit_repairs|audit_by_kind")


def test_passes_of_the_retry_gate_are_found_by_index_in_the_journal(crowd):
    assert_walks(AuditEvent.objects.scans().newest_first()[:25], "audit_scans|audit_by_kind")


def test_the_tasks_of_one_cache_key_are_found_by_index(crowd):
    crowd.tasks[0].idempotency_key = "inv-7"

    assert_walks(tasks_.alike(crowd.tasks[0])[:10], "task_by_key_or_prefix")


def test_cached_results_are_found_by_key(crowd):
    at = terms.Moment(now=timezone.now(), stale_after=timedelta(minutes=5))

    assert "replay_by_key" in plan_of(queries.replay_entries("key:inv-7", at).order_by("-pk")[:50])


def test_expired_cached_results_are_found_by_index(crowd):
    assert "replay_by_expiry" in plan_of(ReplayEntry.objects.expired(timezone.now())[:500])


def test_disabled_callbacks_are_found_by_index(crowd):
    at = terms.Moment(now=timezone.now(), stale_after=timedelta(minutes=5))

    assert "push_by_state" in plan_of(queries.deliveries("state:disabled", at).order_by("-pk")[:50])


@pytest.mark.skipif(connection.vendor != "postgresql", reason="these statements are PostgreSQL's")
@pytest.mark.parametrize(
    ("name", "indexes"),
    [
        ("LEASE", {"task_lease_order", "lease_receive_attempt_unique"}),
        (
            "DRAIN",
            {
                *("result_pending_by_sender", "result_receive_attempt_unique"),
                *("task_open_by_deadline", "lease_live_by_timeout"),
            },
        ),
    ],
)
def test_the_one_statement_of_a_hot_verb_walks_its_indexes(crowd, name, indexes):
    stamp: dict[str, Any] = {"actor": "a", "actor_pubkey": "k", "at": timezone.now(), "request_id": "", "source": "api"}
    stamp |= {"address": "", "credential": "key", "signing_key": "k"}
    ids = {"holder": crowd.recipient.pk, "sender": crowd.sender.pk, "attempt_id": uuid4(), "lease_id": uuid4()}
    texts = {"now_ms": 1, "change_kind": "", "change_data": ""}

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {postgresql.statement(name)}", stamp | ids | texts)
        plan = str(cursor.fetchall())

    assert {index for index in indexes if index in plan} == indexes, plan
    assert not re.search(r"Seq Scan on mailbox_(task|lease|result|auditevent)", plan), plan


def test_the_delivered_results_of_one_sender_are_found_by_index(crowd):
    found = Result.objects.addressed_to(crowd.sender).delivered().order_by("delivered_at", "pk")

    assert "result_delivered_by_sender" in plan_of(found[:11])


def test_the_task_that_leads_a_key_is_found_by_its_constraint(crowd):
    assert "task_one_leader_per_cache_key" in plan_of(Task.objects.leading("0" * 64))


@pytest.mark.parametrize(
    ("results", "index"),
    [(ResultQuerySet.acked_until, "result_acked"), (ResultQuerySet.delivered_until, "result_delivered")],
)
def test_tasks_to_compact_are_found_by_index(crowd, results, index):
    now = timezone.now()
    found = results(Result.objects.all(), now).exclude(compaction._has_child("task_id", "task__uuid"))
    found = found.exclude(compaction._spent_lately(now, task="task_id", result=""))

    plan = assert_walks(found.values_list("task_id", flat=True)[: compaction.BATCH], index)
    assert "task_children" in plan, plan


@pytest.mark.parametrize(
    ("rows", "index"),
    [
        (Lease.objects.received_by, "lease_receive_attempt_unique"),
        (Result.objects.drained_by, "result_receive_attempt_unique"),
    ],
)
def test_the_rows_of_a_receive_attempt_are_found_by_their_constraint(crowd, rows, index):
    assert_walks(rows(uuid4(), crowd.sender), index)


def test_an_erasure_does_not_read_the_whole_journal(crowd):
    statements = []

    def explained(execute, sql, params, many, context):
        prefix = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
        if "auditevent" in sql:
            execute(f"{prefix} {sql}", params, many, context)
            statements.append(str(context["cursor"].fetchall()))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explained):
        AuditEvent.objects.compacted_tasks(crowd.sender)
        list(AuditEvent.objects.of_profile(crowd.sender))
        list(AuditEvent.objects.of_cards(crowd.sender))

    assert len(statements) == 4
    for plan in statements:
        assert "audit_by_kind" in plan or "audit_actor" in plan, plan
        assert not re.search(r"Seq Scan on mailbox_auditevent|SCAN mailbox_\w+\b(?! USING)", plan), plan

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone

from mailbox.inspection.search.terms import Moment
from mailbox.models import AuditEvent, Failure, Lease, Result, Task
from mailbox.models.failure import minute_of
from mailbox.upkeep import rollups
from tests.support import factories
from tests.support.queries import analyze

ROWS, AGENTS = 4_000, 100
STATES = {3: "in_flight", 8: "interrupted"}
MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="package")
def at(django_db_setup, django_db_blocker):
    """A hub in which nearly all went well, and little of anything else."""
    with django_db_blocker.unblock(), transaction.atomic():
        now = timezone.now()
        _fill(now)
        rollups.roll(now)
        analyze()
        yield Moment(now=now, stale_after=5 * MINUTE)
        transaction.set_rollback(True)


def _fill(now):
    agents = [*factories.AgentFactory.create_batch(AGENTS), factories.AgentFactory.create(display="rare@local")]
    start = now - timedelta(days=2)
    tasks = Task.objects.bulk_create(
        Task(
            uuid=uuid4(),
            sender=agents[-1 if number % 500 == 5 else number % AGENTS],
            recipient=agents[-1 if number % 500 == 6 else (number + 1) % AGENTS],
            intent_text="x",
            task_kind="book" if number % 400 == 1 else None,
            duplicate_safety="unsafe" if number % 400 == 2 else None,
            idempotency_key=f"inv-{number}" if number % 400 == 2 else None,
            context_id=f"talk-{number}" if number % 400 == 5 else None,
            state=state,
            awaits="input" if state == "interrupted" else None,
            status_at=start + number * MINUTE / 2,
            outcome=None if state != "resolved" else "error" if number % 200 == 4 else "ok",
            attempt=int(state != "queued"),
            resolved_at=start + number * MINUTE / 2 if state == "resolved" else None,
            sent_at=start + number * MINUTE / 2,
            queued_at=start + number * MINUTE / 2,
        )
        for number in range(ROWS)
        for state in [STATES.get(number % 100, "queued" if number % 20 == 7 else "resolved")]
    )
    Lease.objects.bulk_create(
        Lease(
            task=task,
            holder=task.recipient,
            attempt=1,
            leased_at=task.sent_at,
            last_seen_at=task.sent_at,
            ended_at=None if task.state == "in_flight" else task.resolved_at or task.sent_at,
            end={"in_flight": None, "interrupted": "asked"}.get(task.state, "result"),
        )
        for task in tasks
        if task.attempt
    )
    Result.objects.bulk_create(
        Result(
            task=task,
            sender_id=task.sender_id,
            recipient_id=task.recipient_id,
            status=task.outcome or "ok",
            posted_at=task.resolved_at,
            delivery="acked",
            acked_at=task.resolved_at,
        )
        for task in tasks
        if task.resolved_at
    )
    error = {"fingerprint": "c0ffee00c0ffee00", "outcome": "error"}
    Failure.objects.bulk_create(
        Failure(task=task, agent_id=task.recipient_id, minute=minute_of(task.resolved_at), **error)
        for task in tasks
        if task.outcome == "error" and task.resolved_at
    )
    AuditEvent.objects.bulk_create(
        AuditEvent(
            kind={1: "a2a_repair_applied", 3: "agent_paused"}.get(number % 400, "capability_check"),
            actor="user:ana" if number % 400 == 1 else task.sender.display,
            actor_pubkey=None if number % 400 == 1 else task.sender.pubkey,
            source="dashboard" if number % 400 == 1 else "api",
            task_id=task.uuid,
            data="{}",
            at=task.sent_at,
        )
        for number, task in enumerate(tasks)
    )

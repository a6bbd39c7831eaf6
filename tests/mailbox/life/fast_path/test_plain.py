"""The plain case of each hot verb: the rows that it writes, its number of statements, and lost races."""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.database import managers
from mailbox.journal import task_entries
from mailbox.life import leasing, results, sending
from mailbox.life.fast_path import plain, postgresql, sqlite, statements
from mailbox.models import AuditEvent, CapabilityGrant, Lease, Result, Task
from mailbox.words.errors import CapabilityMissingError, TaskConflictError
from tests.support import factories

pytestmark = pytest.mark.django_db
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="this statement is PostgreSQL's")
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="these statements are SQLite's")

ATTEMPT = UUID(int=1)
OF_ITS_OWN = {"id", "pk", "uuid", "task_id", "task", "lease_id", "at"}


@pytest.fixture
def without(monkeypatch):
    """Leave every decision to the whole forms."""
    return lambda: monkeypatch.setattr(plain, "is_outermost", lambda: False)


def with_grants(caller: Caller) -> Caller:
    """Return the caller with its live grants, as the credential look-up reads both."""
    return replace(caller, grants=tuple(CapabilityGrant.objects.filter(subject=caller.agent)))


def texts_of(queries: CaptureQueriesContext) -> list[str]:
    return [query["sql"] for query in queries if "SAVEPOINT" not in (query["sql"] or "")]


def story(alice: Caller, bob: Caller, attempt_id: UUID | None) -> list[dict[str, object]]:
    """Take one task to its end; return every row of it, without the ids and times that differ each time."""
    parent = UUID(int=7)
    task = factories.sent_task(alice, bob, parent=parent, task_kind="sum", idempotency=factories.unsafe())
    (lease,) = leasing.lease_tasks(bob, attempt_id=attempt_id)
    posted = results.post_result(
        bob, factories.result_envelope(lease.task, lease_id=lease.lease_id, error_message='"quoted"')
    )
    (drained,) = results.drain_results(alice, attempt_id=attempt_id)
    assert (lease.task.uuid, lease.attempt, posted.task.uuid, drained.task.uuid) == (task.uuid, 1, task.uuid, task.uuid)
    assert drained.posted_at == posted.posted_at
    assert (lease.task.sender, lease.task.recipient, lease.holder) == (alice.agent, bob.agent, bob.agent)
    rows = [*AuditEvent.objects.order_by("pk"), Task.objects.get(), Lease.objects.get(), Result.objects.get()]
    ids = {str(task.uuid): "TASK", str(lease.lease_id): "LEASE"}
    return [described(row, ids) for row in rows]


def described(row: object, ids: dict[str, str]) -> dict[str, object]:
    fields = {name: value for name, value in vars(row).items() if name not in OF_ITS_OWN and not name.startswith("_")}
    text = {name: "a time" if name.endswith("_at") and value else str(value) for name, value in fields.items()}
    for given, name in ids.items():
        text = {key: value.replace(given, name) for key, value in text.items()}
    return {"of": type(row).__name__, **text}


@pytest.mark.parametrize("attempt_id", [None, ATTEMPT])
def test_both_forms_leave_the_same_rows(alice, bob, without, attempt_id):
    fast = story(with_grants(alice), with_grants(bob), attempt_id)
    for model in (Result, Lease, Task):
        model.objects.all().delete()

    without()
    slow = story(with_grants(alice), with_grants(bob), attempt_id)

    assert slow[len(fast) - 3 :] == fast


def test_the_hot_verbs_take_few_statements(alice, bob):
    alice, bob = with_grants(alice), with_grants(bob)

    with CaptureQueriesContext(connection) as sending_:
        sending.send_task(alice, factories.task_envelope(bob, id=uuid4()))
    with CaptureQueriesContext(connection) as leasing_:
        (lease,) = leasing.lease_tasks(bob)
    with CaptureQueriesContext(connection) as posting:
        results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
    with CaptureQueriesContext(connection) as draining:
        results.drain_results(alice)
    with CaptureQueriesContext(connection) as finding_nothing:
        assert [*leasing.lease_tasks(bob), *results.drain_results(alice)] == []

    counts = [len(texts_of(queries)) for queries in (sending_, leasing_, posting, draining, finding_nothing)]
    assert counts == ([1, 1, 2, 1, 2] if connection.vendor == "postgresql" else [4, 4, 5, 4, 3])


@pytest.mark.django_db(transaction=True)
def test_a_verb_inside_a_transaction_of_its_caller_is_refused(alice, bob):
    with transaction.atomic():
        assert plain.send_task(with_grants(alice), factories.task_envelope(bob)) is None
        with pytest.raises(RuntimeError, match="durable"):
            sending.send_task(with_grants(alice), factories.task_envelope(bob))

    assert not Task.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_send_outside_a_transaction_takes_the_fast_form(alice, bob):
    assert plain.send_task(with_grants(alice), factories.task_envelope(bob))


def test_the_public_key_decides_which_grant_covers_a_send(bob, mallory):
    carol = factories.agent("carol", "a2a.send.bob@local")
    named = replace(factories.ref(mallory), display="bob@local")

    with pytest.raises(CapabilityMissingError):
        sending.send_task(with_grants(carol), replace(factories.task_envelope(bob), recipient=named))


def test_a_check_of_a_send_by_display_names_the_grant_by_key(bob):
    carol = factories.agent("carol", f"a2a.send.{factories.row_of(bob).pubkey}", "a2a.send.*")
    named = replace(factories.ref(bob), pubkey=None)

    sending.send_task(with_grants(carol), replace(factories.task_envelope(bob), recipient=named))

    (check,) = factories.journal("capability_check")
    assert [by["action"] for by in check.fields["authorized_by"]] == [f"a2a.send.{factories.row_of(bob).pubkey}"]


def test_a_posted_result_has_the_attempt_of_its_task(alice, bob):
    lease = factories.leased_task(alice, bob)

    result = plain.post_result(with_grants(bob), factories.result_envelope(lease.task))

    assert result
    assert result.task.attempt == 1


def test_a_task_that_changed_since_it_was_read_keeps_its_state(alice, bob, monkeypatch):
    lease = factories.leased_task(alice, bob)
    look = plain._store().answerable

    def look_then_release(**values):
        seen = look(**values)
        leasing.release(bob, lease.task.uuid, reason="raced")
        return seen

    monkeypatch.setattr(plain._store(), "answerable", look_then_release)

    assert plain.post_result(with_grants(bob), factories.result_envelope(lease.task)) is None
    assert Task.objects.get().state == Task.State.QUEUED
    assert not Result.objects.exists()


@on_sqlite
def test_a_result_that_is_delivered_after_the_look_is_not_delivered_again(alice, bob, monkeypatch):
    factories.resolved_task(alice, bob)
    look = sqlite._read

    def look_then_drain(sql, values):
        seen = look(sql, values)
        results.drain_results(alice, limit=2)
        return seen

    monkeypatch.setattr(sqlite, "_read", look_then_drain)

    assert plain.drain_result(with_grants(alice), None) is None
    assert len(factories.journal("a2a_result_delivered")) == 1


@pytest.mark.django_db(transaction=True)
def test_a_send_under_a_compacted_id_takes_the_whole_form(alice, bob):
    task = factories.sent_task(alice, bob)
    Task.objects.all().delete()

    assert plain.send_task(with_grants(alice), factories.task_envelope(bob, id=task.uuid)) is None
    with pytest.raises(TaskConflictError):
        sending.send_task(with_grants(alice), factories.task_envelope(bob, id=task.uuid))
    assert not Task.objects.exists()


def test_a_lease_times_out_after_the_work_timeout_of_its_task(alice, bob):
    limit = timedelta(minutes=90)
    factories.sent_task(alice, bob, work_timeout=limit)

    leases = plain.lease_task(with_grants(bob), None)

    assert leases
    assert leases[0].times_out_at == leases[0].leased_at + limit
    assert leases[0].task.work_timeout == limit


@on_postgresql
@pytest.mark.parametrize("is_pending", [True, False])
def test_postgresql_looks_for_tasks_out_of_time_only_if_no_result_is_pending(alice, bob, is_pending):
    if is_pending:
        factories.resolved_task(alice, bob)
    change = plain.journalled(alice, task_entries.ResultDeliveredEntry(None), timezone.now())
    values = {
        "sender": factories.row_of(alice).pk,
        "attempt_id": None,
        "credential": "",
        "signing_key": None,
        "now_ms": 0,
        **change,
    }

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN ANALYZE {postgresql.statement('DRAIN')}", values)
        plan = [line for (line,) in cursor.fetchall()]

    for name in ("overdue", "timed_out"):
        (scan,) = (line for line in plan if f"CTE Scan on {name}" in line)
        assert ("never executed" in scan) is is_pending, plan
    # So no statistics let the planner begin with the tasks of the sender.
    assert re.search(r"CTE Scan on timed_out .*\n *Filter: .*SubPlan", "\n".join(plan)), plan


@on_sqlite
@pytest.mark.parametrize(
    ("sql", "indexes"),
    [
        (statements.QUEUED, {"task_lease_order", "lease_receive_attempt_unique"}),
        (statements.PENDING, {"result_pending_by_sender", "result_receive_attempt_unique"}),
        (sqlite.OUT_OF_TIME, {"task_open_by_deadline", "lease_live_by_timeout"}),
    ],
)
def test_sqlite_finds_the_next_row_by_its_index(sql, indexes):
    values: dict[str, Any] = {
        "holder": 1,
        "sender": 1,
        "now_ms": 1,
        "at": "2026-01-01 00:00:00",
        "attempt_id": ATTEMPT.hex,
    }

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sqlite.statement(sql)}", values)
        plan = str(cursor.fetchall())

    assert {name for name in indexes if name in plan} == indexes
    assert "TEMP B-TREE" not in plan


@on_sqlite
@pytest.mark.parametrize("read", [sqlite.Session.row, sqlite.Session.rows])
def test_an_error_while_sqlite_fetches_rows_is_one_of_django(read):
    overflow = "SELECT abs(column1) FROM (VALUES (1), (-9223372036854775808))"

    with managers.open_named() as cursor, pytest.raises(OperationalError, match="overflow"):
        read(sqlite.Session(cursor, {}, str), overflow)

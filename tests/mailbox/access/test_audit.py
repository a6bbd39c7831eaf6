import pytest
from django.db import DatabaseError, OperationalError, connection, transaction
from django.utils import timezone

from mailbox.access import audit
from mailbox.database.bell import ringing
from mailbox.journal import access_entries
from mailbox.life import leasing, sending
from mailbox.models import AuditEvent, Task
from mailbox.words.errors import CapabilityMissingError, TaskConflictError, WrongPartyError
from tests.support import factories

pytestmark = pytest.mark.django_db


class BrokenError(Exception):
    pass


@pytest.fixture
def event(alice):
    audit.note(alice, access_entries.AuthenticationFailedEntry("unknown", 1))
    return AuditEvent.objects.get()


def test_a_refused_check_leaves_its_row_and_no_change(mallory, bob):
    with pytest.raises(CapabilityMissingError):
        factories.sent_task(mallory, bob)

    assert not Task.objects.exists()
    assert [event.kind for event in AuditEvent.objects.all()] == ["capability_check"]


def test_a_change_that_is_rolled_back_leaves_no_row(alice, bob, monkeypatch):
    def fail(self):
        raise BrokenError

    monkeypatch.setattr(audit.Journal, "write", fail)
    with pytest.raises(BrokenError):
        factories.sent_task(alice, bob, idempotency=factories.idempotent())

    assert not Task.objects.exists()
    assert not AuditEvent.objects.exists()


def test_a_refused_change_leaves_no_row_of_the_check_it_passed(alice, bob):
    task = factories.sent_task(alice, bob)
    rows = factories.journal_length()

    with pytest.raises(TaskConflictError):
        factories.sent_task(alice, bob, id=task.uuid, intent_text="other")

    assert factories.journal_length() == rows


def test_all_rows_of_a_decision_have_the_same_time(alice, bob):
    lease = factories.leased_task(alice, bob)

    (leased,) = factories.journal("a2a_task_leased")
    assert leased.at == lease.leased_at == lease.last_seen_at


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="a SQLite connection does not end by itself")
def test_a_refusal_whose_session_ended_at_the_rollback_is_no_refusal(alice):
    def decide():
        with audit.decision(alice):
            connection.connection.close()
            raise WrongPartyError

    with pytest.raises(OperationalError, match="has ended"):
        decide()


def test_journal_rows_of_a_task_are_numbered_without_gaps(alice, bob, olga):
    lease = factories.leased_task(alice, bob)
    leasing.release(bob, lease.task.uuid, reason="busy")
    (again,) = leasing.lease_tasks(bob)
    leasing.heartbeat(bob, again.task.uuid)
    sending.cancel(alice, lease.task.uuid)

    task = Task.objects.get()
    assert len(factories.life_of(task)) == task.journal_seq == 5


def test_a_repeated_cancellation_writes_no_journal_row(alice, bob):
    task = factories.sent_task(alice, bob)
    sending.cancel(alice, task.uuid)
    sending.cancel(alice, task.uuid)

    assert factories.life_of(task) == ["a2a_task_sent", "a2a_task_cancelled"]


def test_a_decision_inside_another_transaction_is_refused(alice):
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"), audit.decision(alice):
        pass


@pytest.mark.parametrize(
    "change",
    [
        lambda event: AuditEvent.objects.update(actor="nobody"),
        lambda event: AuditEvent.objects.filter(pk=event.pk).update(data="{}"),
        lambda event: AuditEvent.objects.all().delete(),
        lambda event: event.delete(),
        lambda event: event.save(update_fields=["kind"]),
        lambda event: AuditEvent.objects.bulk_update([event], ["at"]),
    ],
    ids=["update all", "update one", "delete all", "delete one", "save", "bulk update"],
)
def test_the_journal_refuses_to_be_edited(event, change):
    before = AuditEvent.objects.values().get()

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        change(event)

    assert AuditEvent.objects.values().get() == before


def test_the_bell_rings_after_the_transaction_of_a_decision(alice, bob, monkeypatch):
    outside, rung = len(connection.atomic_blocks), []
    monkeypatch.setattr(ringing, "ring", lambda topics: rung.append(len(connection.atomic_blocks)))

    factories.sent_task(alice, bob, idempotency=factories.idempotent())

    assert rung == [outside]


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no TRUNCATE")
def test_the_journal_refuses_to_be_truncated(event):
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("TRUNCATE mailbox_auditevent")

    assert AuditEvent.objects.exists()


@pytest.mark.parametrize("verb", ["INSERT OR REPLACE", "REPLACE"])
@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL has no INSERT OR REPLACE")
def test_the_journal_refuses_to_be_replaced(event, verb):
    statement = (
        f"{verb} INTO mailbox_auditevent (id, kind, actor, data, at, request_id, source)"
        " VALUES (%s, 'forged', 'nobody', '{}', %s, '', 'api')"
    )

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, [event.pk, timezone.now()])

    assert AuditEvent.objects.get().kind == event.kind


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite spells it otherwise")
def test_an_upsert_cannot_edit_the_journal(event):
    statement = (
        "INSERT INTO mailbox_auditevent (id, kind, actor, data, at, request_id, source)"
        " VALUES (%s, 'forged', 'nobody', '{}', %s, '', 'api') ON CONFLICT (id) DO UPDATE SET kind = 'forged'"
    )

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, [event.pk, timezone.now()])

    assert AuditEvent.objects.get().kind == event.kind

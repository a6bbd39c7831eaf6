"""Tasks and messages of the version before conversations, under the tables of this version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from mailbox.life import results, updates
from mailbox.models import Message, Task
from mailbox.words.conversation import Update
from tests.support import factories
from tests.support.databases import url_of_the_tests_database

pytestmark = pytest.mark.django_db(transaction=True)

NAMES = ("0038_conversations", "0039_indexes_of_conversations", "0040_indexes_of_questions")
OF_QUESTIONS = {"task_questions_of", "task_questions_to"}
INDEXES = {"task_open_by_deadline", "task_interrupted", "task_by_status_time", *OF_QUESTIONS}


@contextmanager
def migrating() -> Iterator[None]:
    """Unapply the migrations for the block, and apply them to the rows that the block leaves."""
    backwards()
    try:
        yield
    finally:
        for name in NAMES:
            migration = import_module(f"mailbox.migrations.{name}").Migration(name, "mailbox")
            before = MigrationLoader(connection).project_state(("mailbox", name), at_end=False)
            with connection.schema_editor(atomic=migration.atomic) as editor:
                migration.apply(before, editor)


def backwards() -> None:
    for name in reversed(NAMES):
        migration = import_module(f"mailbox.migrations.{name}").Migration(name, "mailbox")
        before = MigrationLoader(connection).project_state(("mailbox", name), at_end=False)
        with connection.schema_editor(atomic=migration.atomic) as editor:
            migration.unapply(before, editor)


def test_rows_of_the_version_before_take_the_defaults(alice, bob):
    lease = factories.leased_task(alice, bob)
    updates.post_updates(bob, lease.task.uuid, [Update(progress=0.5)])
    with migrating():  # which deletes the new columns
        pass

    task, message = Task.objects.get(), Message.objects.get()
    assert (task.awaits, task.status_at, task.turn) == (None, None, 1)
    assert (task.converses, task.reads_result, task.is_direct) == (False, False, False)
    assert (message.role, message.message_id, message.extra) == ("agent", "", "{}")
    assert results.post_result(bob, factories.result_envelope(task)).delivery == "pending"


def test_the_migrations_leave_the_indexes_of_the_models_and_no_other(alice):
    with migrating():
        assert indexes() & INDEXES == set()
        assert "task_queued_by_deadline" in indexes()

    assert indexes() >= {*INDEXES, "task_one_leader_per_cache_key"}
    assert indexes() & {"task_queued_by_deadline", "task_next_leader_per_cache_key"} == set()


@pytest.mark.parametrize(
    ("state", "awaits"), [("interrupted", None), ("queued", "input"), ("interrupted", "money"), ("interrupted", "")]
)
def test_a_task_awaits_something_exactly_while_it_is_interrupted(alice, bob, state, awaits):
    task = factories.sent_task(alice, bob)
    with migrating():
        pass

    with pytest.raises(IntegrityError), transaction.atomic():
        Task.objects.filter(pk=task.pk).update(state=state, awaits=awaits)
    assert Task.objects.filter(pk=task.pk).update(state="interrupted", awaits="authorization") == 1


def test_the_migration_is_not_undone_while_a_task_is_interrupted(alice, bob):
    task = factories.sent_task(alice, bob)
    Task.objects.filter(pk=task.pk).update(state="interrupted", awaits="input")

    with pytest.raises(RuntimeError, match="1 tasks are interrupted"):
        backwards()

    for name in NAMES[1:]:
        import_module(f"mailbox.migrations.{name}").forwards(None, connection.schema_editor())
    assert indexes() >= INDEXES


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL keeps plans between transactions")
def test_no_session_of_the_version_before_keeps_a_plan_of_the_old_columns():
    """A kept plan would be refused as of another type, which the version before reports as its own failure."""
    import psycopg

    with migrating():
        before = psycopg.connect(url_of_the_tests_database(), autocommit=True)
        before.execute("SELECT state FROM mailbox_task", prepare=True)
    with pytest.raises(psycopg.OperationalError, match="terminating connection"):
        before.execute("SELECT state FROM mailbox_task", prepare=True)
    before.close()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL keeps plans between transactions")
def test_a_session_that_was_busy_during_the_change_is_ended_after_it_and_a_later_session_is_not():
    import psycopg

    with migrating():
        before = psycopg.connect(url_of_the_tests_database(), autocommit=True)
        before.execute("SELECT state FROM mailbox_task", prepare=True)
        before.execute("BEGIN")
        before.execute("SELECT 1")
        applied_now()
    with pytest.raises(psycopg.OperationalError, match="terminating connection"):
        before.execute("SELECT 1")
    before.close()
    with psycopg.connect(url_of_the_tests_database(), autocommit=True) as later:
        import_module(f"mailbox.migrations.{NAMES[1]}").end_old_sessions(connection)
        assert later.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has sessions")
def test_a_role_without_the_right_to_end_a_session_logs_its_role(caplog):
    import psycopg

    with psycopg.connect(url_of_the_tests_database(), autocommit=True) as before, connection.cursor() as cursor:
        applied_now()
        cursor.execute("CREATE ROLE a2a_migrator; GRANT SELECT ON django_migrations TO a2a_migrator")
        cursor.execute("SET ROLE a2a_migrator")
        try:
            import_module(f"mailbox.migrations.{NAMES[1]}").end_old_sessions(connection)
        finally:
            cursor.execute("RESET ROLE; DROP OWNED BY a2a_migrator; DROP ROLE a2a_migrator")
        assert before.execute("SELECT current_user").fetchone() is not None
    assert "Restart each hub of the version before" in caplog.text


def applied_now() -> None:
    MigrationRecorder.Migration.objects.filter(app="mailbox", name=NAMES[0]).update(applied=timezone.now())


def indexes() -> set[str]:
    with connection.cursor() as cursor:
        return set(connection.introspection.get_constraints(cursor, "mailbox_task"))


def test_a_restore_builds_the_indexes_in_its_own_transaction(alice):
    module = import_module(f"mailbox.migrations.{NAMES[1]}")
    with transaction.atomic():
        module.backwards(None, connection.schema_editor())
        module.forwards(None, connection.schema_editor())

    assert indexes() >= {*INDEXES, "task_one_leader_per_cache_key"}

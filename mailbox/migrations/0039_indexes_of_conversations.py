from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import ProgrammingError, migrations, models, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

logger = logging.getLogger(__name__)

OPEN = "state IN ('queued', 'interrupted') AND deadline_ms IS NOT NULL"
UNRESOLVED = "state IN ('queued', 'in_flight', 'interrupted')"
LEADERS = "(cache_key) WHERE {states} AND waits_on_id IS NULL AND cache_key IS NOT NULL"

# Each index by its name, as the columns and the condition. The second table is that of the version before.
NEW = {
    "task_open_by_deadline": f"(deadline_ms) WHERE {OPEN}",
    "task_interrupted": "(id) WHERE state = 'interrupted'",
    "task_by_status_time": "(sender_id, recipient_id, status_at DESC, id DESC) WHERE dialect = 'a2a'",
}
OLD = {"task_queued_by_deadline": "(deadline_ms) WHERE state = 'queued' AND deadline_ms IS NOT NULL"}
# The unique index of leaders keeps its name. The new index is built beside it and then takes the name.
LEADER = "task_one_leader_per_cache_key"
NEXT_LEADER = "task_next_leader_per_cache_key"

# Sessions from before the change of the state's type, of any role. The age of that change is measured by one clock, as
# the clocks of two machines differ. A role may see nothing of another role's session but its name.
OLD_SESSIONS = """
SELECT pid, usename FROM pg_stat_activity
WHERE datname = current_database() AND usename IS NOT NULL AND pid <> pg_backend_pid()
  AND coalesce(backend_type, 'client backend') = 'client backend'
  AND (backend_start IS NULL OR backend_start < clock_timestamp() - %s)"""


def forwards(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql" and not editor.connection.in_atomic_block:
        end_old_sessions(editor.connection)
    _change(editor, NEW, LEADERS.format(states=UNRESOLVED), OLD)


def end_old_sessions(connection: Any) -> None:
    """End the sessions that the migration before left, as they were busy. Log the roles whose sessions must stay.

    A later run ends no session that began since. A restore does not call it, as no session has seen its tables.
    """
    applied = MigrationRecorder(connection).migration_qs.filter(app="mailbox", name="0038_conversations").first()
    if applied is None:
        return
    with connection.cursor() as cursor:
        cursor.execute(OLD_SESSIONS, [timezone.now() - applied.applied])
        left = {role for pid, role in cursor.fetchall() if not _ended(cursor, pid)}
    if left:
        logger.warning(
            "Sessions of %s were left, as this role may not end them. Restart each hub of the version before that "
            "uses such a role.",
            ", ".join(sorted(left)),
        )


def _ended(cursor: Any, pid: int) -> bool:
    try:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    except ProgrammingError:  # no permission
        return False
    return True


def backwards(apps: Any, editor: Any) -> None:
    _change(editor, OLD, LEADERS.format(states="state IN ('queued', 'in_flight')"), NEW)


def _change(editor: Any, wanted: Mapping[str, str], leaders: str, unwanted: Mapping[str, str]) -> None:
    """Build the wanted indexes while others write, and drop the unwanted indexes. A broken run can be repeated."""
    alias = editor.connection.alias
    if editor.connection.vendor != "postgresql":  # a writer of SQLite holds the database to itself anyway
        with transaction.atomic(using=alias):
            _drop(editor, [*unwanted, LEADER])
            _build(editor, {**wanted, LEADER: leaders})
        return
    # A restore migrates an older backup in its own transaction, where no other session writes.
    how = "" if editor.connection.in_atomic_block else "CONCURRENTLY"
    editor.execute("ALTER TABLE mailbox_task VALIDATE CONSTRAINT task_awaits_iff_interrupted")
    _build(editor, {**wanted, NEXT_LEADER: leaders}, how)
    with transaction.atomic(using=alias):
        _drop(editor, [LEADER])
        editor.execute(f"ALTER INDEX {NEXT_LEADER} RENAME TO {LEADER}")
    _drop(editor, unwanted, how)


def _build(editor: Any, indexes: Mapping[str, str], how: str = "") -> None:
    _drop(editor, indexes, how)  # PostgreSQL keeps an invalid index of a run that was broken off
    for name, text in indexes.items():
        unique = "UNIQUE" if name in (LEADER, NEXT_LEADER) else ""
        editor.execute(f"CREATE {unique} INDEX {how} {name} ON mailbox_task {text}")


def _drop(editor: Any, names: Iterable[str], how: str = "") -> None:
    for name in names:
        editor.execute(f"DROP INDEX {how} IF EXISTS {name}")


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds an index beside other writers only outside a transaction

    dependencies = [("mailbox", "0038_conversations")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(forwards, backwards, atomic=False)],
            state_operations=[
                migrations.RemoveConstraint("task", LEADER),
                migrations.AddConstraint(
                    "task",
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("cache_key__isnull", False),
                            ("state__in", ["queued", "in_flight", "interrupted"]),
                            ("waits_on", None),
                        ),
                        fields=("cache_key",),
                        name=LEADER,
                    ),
                ),
                migrations.RemoveIndex("task", "task_queued_by_deadline"),
                migrations.AddIndex(
                    "task",
                    models.Index(
                        condition=models.Q(
                            ("deadline_ms__isnull", False), ("state__in", ["queued", "interrupted"])
                        ),
                        fields=["deadline_ms"],
                        name="task_open_by_deadline",
                    ),
                ),
                migrations.AddIndex(
                    "task",
                    models.Index(
                        condition=models.Q(("state", "interrupted")), fields=["id"], name="task_interrupted"
                    ),
                ),
                migrations.AddIndex(
                    "task",
                    models.Index(
                        condition=models.Q(("dialect", "a2a")),
                        fields=["sender", "recipient", "-status_at", "-id"],
                        name="task_by_status_time",
                    ),
                ),
            ],
        )
    ]

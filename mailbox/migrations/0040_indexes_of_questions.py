from __future__ import annotations

from typing import Any

from django.db import migrations, models

OPEN = "state = 'interrupted'"
INDEXES = {
    "task_questions_of": f"(recipient_id, status_at) WHERE {OPEN}",
    "task_questions_to": f"(sender_id, status_at) WHERE {OPEN}",
}


def forwards(apps: Any, editor: Any) -> None:
    """Build the indexes while others write. A broken run can be repeated."""
    how = _how(editor)
    backwards(apps, editor)  # PostgreSQL keeps an invalid index of a run that was broken off
    for name, text in INDEXES.items():
        editor.execute(f"CREATE INDEX {how} {name} ON mailbox_task {text}")


def backwards(apps: Any, editor: Any) -> None:
    how = _how(editor)
    for name in INDEXES:
        editor.execute(f"DROP INDEX {how} IF EXISTS {name}")


def _how(editor: Any) -> str:
    # A restore migrates an older backup in its own transaction, where no other session writes.
    is_alone = editor.connection.in_atomic_block
    return "CONCURRENTLY" if editor.connection.vendor == "postgresql" and not is_alone else ""


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds an index beside other writers only outside a transaction

    dependencies = [("mailbox", "0039_indexes_of_conversations")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(forwards, backwards, atomic=False)],
            state_operations=[
                migrations.AddIndex(
                    "task",
                    models.Index(
                        condition=models.Q(("state", "interrupted")),
                        fields=["recipient", "status_at"],
                        name="task_questions_of",
                    ),
                ),
                migrations.AddIndex(
                    "task",
                    models.Index(
                        condition=models.Q(("state", "interrupted")),
                        fields=["sender", "status_at"],
                        name="task_questions_to",
                    ),
                ),
            ],
        )
    ]

from __future__ import annotations

from typing import Any

from django.db import migrations, models

NAME = "task_newest_children"


def forwards(apps: Any, editor: Any) -> None:
    """Build the index while others write. A broken run can be repeated."""
    backwards(apps, editor)  # PostgreSQL keeps an invalid index of a run that was broken off
    editor.execute(f"CREATE INDEX {_how(editor)} {NAME} ON mailbox_task (id) WHERE parent IS NOT NULL")


def backwards(apps: Any, editor: Any) -> None:
    editor.execute(f"DROP INDEX {_how(editor)} IF EXISTS {NAME}")


def _how(editor: Any) -> str:
    # A restore migrates an older backup in its own transaction, where no other session writes.
    is_alone = editor.connection.in_atomic_block
    return "CONCURRENTLY" if editor.connection.vendor == "postgresql" and not is_alone else ""


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds an index beside other writers only outside a transaction

    dependencies = [("mailbox", "0048_depths_by_minute")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(forwards, backwards, atomic=False)],
            state_operations=[
                migrations.AddIndex(
                    "task",
                    models.Index(condition=models.Q(("parent__isnull", False)), fields=["id"], name=NAME),
                ),
            ],
        )
    ]

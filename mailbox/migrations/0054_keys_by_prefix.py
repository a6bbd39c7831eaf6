from __future__ import annotations

from typing import Any

from django.db import migrations, models

BEFORE, NAME = "task_by_idempotency_key", "task_by_key_or_prefix"
INDEX = models.Index(
    condition=models.Q(("idempotency_key__isnull", False)),
    fields=["idempotency_key", "-id"],
    name=NAME,
    opclasses=["varchar_pattern_ops", "int8_ops"],
)


def forwards(apps: Any, editor: Any) -> None:
    """Build the index while others write, then drop the one before. A broken run can be repeated."""
    _drop(editor, NAME)  # PostgreSQL keeps an invalid index of a run that was broken off
    _build(editor, NAME, "varchar_pattern_ops")
    _drop(editor, BEFORE)


def backwards(apps: Any, editor: Any) -> None:
    _drop(editor, BEFORE)
    _build(editor, BEFORE, "")
    _drop(editor, NAME)


def _build(editor: Any, name: str, opclass: str) -> None:
    kind = opclass if editor.connection.vendor == "postgresql" else ""
    editor.execute(
        f"CREATE INDEX {_how(editor)} {name} ON mailbox_task (idempotency_key {kind}, id DESC)"
        " WHERE idempotency_key IS NOT NULL"
    )


def _drop(editor: Any, name: str) -> None:
    editor.execute(f"DROP INDEX {_how(editor)} IF EXISTS {name}")


def _how(editor: Any) -> str:
    # A restore migrates an older backup in its own transaction, where no other session writes.
    is_alone = editor.connection.in_atomic_block
    return "CONCURRENTLY" if editor.connection.vendor == "postgresql" and not is_alone else ""


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds an index beside other writers only outside a transaction

    dependencies = [("mailbox", "0053_saved_views")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(forwards, backwards, atomic=False)],
            state_operations=[migrations.RemoveIndex("task", BEFORE), migrations.AddIndex("task", INDEX)],
        )
    ]

from __future__ import annotations

from typing import Any

from django.db import migrations, models

INDEXES = {
    "push_event_unique": "UNIQUE INDEX {how} push_event_unique ON mailbox_pushdelivery (config_id, seq, part) "
    "WHERE config_id IS NOT NULL",
    "push_telling": "INDEX {how} push_telling ON mailbox_pushdelivery (id DESC) WHERE state = 'telling'",
}


def forwards(apps: Any, editor: Any) -> None:
    """Build the indexes while others write. A broken run can be repeated."""
    backwards(apps, editor)  # PostgreSQL keeps an invalid index of a run that was broken off
    for text in INDEXES.values():
        editor.execute(f"CREATE {text.format(how=_how(editor))}")


def backwards(apps: Any, editor: Any) -> None:
    for name in INDEXES:
        editor.execute(f"DROP INDEX {_how(editor)} IF EXISTS {name}")


def _how(editor: Any) -> str:
    # A restore migrates an older backup in its own transaction, where no other session writes.
    is_alone = editor.connection.in_atomic_block
    return "CONCURRENTLY" if editor.connection.vendor == "postgresql" and not is_alone else ""


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds an index beside other writers only outside a transaction

    dependencies = [("mailbox", "0042_webhooks")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(forwards, backwards, atomic=False)],
            state_operations=[
                migrations.AddConstraint(
                    "pushdelivery",
                    models.UniqueConstraint(
                        condition=models.Q(("config__isnull", False)),
                        fields=("config", "seq", "part"),
                        name="push_event_unique",
                    ),
                ),
                migrations.AddIndex(
                    "pushdelivery",
                    models.Index(condition=models.Q(("state", "telling")), fields=["-id"], name="push_telling"),
                ),
            ],
        )
    ]

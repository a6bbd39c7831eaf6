from __future__ import annotations

from typing import Any

from django.db import migrations, models

# A constant default adds a column without a rewrite of the table. Django's own operation would rebuild it on SQLite.
COLUMNS = {
    "mailbox_result": "has_more boolean NOT NULL DEFAULT false",
    "mailbox_replayentry": "parts text NOT NULL DEFAULT '{}'",
}


def add(apps: Any, editor: Any) -> None:
    for table, column in COLUMNS.items():
        editor.execute(f"ALTER TABLE {table} ADD COLUMN {column}")


def remove(apps: Any, editor: Any) -> None:
    for table, column in COLUMNS.items():
        editor.execute(f"ALTER TABLE {table} DROP COLUMN {column.partition(' ')[0]}")


class Migration(migrations.Migration):
    dependencies = [("mailbox", "0040_indexes_of_questions")]

    operations = [
        migrations.RunPython(add, remove),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddField("result", "has_more", models.BooleanField(db_default=False, default=False)),
                migrations.AddField("replayentry", "parts", models.TextField(db_default="{}", default="{}")),
            ]
        ),
    ]

from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

# A constant default adds a column without a rewrite of the table. Django's own operation would rebuild it on SQLite.
TASK_COLUMNS = {
    "converses": "boolean NOT NULL DEFAULT false",
    "reads_result": "boolean NOT NULL DEFAULT false",
    "turn": "integer NOT NULL DEFAULT 1",
    "is_direct": "boolean NOT NULL DEFAULT false",
}
MESSAGE_COLUMNS = {
    "role": "varchar(5) NOT NULL DEFAULT 'agent'",
    "message_id": "text NOT NULL DEFAULT ''",
    "extra": "text NOT NULL DEFAULT '{}'",
}
AWAITS_IFF_INTERRUPTED = """CONSTRAINT task_awaits_iff_interrupted CHECK (
    (state = 'interrupted' AND awaits IS NOT NULL AND awaits IN ('input', 'authorization'))
    OR (NOT (state = 'interrupted') AND awaits IS NULL))"""

# PostgreSQL refuses a prepared statement whose result changed its type, as the state's length does. The version before
# has prepared such statements, and would answer 500. So its idle sessions end, and those that wait for this migration.
# Its pool then opens new sessions, and a request that lost its session is answered 503.
END_OLD_SESSIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
  AND backend_type = 'client backend' AND (state = 'idle' OR pg_backend_pid() = ANY (pg_blocking_pids(pid)))"""


def add(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        # The next migration validates the constraint. SQLite ignores the length of a column, so the state needs no
        # change there.
        editor.execute(f"""
            ALTER TABLE mailbox_task ALTER COLUMN state TYPE varchar(12), ADD COLUMN awaits varchar(13) NULL,
            ADD COLUMN status_at timestamp with time zone NULL,
            {", ".join(f"ADD COLUMN {name} {kind}" for name, kind in TASK_COLUMNS.items())},
            ADD {AWAITS_IFF_INTERRUPTED} NOT VALID""")
        editor.execute(END_OLD_SESSIONS)
    else:
        editor.execute(f"ALTER TABLE mailbox_task ADD COLUMN awaits varchar(13) NULL {AWAITS_IFF_INTERRUPTED}")
        editor.execute("ALTER TABLE mailbox_task ADD COLUMN status_at datetime NULL")
        for name, kind in TASK_COLUMNS.items():
            editor.execute(f"ALTER TABLE mailbox_task ADD COLUMN {name} {kind}")
    for name, kind in MESSAGE_COLUMNS.items():
        editor.execute(f"ALTER TABLE mailbox_message ADD COLUMN {name} {kind}")


def remove(apps: Any, editor: Any) -> None:
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM mailbox_task WHERE state = 'interrupted'")
        if left := cursor.fetchone()[0]:
            raise RuntimeError(f"{left} tasks are interrupted. Answer or cancel them before this migration is undone.")
    if editor.connection.vendor == "postgresql":
        editor.execute("ALTER TABLE mailbox_task DROP CONSTRAINT task_awaits_iff_interrupted")
        editor.execute("ALTER TABLE mailbox_task ALTER COLUMN state TYPE varchar(10)")
        editor.execute(END_OLD_SESSIONS)
    for name in ("awaits", "status_at", *TASK_COLUMNS):
        editor.execute(f"ALTER TABLE mailbox_task DROP COLUMN {name}")
    for name in MESSAGE_COLUMNS:
        editor.execute(f"ALTER TABLE mailbox_message DROP COLUMN {name}")


class Migration(migrations.Migration):
    dependencies = [("mailbox", "0037_erasure")]

    operations = [
        migrations.RunPython(add, remove),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    "task",
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("in_flight", "In Flight"),
                            ("interrupted", "Interrupted"),
                            ("resolved", "Resolved"),
                        ],
                        default="queued",
                        max_length=12,
                    ),
                ),
                migrations.AddField(
                    "task",
                    "awaits",
                    models.CharField(
                        choices=[("input", "Input"), ("authorization", "Authorization")], max_length=13, null=True
                    ),
                ),
                migrations.AddField("task", "converses", models.BooleanField(db_default=False, default=False)),
                migrations.AddField("task", "reads_result", models.BooleanField(db_default=False, default=False)),
                migrations.AddField("task", "turn", models.IntegerField(db_default=1, default=1)),
                migrations.AddField("task", "status_at", models.DateTimeField(null=True)),
                migrations.AddField("task", "is_direct", models.BooleanField(db_default=False, default=False)),
                migrations.AddConstraint(
                    "task",
                    models.CheckConstraint(
                        condition=models.Q(
                            ("awaits__in", ["input", "authorization"]),
                            ("awaits__isnull", False),
                            ("state", "interrupted"),
                        )
                        | models.Q(models.Q(("state", "interrupted"), _negated=True), ("awaits", None)),
                        name="task_awaits_iff_interrupted",
                    ),
                ),
                migrations.AddField(
                    "message",
                    "role",
                    models.CharField(
                        choices=[("agent", "Agent"), ("user", "User")],
                        db_default="agent",
                        default="agent",
                        max_length=5,
                    ),
                ),
                migrations.AddField("message", "message_id", models.TextField(blank=True, db_default="", default="")),
                migrations.AddField("message", "extra", models.TextField(db_default="{}", default="{}")),
            ]
        ),
        migrations.AlterField(
            "lease",
            "end",
            models.CharField(
                choices=[
                    ("result", "Result"),
                    ("requeue", "Requeue"),
                    ("auto_requeue", "Auto Requeue"),
                    ("force_error", "Force Error"),
                    ("release", "Release"),
                    ("cancel", "Cancel"),
                    ("expired", "Expired"),
                    ("asked", "Asked"),
                ],
                max_length=20,
                null=True,
            ),
        ),
        migrations.CreateModel(
            "Artifact",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seq", models.PositiveIntegerField()),
                ("artifact_id", models.CharField(max_length=500)),
                ("append", models.BooleanField()),
                ("last_chunk", models.BooleanField()),
                ("content", models.TextField()),
                ("extra", models.TextField(default="{}")),
                ("said_at", models.DateTimeField()),
                ("post_attempt_id", models.UUIDField(null=True)),
                (
                    "task",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="artifacts",
                        to="mailbox.task",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("post_attempt_id__isnull", False)),
                        fields=["task", "post_attempt_id"],
                        name="artifact_by_attempt",
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("task", "seq"), name="artifact_seq_unique")],
            },
        ),
    ]

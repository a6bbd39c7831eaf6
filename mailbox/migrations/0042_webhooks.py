from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

# The version before deletes webhooks with their task and does not know that deliveries name them.
CONFIG = "config_id bigint NULL REFERENCES mailbox_pushconfig (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED"


def add(apps: Any, editor: Any) -> None:
    editor.execute(f"ALTER TABLE mailbox_pushdelivery ADD COLUMN {CONFIG}")


def remove(apps: Any, editor: Any) -> None:
    editor.execute("ALTER TABLE mailbox_pushdelivery DROP COLUMN config_id")


def drop_webhooks(apps: Any, editor: Any) -> None:
    """Delete the webhooks and their pending events: the version before cannot send them, and has one row a task."""
    alias = editor.connection.alias
    deliveries = apps.get_model("mailbox", "PushDelivery").objects.using(alias).filter(seq__isnull=False)
    deliveries.exclude(state="delivered").delete()
    apps.get_model("mailbox", "PushConfig").objects.using(alias).exclude(protocol="callback").delete()


class Migration(migrations.Migration):
    dependencies = [("mailbox", "0041_whole_results")]

    operations = [
        migrations.AlterField(
            "pushconfig",
            "task",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="push_configs",
                to="mailbox.task",
            ),
        ),
        migrations.AddField(
            "pushconfig", "config_id", models.CharField(blank=True, db_default="", default="", max_length=200)
        ),
        migrations.AddField(
            "pushconfig",
            "protocol",
            models.CharField(
                choices=[("callback", "Callback"), ("1.0", "V1 0"), ("0.3", "V0 3")],
                db_default="callback",
                default="callback",
                max_length=8,
            ),
        ),
        migrations.AddField("pushconfig", "sealed_token", models.TextField(null=True)),
        migrations.AddField("pushconfig", "auth_scheme", models.TextField(null=True)),
        migrations.AddField("pushconfig", "sealed_credentials", models.TextField(null=True)),
        migrations.AddField("pushconfig", "told_seq", models.PositiveIntegerField(db_default=0, default=0)),
        migrations.AddField("pushconfig", "told_part", models.PositiveSmallIntegerField(db_default=2, default=2)),
        migrations.AddField("pushconfig", "next_attempt_at", models.DateTimeField(null=True)),
        migrations.AddField("pushconfig", "failures", models.PositiveIntegerField(db_default=0, default=0)),
        migrations.AddField("pushconfig", "disabled_at", models.DateTimeField(null=True)),
        migrations.AddField("pushconfig", "created_at", models.DateTimeField(null=True)),
        migrations.AddConstraint(
            "pushconfig", models.UniqueConstraint(fields=("task", "config_id"), name="push_config_id_unique")
        ),
        migrations.AddIndex(
            "pushconfig",
            models.Index(
                condition=models.Q(("next_attempt_at__isnull", False)),
                fields=["next_attempt_at"],
                name="push_config_open",
            ),
        ),
        migrations.AlterField(
            "pushdelivery",
            "state",
            models.CharField(
                choices=[
                    ("pending", "Pending"),
                    ("telling", "Telling"),
                    ("delivered", "Delivered"),
                    ("disabled", "Disabled"),
                ],
                default="pending",
                max_length=10,
            ),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(add, remove)],
            state_operations=[
                migrations.AddField(
                    "pushdelivery",
                    "config",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="deliveries",
                        to="mailbox.pushconfig",
                    ),
                )
            ],
        ),
        migrations.AddField("pushdelivery", "seq", models.PositiveIntegerField(null=True)),
        migrations.AddField("pushdelivery", "part", models.PositiveSmallIntegerField(null=True)),
        migrations.RunPython(migrations.RunPython.noop, drop_webhooks),
    ]

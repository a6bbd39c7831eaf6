from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("mailbox", "0046_alerts")]

    operations = [
        migrations.CreateModel(
            "failure",
            fields=[
                (
                    "task",
                    models.OneToOneField(
                        "mailbox.task",
                        django.db.models.deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        related_name="failure",
                        db_constraint=False,
                    ),
                ),
                (
                    "agent",
                    models.ForeignKey(
                        "mailbox.agent", django.db.models.deletion.PROTECT, related_name="+", db_index=False
                    ),
                ),
                ("fingerprint", models.CharField(max_length=16)),
                ("outcome", models.CharField(max_length=10)),
                ("minute", models.IntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["minute"], name="failure_by_minute"),
                    models.Index(fields=["agent", "minute"], name="failure_by_agent"),
                    models.Index(fields=["fingerprint", "task"], name="failure_by_fingerprint"),
                    models.Index(fields=["fingerprint", "minute"], name="failure_by_print_and_minute"),
                ]
            },
        ),
        migrations.AddField("rollupturn", "filed_to", models.BigIntegerField(default=0, db_default=0)),
    ]

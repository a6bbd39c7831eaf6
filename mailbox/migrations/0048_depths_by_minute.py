from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("mailbox", "0047_failures"),
    ]

    operations = [
        migrations.CreateModel(
            name="Depth",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("minute", models.DateTimeField()),
                ("queued", models.PositiveIntegerField()),
                ("leased", models.PositiveIntegerField()),
                ("stale", models.PositiveIntegerField()),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=models.CASCADE,
                        related_name="+",
                        to="mailbox.agent",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["minute"], name="depth_minute")],
                "constraints": [
                    models.UniqueConstraint(fields=("agent", "minute"), name="depth_once_per_agent_and_minute"),
                    models.UniqueConstraint(
                        condition=models.Q(("agent", None)), fields=("minute",), name="depth_once_per_minute"
                    ),
                ],
            },
        ),
    ]

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

AGENT = {"on_delete": django.db.models.deletion.CASCADE, "related_name": "+", "db_index": False}


class Migration(migrations.Migration):
    dependencies = [("mailbox", "0051_words")]

    operations = [
        migrations.CreateModel(
            "paircount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("span", models.PositiveSmallIntegerField()),
                ("slot", models.IntegerField()),
                ("sender", models.ForeignKey("mailbox.agent", **AGENT)),
                ("recipient", models.ForeignKey("mailbox.agent", **AGENT)),
                ("sent", models.PositiveIntegerField(default=0)),
                ("results", models.PositiveIntegerField(default=0)),
                ("errors", models.PositiveIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["span", "slot", "sender", "recipient"], name="pair_count_unique")
                ]
            },
        ),
        *(
            migrations.AddField("rollupturn", name, models.BigIntegerField(default=0, db_default=0))
            for name in ("paired_task", "paired_result")
        ),
    ]

from __future__ import annotations

from django.db import migrations, models

COUNTS = ("queued_in", "leased", "ok", "partial", "error", "replayed")
LATENCIES = ("waits", "runs")


class Migration(migrations.Migration):
    dependencies = [("mailbox", "0043_indexes_of_webhooks")]

    operations = [
        *(
            migrations.AddField("rollupturn", name, models.PositiveBigIntegerField(default=0, db_default=0))
            for name in COUNTS
        ),
        *(
            migrations.AddField("rollupturn", name, models.TextField(default="{}", db_default="{}"))
            for name in LATENCIES
        ),
    ]

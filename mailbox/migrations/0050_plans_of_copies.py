from __future__ import annotations

from django.db import migrations, models

VERBS = [("requeue", "Requeue"), ("force_error", "Force Error"), ("send_again", "Send Again")]


class Migration(migrations.Migration):
    dependencies = [("mailbox", "0049_index_of_trees")]

    operations = [
        migrations.AlterField("repairplan", "verb", models.CharField(choices=VERBS, max_length=20)),
        migrations.AlterField("repairplanrow", "lease_id", models.UUIDField(null=True)),
        migrations.AddConstraint(
            "repairplanrow",
            models.UniqueConstraint(
                fields=["plan", "task_id"], name="repair_plan_copy_unique", condition=models.Q(lease_id=None)
            ),
        ),
    ]

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("mailbox", "0045_staff_follows_the_group")]

    operations = [
        migrations.CreateModel(
            name="Alert",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=300, unique=True)),
                ("subject", models.TextField()),
                ("text", models.TextField()),
                ("path", models.TextField()),
                ("began_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                ("reported_at", models.DateTimeField(null=True)),
                ("claimed_until", models.DateTimeField(null=True)),
                ("error", models.TextField(blank=True)),
            ],
        ),
    ]

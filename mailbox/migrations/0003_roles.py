from __future__ import annotations

from typing import Any

from django.db import migrations

ROLES = ("viewer", "operator", "admin")


def create(apps: Any, schema_editor: Any) -> None:
    group = apps.get_model("auth", "Group")
    for name in ROLES:
        group.objects.get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = [("mailbox", "0002_append_only_journal"), ("auth", "0012_alter_user_first_name_max_length")]

    operations = [migrations.RunPython(create, migrations.RunPython.noop)]

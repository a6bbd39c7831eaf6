from __future__ import annotations

from typing import Any

from django.db import migrations


def let_admins_in(apps: Any, schema_editor: Any) -> None:
    """Let each member of the group admin open Django's admin. Versions before 1.1 needed a mark besides the group."""
    people = apps.get_model("auth", "User").objects.using(schema_editor.connection.alias)
    people.filter(groups__name="admin", is_staff=False).update(is_staff=True)


class Migration(migrations.Migration):
    dependencies = [
        ("mailbox", "0001_squashed_0044_sums_of_all_minutes"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [migrations.RunPython(let_admins_in, migrations.RunPython.noop)]

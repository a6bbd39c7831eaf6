"""Rename the jobs on the timetable of the task cluster."""

from collections.abc import Callable

from django.db import migrations

BEFORE, NOW = "mailbox.schedule.", "mailbox.background.jobs."


def renamed(old: str, new: str) -> Callable:
    def rename(apps, schema_editor) -> None:
        for row in apps.get_model("django_q", "Schedule").objects.filter(func__startswith=old):
            func = new + row.func.removeprefix(old)
            row.name = func if row.name == row.func else row.name
            row.func = func
            row.save(update_fields=["func", "name"])

    return rename


class Migration(migrations.Migration):
    dependencies = [
        ("django_q", "0014_schedule_cluster"),
        ("mailbox", "0024_the_list_a_plan_was_picked_from"),
    ]
    operations = [migrations.RunPython(renamed(BEFORE, NOW), renamed(NOW, BEFORE))]

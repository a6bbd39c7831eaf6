"""Rename the jobs that the task cluster keeps: on its timetable, and those that wait in its queue."""

from collections.abc import Callable

from django.core.signing import BadSignature
from django.db import migrations
from django_q.signing import SignedPackage

BEFORE, NOW = "mailbox.schedule.", "mailbox.background.jobs."


def renamed(old: str, new: str) -> Callable:
    def rename(apps, schema_editor) -> None:
        for row in apps.get_model("django_q", "Schedule").objects.filter(func__startswith=old):
            func = new + row.func.removeprefix(old)
            row.name = func if row.name == row.func else row.name
            row.func = func
            row.save(update_fields=["func", "name"])
        for job in apps.get_model("django_q", "OrmQ").objects.all():
            try:
                task = SignedPackage.loads(job.payload)
            except (BadSignature, TypeError):
                continue  # signed by another key: the cluster drops it, too
            if isinstance(task.get("func"), str) and task["func"].startswith(old):
                task["func"] = new + task["func"].removeprefix(old)
                job.payload = SignedPackage.dumps(task)
                job.save(update_fields=["payload"])

    return rename


class Migration(migrations.Migration):
    dependencies = [
        ("django_q", "0014_schedule_cluster"),
        ("mailbox", "0024_the_list_a_plan_was_picked_from"),
    ]
    operations = [migrations.RunPython(renamed(BEFORE, NOW), renamed(NOW, BEFORE))]

"""Jobs that an earlier version stored keep working under their new names."""

from __future__ import annotations

from importlib import import_module
from pydoc import locate

import pytest
from django.apps import apps
from django_q.models import OrmQ, Schedule
from django_q.signing import SignedPackage

from mailbox.background import jobs
from mailbox.database import timetable

OLD_SWEEP = "mailbox.schedule.sweep_pass"


def migrated(name, reverse=False):
    """Run the single operation of a data migration on the tables of the test."""
    operation = import_module(f"mailbox.migrations.{name}").Migration.operations[0]
    (operation.reverse_code if reverse else operation.code)(apps, None)


@pytest.mark.django_db
def test_jobs_of_an_earlier_version_keep_schedule_and_queue_position():
    due = Schedule.objects.create(func=OLD_SWEEP, name=OLD_SWEEP, schedule_type=Schedule.MINUTES, minutes=1)
    OrmQ.objects.create(key="a2a", payload=SignedPackage.dumps({"id": "1", "func": OLD_SWEEP, "args": ()}))
    OrmQ.objects.create(key="a2a", payload=SignedPackage.dumps({"id": "2", "func": "somebody.else", "args": ()}))
    OrmQ.objects.create(key="a2a", payload="signed by another key")

    migrated("0025_jobs_by_their_new_names")
    jobs.register()

    row = Schedule.objects.get()
    waiting = [SignedPackage.loads(job.payload)["func"] for job in OrmQ.objects.order_by("pk")[:2]]
    assert (row.pk, row.func, row.name, row.next_run) == (
        due.pk,
        timetable.SWEEP_JOB,
        timetable.SWEEP_JOB,
        due.next_run,
    )
    assert waiting == [timetable.SWEEP_JOB, "somebody.else"]
    assert callable(locate(timetable.SWEEP_JOB))

    migrated("0025_jobs_by_their_new_names", reverse=True)

    assert Schedule.objects.get().func == OLD_SWEEP
    assert [SignedPackage.loads(job.payload)["func"] for job in OrmQ.objects.order_by("pk")[:1]] == [OLD_SWEEP]


@pytest.mark.django_db
def test_a_job_registered_under_its_old_name_is_not_duplicated():
    Schedule.objects.create(func=OLD_SWEEP, name=OLD_SWEEP, schedule_type=Schedule.MINUTES, minutes=1)

    jobs.register()

    assert {row.func for row in Schedule.objects.all()} == set(jobs.ALWAYS)

"""Jobs that an earlier version planned keep working under their new names."""

from __future__ import annotations

from importlib import import_module
from pydoc import locate

import pytest
from django.apps import apps
from django_q.models import Schedule

from mailbox.background import jobs
from mailbox.database import timetable

OLD_SWEEP = "mailbox.schedule.sweep_pass"


def migrated(name, reverse=False):
    """Run the single operation of a data migration on the tables of the test."""
    operation = import_module(f"mailbox.migrations.{name}").Migration.operations[0]
    (operation.reverse_code if reverse else operation.code)(apps, None)


@pytest.mark.django_db
def test_jobs_of_an_earlier_version_keep_their_next_run():
    due = Schedule.objects.create(func=OLD_SWEEP, name=OLD_SWEEP, schedule_type=Schedule.MINUTES, minutes=1)

    migrated("0025_jobs_by_their_new_names")
    jobs.register()

    row = Schedule.objects.get()
    assert (row.pk, row.func, row.name, row.next_run) == (
        due.pk,
        timetable.SWEEP_JOB,
        timetable.SWEEP_JOB,
        due.next_run,
    )
    assert callable(locate(timetable.SWEEP_JOB))

    migrated("0025_jobs_by_their_new_names", reverse=True)

    assert Schedule.objects.get().func == OLD_SWEEP


@pytest.mark.django_db
def test_a_job_registered_under_its_old_name_is_not_duplicated():
    Schedule.objects.create(func=OLD_SWEEP, name=OLD_SWEEP, schedule_type=Schedule.MINUTES, minutes=1)

    jobs.register()

    assert {row.func for row in Schedule.objects.all()} == set(jobs.ALWAYS)

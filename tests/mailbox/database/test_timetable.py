"""The parts of django-q2 that the hub relies on: models that its documentation describes."""

import ast
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from django_q.models import Schedule, Task

from mailbox.database import timetable
from mailbox.database.timetable import ALERT_JOB, JOBS, RETRY_JOB, SWEEP_JOB
from tests.support.hub import ROOT

PRODUCT = ("a2aproject", "agentcards", "dashboard", "mailbox")
DOCUMENTED_SCHEDULE = {"name", "func", "schedule_type", "minutes", "repeats", "next_run", "task"}
DOCUMENTED_TASK = {"id", "name", "func", "started", "stopped", "success", "result", "group", "args", "kwargs"}


def imports_of(path: Path) -> set[tuple[str, str]]:
    """Return what a module imports, as pairs of a module and a name."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    found = {(str(node.module), name.name) for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names}
    return found | {(name.name, "") for node in nodes if isinstance(node, ast.Import) for name in node.names}


def test_the_hub_uses_the_documented_models_of_django_q2_and_nothing_else():
    paths = [path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py")]
    used = {pair for path in paths for pair in imports_of(path) if pair[0].partition(".")[0] == "django_q"}

    assert used == {("django_q.models", name) for name in ("Failure", "OrmQ", "Schedule", "Success", "Task")}


def test_the_models_have_the_fields_that_the_hub_reads_and_writes():
    assert {field.name for field in Schedule._meta.fields} >= DOCUMENTED_SCHEDULE
    assert {field.name for field in Task._meta.fields} >= DOCUMENTED_TASK
    assert all(callable(method) for method in (Schedule.last_run, Schedule.success, Task.time_taken))
    assert Schedule.MINUTES == "I"


@pytest.mark.django_db
def test_the_jobs_that_are_due_are_told_by_how_long_they_wait():
    now = timezone.now()
    for func, minutes in ((SWEEP_JOB, -1), (RETRY_JOB, -3), (ALERT_JOB, 1), ("somebody.else", -9)):
        Schedule.objects.create(func=func, next_run=now + timedelta(minutes=minutes))

    assert timetable.due_since(now) == (now - timedelta(minutes=3), now - timedelta(minutes=1))


def test_every_job_of_the_timetable_has_a_name_of_ours():
    assert all(job.startswith(timetable.OURS) for job in JOBS)

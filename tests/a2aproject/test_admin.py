"""The admin shows the timetable and the results of its jobs, and no person writes them there."""

import pytest
from django.contrib import admin
from django.test import Client
from django.utils import timezone
from django_q.models import Failure, OrmQ, Schedule, Success, Task

from mailbox.background import jobs
from mailbox.database import timetable
from mailbox.database.timetable import SWEEP_JOB
from tests.dashboard.admin.test_admin import staff_client

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

PAGES = ("schedule", "success", "failure")


@pytest.fixture
def results():
    """Results of two sweeps. The first failed."""
    jobs.register()
    for error in ("failed to expire tasks: <the disk is full>", None):
        Schedule.objects.update(next_run=timezone.now())
        (turn,) = timetable.take_due(timezone.now(), ())
        timetable.record(turn, started=timezone.now(), error=error)
    return {"schedule": Schedule.objects.get(), "success": Success.objects.get(), "failure": Failure.objects.get()}


def test_schedules_successes_and_failures_are_shown(results):
    client = staff_client("viewer")

    texts = {page: client.get(f"/admin/django_q/{page}/").text for page in PAGES}
    shown = client.get(f"/admin/django_q/failure/{results['failure'].pk}/change/").text

    assert SWEEP_JOB in texts["schedule"]
    assert f"/admin/django_q/success/{results['success'].pk}/change/" in texts["schedule"]
    assert "sweep_pass" in texts["success"]
    assert "failed to expire tasks: &lt;the disk is full&gt;" in texts["failure"]
    assert "failed to expire tasks: &lt;the disk is full&gt;" in shown
    assert "Background jobs" in client.get("/admin/").text


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("role", "status"), [("viewer", 200), ("admin", 200), (None, 403)])
def test_every_role_reads_jobs_and_no_role_changes_them(results, page, role, status):
    client, pk = staff_client(role), results[page].pk
    home = f"/admin/django_q/{page}/"
    before = list(Schedule.objects.values()), list(Task.objects.values())

    assert client.get(home).status_code == status
    assert client.get(f"{home}{pk}/change/").status_code == status
    assert client.get(f"{home}add/").status_code == 403
    assert client.post(f"{home}add/", {"func": "os.getpid"}).status_code == 403
    assert client.post(f"{home}{pk}/change/", {"func": "os.getpid"}).status_code == 403
    assert client.post(f"{home}{pk}/delete/", {"post": "yes"}).status_code == 403
    for action in ("delete_selected", "resubmit_task"):
        client.post(home, {"action": action, "_selected_action": [pk], "post": "yes"})

    assert (list(Schedule.objects.values()), list(Task.objects.values())) == before
    assert OrmQ.objects.count() == 0


def test_the_lists_take_few_queries(results, django_assert_max_num_queries):
    client = staff_client("viewer")
    client.get("/admin/django_q/success/")

    for page in PAGES:
        with django_assert_max_num_queries(15):
            client.get(f"/admin/django_q/{page}/")


def test_the_queue_and_the_keys_of_second_factors_are_not_in_the_admin():
    assert Client().get("/admin/").status_code == 302  # has loaded the pages
    names = {model._meta.model_name for model in admin.site._registry}

    assert {"schedule", "success", "failure"} <= names
    assert not {"ormq", "totpdevice", "staticdevice"} & names

"""Each pass of a job is recorded at its start and at its end, and its end proves that the cluster runs."""

from datetime import timedelta

import pytest
from django.utils import timezone

from mailbox.access import audit
from mailbox.background import jobs
from mailbox.database.timetable import RETRY_JOB, SWEEP_JOB
from mailbox.inspection.health.cluster import SILENT_AFTER, Cluster
from mailbox.life import expiry
from mailbox.models import LastPass

pytestmark = pytest.mark.django_db


def last(job=SWEEP_JOB):
    row = LastPass.objects.get(job=job)
    return row.started_at, row.finished_at, row.failed_at


def broken(*_):
    raise OSError("the disk is full")


def test_only_a_recent_finished_sweep_proves_that_the_cluster_runs():
    jobs.register()
    assert not Cluster.read().is_running(timezone.now())
    jobs.sweep_pass()
    now = timezone.now()

    assert Cluster.read().is_running(now)
    assert not Cluster.read().is_running(now + SILENT_AFTER)
    assert not Cluster.read().is_running(now - timedelta(hours=1))


def test_a_pass_is_recorded_at_its_start_and_at_its_end():
    before = timezone.now()

    jobs.sweep_pass()

    started, finished, failed = last()
    assert before < started < finished < timezone.now()
    assert failed is None


def test_a_pass_that_is_cut_off_keeps_the_end_of_the_pass_before(monkeypatch):
    def cut(*_):
        raise SystemExit

    jobs.sweep_pass()
    first = last()
    monkeypatch.setattr(expiry, "sweep", cut)
    with pytest.raises(SystemExit):
        jobs.sweep_pass()

    assert last()[0] > first[0]
    assert last()[1:] == first[1:]


def test_a_failed_step_is_recorded_and_the_sweep_is_finished(monkeypatch):
    monkeypatch.setattr(expiry, "sweep", broken)
    jobs.sweep_pass()
    _, first_end, first_failure = last()
    monkeypatch.undo()

    jobs.sweep_pass()

    _, finished, failed = last()
    assert failed == first_failure == first_end
    assert finished > failed


def test_a_retry_pass_without_its_grant_is_a_failed_pass(settings):
    settings.A2A_AUTO_RETRY = settings.A2A_AUTO_RETRY | {"SCHEDULER": "1"}

    jobs.retry_pass()

    _, finished, failed = last(RETRY_JOB)
    assert failed == finished is not None


def test_a_pass_that_raises_is_a_failed_pass(monkeypatch):
    monkeypatch.setattr(expiry, "sweep", broken)
    monkeypatch.setattr(audit, "note", broken)
    with pytest.raises(OSError, match="disk"):
        jobs.sweep_pass()

    _, finished, failed = last()
    assert failed == finished is not None

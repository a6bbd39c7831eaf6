import threading
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone
from django_q.models import Schedule

from mailbox.access.callers import Caller
from mailbox.background import jobs
from mailbox.database import timetable
from mailbox.life import expiry
from mailbox.models import Agent, Lease
from mailbox.repairs import auto_retry, retry
from tests.support import factories

SUMMARY_KEYS = [
    "enabled",
    "considered",
    "requeued",
    "skipped",
    "skipped_by_reason",
    "min_lease_age_ms",
    "max_attempts",
    "max_requeues",
    "scan_limit",
    "error",
]


@pytest.fixture
def switched_on(settings):
    settings.A2A_AUTO_RETRY = settings.A2A_AUTO_RETRY | {"SCHEDULER": "1"}


@pytest.fixture
def stale_lease(alice, bob):
    with time_machine.travel(timezone.now() - timedelta(hours=1)):
        return factories.leased_task(alice, bob, idempotency=factories.idempotent())


@pytest.fixture
def granted() -> Caller:
    caller = factories.caller_of(auto_retry.scheduler_agent())
    factories.grant(caller, "a2a.repair.requeue")
    return caller


@pytest.mark.django_db
def test_without_automatic_retry_only_the_sweep_is_scheduled():
    jobs.register()

    rows = {(row.func, row.schedule_type, row.minutes, row.repeats) for row in Schedule.objects.all()}
    assert rows == {(func, "I", 1, -1) for func in jobs.ALWAYS}


@pytest.mark.django_db
def test_a_job_registered_under_a_name_of_an_earlier_version_is_not_duplicated():
    earlier = "mailbox.schedule.sweep_pass"
    Schedule.objects.create(func=earlier, name=earlier, schedule_type=Schedule.MINUTES, minutes=1)

    jobs.register()

    assert {row.func for row in Schedule.objects.all()} == set(jobs.ALWAYS)


@pytest.mark.django_db
def test_an_enabled_automatic_retry_is_scheduled_at_its_interval(settings):
    settings.A2A_AUTO_RETRY = settings.A2A_AUTO_RETRY | {"SCHEDULER": "1", "INTERVAL_MS": "180000"}

    jobs.register()

    assert dict(Schedule.objects.values_list("func", "minutes")) == {
        **dict.fromkeys(jobs.ALWAYS, 1),
        timetable.RETRY_JOB: 3,
    }


@pytest.mark.django_db
def test_registering_again_changes_no_row_and_keeps_the_next_run(switched_on):
    jobs.register()
    before = list(Schedule.objects.order_by("pk").values())

    jobs.register()

    assert list(Schedule.objects.order_by("pk").values()) == before


@pytest.mark.django_db
def test_changed_settings_change_or_remove_the_schedule_of_the_retry(switched_on, settings):
    jobs.register()
    settings.A2A_AUTO_RETRY = settings.A2A_AUTO_RETRY | {"SCHEDULER": "1", "INTERVAL_MS": "600000"}
    jobs.register()
    changed = Schedule.objects.get(func=timetable.RETRY_JOB).minutes
    settings.A2A_AUTO_RETRY = settings.A2A_AUTO_RETRY | {"SCHEDULER": "0"}
    jobs.register()

    assert changed == 10
    assert {row.func for row in Schedule.objects.all()} == set(jobs.ALWAYS)


@pytest.mark.django_db
def test_registering_pulls_back_a_next_run_that_lies_ahead_of_its_interval(switched_on):
    jobs.register()
    Schedule.objects.update(next_run=timezone.now() + timedelta(days=1))

    jobs.register()

    latest = timezone.now() + timedelta(minutes=1)
    assert all(row.next_run <= latest for row in Schedule.objects.filter(func=timetable.SWEEP_JOB))


@pytest.mark.django_db
def test_the_next_run_of_a_job_that_is_planned_twice_is_the_earlier_run():
    now = timezone.now()
    for minutes in (9, 3):
        Schedule.objects.create(func=timetable.RETRY_JOB, next_run=now + timedelta(minutes=minutes))

    assert timetable.next_run(timetable.RETRY_JOB) == now + timedelta(minutes=3)
    assert timetable.next_run(timetable.SWEEP_JOB) is None


@pytest.mark.django_db
def test_registering_removes_duplicate_jobs_and_keeps_foreign_jobs():
    for func in (timetable.SWEEP_JOB, timetable.SWEEP_JOB, "somebody.else"):
        Schedule.objects.create(func=func)

    jobs.register()

    assert sorted(row.func for row in Schedule.objects.all()) == sorted([*jobs.ALWAYS, "somebody.else"])


@pytest.mark.django_db
def test_registering_removes_jobs_that_no_longer_exist():
    Schedule.objects.create(
        func="mailbox.background.jobs.push_pass", name="old", schedule_type=Schedule.MINUTES, minutes=1
    )

    jobs.register()

    assert {row.func for row in Schedule.objects.all()} == set(jobs.ALWAYS)


@pytest.mark.django_db(transaction=True)
def test_processes_that_register_at_once_create_each_job_once(switched_on):
    barrier = threading.Barrier(4)
    failures: list[BaseException] = []

    def register() -> None:
        try:
            barrier.wait()
            jobs.register()
        except BaseException as failure:  # noqa: BLE001 it is asserted on
            failures.append(failure)
        finally:
            connection.close()

    threads = [threading.Thread(target=register) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert sorted(row.func for row in Schedule.objects.all()) == sorted([timetable.RETRY_JOB, *jobs.ALWAYS])
    assert Agent.objects.filter(display="scheduler@hub").count() == 1


@pytest.mark.django_db
def test_a_leftover_schedule_does_nothing_when_the_retry_is_off(stale_lease, granted):
    jobs.retry_pass()

    stale_lease.refresh_from_db()
    assert stale_lease.ended_at is None
    assert factories.journal("a2a_auto_retry_scheduler_scan") == []


@pytest.mark.django_db
def test_a_retry_pass_requeues_and_journals_one_summary(switched_on, stale_lease, granted, bob, alice):
    factories.leased_task(alice, bob)

    jobs.retry_pass()

    stale_lease.refresh_from_db()
    assert stale_lease.end == Lease.End.AUTO_REQUEUE
    (applied,), (summary,) = factories.journal("a2a_repair_applied"), factories.journal("a2a_auto_retry_scheduler_scan")
    assert (applied.actor, applied.source) == (summary.actor, summary.source) == ("scheduler@hub", "scheduler")
    assert list(summary.fields) == SUMMARY_KEYS
    assert summary.fields == {
        "enabled": True,
        "considered": 2,
        "requeued": 1,
        "skipped": 1,
        "skipped_by_reason": {"lease_too_young": 1},
        "min_lease_age_ms": 300_000,
        "max_attempts": 3,
        "max_requeues": 1,
        "scan_limit": 100,
        "error": None,
    }


@pytest.mark.django_db
def test_a_retry_pass_without_its_grant_changes_nothing_and_reports_why(switched_on, stale_lease, caplog):
    jobs.retry_pass()

    stale_lease.refresh_from_db()
    assert stale_lease.ended_at is None
    (summary,) = factories.journal("a2a_auto_retry_scheduler_scan")
    assert list(summary.fields) == SUMMARY_KEYS
    assert [summary.fields[name] for name in ("considered", "requeued", "skipped")] == [0, 0, 0]
    assert 'requires capability "a2a.repair.requeue"' in summary.fields["error"]
    assert "a2a grant give scheduler@hub" in summary.fields["error"]
    refused = factories.journal("capability_check")[-1]
    assert (refused.actor, refused.fields["passed"]) == ("scheduler@hub", False)


@pytest.mark.django_db
def test_a_retry_pass_that_fails_journals_a_summary_too(switched_on, monkeypatch, caplog):
    def break_down(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(retry, "retry_stale", break_down)

    jobs.retry_pass()

    (summary,) = factories.journal("a2a_auto_retry_scheduler_scan")
    assert summary.fields["error"] == "the disk is full"
    assert "the automatic retry pass failed" in caplog.text


@pytest.mark.django_db
def test_the_scheduler_s_agent_starts_without_grants_and_keys():
    agent = auto_retry.scheduler_agent()

    assert agent.display == "scheduler@hub"
    assert not agent.grants.exists()
    assert not agent.keys.exists()
    assert auto_retry.scheduler_agent() == agent


@pytest.mark.django_db
def test_each_job_returns_why_its_pass_failed(switched_on, monkeypatch, caplog):
    def break_down(*_: object) -> None:
        raise OSError("the disk is full")

    assert jobs.sweep_pass() is None
    assert 'requires capability "a2a.repair.requeue"' in str(jobs.retry_pass())
    monkeypatch.setattr(expiry, "sweep", break_down)
    assert jobs.sweep_pass() == "failed to expire tasks: the disk is full"

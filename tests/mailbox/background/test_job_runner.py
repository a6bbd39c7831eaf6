"""The jobs of the timetable run in one process: each once, beside a job that hangs, and after a jump of the clock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
import time_machine
from django.db import OperationalError
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ, Schedule
from django_q.signing import SignedPackage
from django_q.tasks import async_task

from mailbox.background import job_runner, jobs
from mailbox.background.job_runner import JobRunner
from mailbox.database import timetable
from mailbox.database.timetable import RETRY_JOB, SWEEP_JOB
from mailbox.models import LastPass
from tests.support.pauses import until

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)
ran: list[str] = []
hangs = threading.Event()


def note(word: str) -> None:
    ran.append(word)


def hang() -> None:
    assert hangs.wait()


def fail() -> None:
    raise ValueError("the job is broken")


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    ran.clear()
    hangs.clear()
    yield
    hangs.set()


class Beats:
    """Counts the beats of a runner."""

    def __init__(self) -> None:
        self.heard = 0

    def __call__(self) -> None:
        self.heard += 1


@contextmanager
def runner(beats: Beats | None = None) -> Iterator[JobRunner]:
    """Yield a runner. At the end its jobs must end, and its threads with them."""
    running = JobRunner(beats or Beats())
    yield running
    hangs.set()
    finish(running)


def finish(running: JobRunner) -> None:
    """Wait until the jobs of the runner have ended."""
    for one in running._running:
        one.thread.join()


def queue(func: str, *args: str) -> None:
    async_task(f"{__name__}.{func}", *args)


def test_due_jobs_run_and_are_recorded(settings):
    settings.A2A_AUTO_RETRY = settings.A2A_AUTO_RETRY | {"SCHEDULER": "1"}
    jobs.register()

    with runner() as running:
        assert running.look_around() == 2

    assert OrmQ.objects.count() == 0
    assert set(LastPass.objects.filter(finished_at__isnull=False).values_list("job", flat=True)) == {
        SWEEP_JOB,
        RETRY_JOB,
    }
    assert all(row.next_run > timezone.now() for row in Schedule.objects.all())


def test_a_job_is_due_again_after_its_interval_and_not_before():
    jobs.register()
    with runner() as running:
        running.look_around()
        finish(running)
        assert running.look_around() == 0
        with time_machine.travel(timezone.now() + timedelta(seconds=61)):
            assert running.look_around() == 1


def test_two_processes_run_a_due_job_once():
    jobs.register()
    queue("note", "once")
    with runner() as one, runner() as other:
        counts = [one.look_around(), other.look_around()]

    assert sum(counts) == 2
    assert ran == ["once"]


def test_a_hanging_job_stops_no_other_job_and_is_not_started_twice():
    for func, *args in (["hang"], ["hang"], ["note", "a"], ["note", "b"]):
        queue(func, *args)

    def only_one_is_left():
        running.look_around()
        return OrmQ.objects.count() == 1

    with runner() as running:
        until(only_one_is_left)
        until(lambda: [one.job.func for one in running._running if one.thread.is_alive()] == [f"{__name__}.hang"])

    assert sorted(ran) == ["a", "b"]
    assert OrmQ.objects.count() == 0


def test_no_more_jobs_run_at_once_than_the_settings_allow(monkeypatch):
    monkeypatch.setattr(Conf, "WORKERS", 1)
    queue("hang")
    with runner() as running:
        first = running.look_around()
        queue("note", "a")
        second = running.look_around()

    assert (first, second, ran) == (1, 0, [])
    with runner() as running:
        assert running.look_around() == 1
    assert ran == ["a"]


def test_a_failed_job_is_removed_and_counts_as_progress(caplog):
    queue("fail")
    queue("missing")
    beats = Beats()

    with runner(beats) as running:
        assert running.look_around() == 2

    assert OrmQ.objects.count() == 0
    assert beats.heard == 2
    assert "the job is broken" in caplog.text


def test_an_unreadable_job_is_dropped(caplog):
    OrmQ.objects.create(key="a2a", payload="signed by another key", lock=timezone.now() - DAY)
    OrmQ.objects.create(key="a2a", payload=SignedPackage.dumps({"id": "1"}), lock=timezone.now() - DAY)

    with runner() as running:
        assert running.look_around() == 0

    assert OrmQ.objects.count() == 0
    assert "cannot be read" in caplog.text


def test_a_sweep_of_another_process_counts_as_progress():
    beats = Beats()
    with runner(beats) as running:
        running.look_around()
        assert beats.heard == 0
        jobs.sweep_pass()
        running.look_around()
        running.look_around()

    assert beats.heard == 1


def test_a_job_that_runs_too_long_suppresses_every_beat(monkeypatch):
    queue("hang")
    queue("note", "other")
    beats = Beats()
    with runner(beats) as running:
        running.look_around()
        until(lambda: beats.heard == 1)
        monkeypatch.setattr(Conf, "TIMEOUT", -1)
        jobs.sweep_pass()
        running.look_around()

        assert beats.heard == 1


def test_an_unusable_database_counts_as_progress_and_ends_no_runner(monkeypatch, caplog):
    beats, stop = Beats(), threading.Event()

    def break_down(_: object) -> None:
        stop.set()
        raise OperationalError("the server is gone")

    monkeypatch.setattr(timetable, "is_due", break_down)

    JobRunner(beats).run(stop)

    assert beats.heard == 1
    assert "the server is gone" in caplog.text


def test_a_timetable_that_cannot_be_written_counts_as_progress(monkeypatch):
    jobs.register()
    beats = Beats()
    monkeypatch.setattr(job_runner, "scheduler", lambda _: None)

    with runner(beats) as running:
        assert running.look_around() == 0

    assert beats.heard == 1


def test_a_stopped_runner_does_not_wait_for_a_job_that_hangs(monkeypatch):
    monkeypatch.setattr(job_runner, "STOPS_WITHIN", 0.1)
    queue("hang")
    stop = threading.Event()
    with runner() as running:
        running.look_around()
        stop.set()

        running.run(stop)

        assert [one.thread.is_alive() for one in running._running] == [True]


@pytest.mark.parametrize("is_restarted", [False, True])
def test_jobs_run_again_after_the_clock_jumped_ahead_and_back(is_restarted):
    jobs.register()
    with time_machine.travel(timezone.now() + DAY), runner() as running:
        assert running.look_around() == 1
    if is_restarted:
        jobs.register()
    else:
        with runner() as running:
            running.look_around()

    assert Schedule.objects.get().next_run <= timezone.now() + timedelta(minutes=1)
    with time_machine.travel(timezone.now() + timedelta(seconds=61)), runner() as running:
        assert running.look_around() == 1


def test_a_clock_that_stood_at_a_distant_past_delays_no_job():
    jobs.register()
    Schedule.objects.update(next_run=timezone.now() - 10_000 * DAY)

    with runner() as running:
        assert running.look_around() == 1

    assert timezone.now() < Schedule.objects.get().next_run <= timezone.now() + timedelta(minutes=1)


def test_a_lock_taken_before_the_clock_was_set_back_ends_in_time():
    queue("note", "late")
    OrmQ.objects.update(lock=timezone.now() + DAY)
    with runner() as running:
        assert running.look_around() == 0
        with time_machine.travel(timezone.now() + timedelta(seconds=Conf.RETRY + 1)):
            assert running.look_around() == 1

    assert ran == ["late"]

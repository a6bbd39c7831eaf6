"""The jobs of the timetable run in one process: each once, beside a job that hangs, and after a jump of the clock."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
import time_machine
from django.db import OperationalError
from django.utils import timezone
from django_q.models import Failure, OrmQ, Schedule, Success

from mailbox.background import job_runner, jobs
from mailbox.background.job_runner import JobRunner
from mailbox.database import timetable
from mailbox.database.timetable import RETRY_JOB, SWEEP_JOB
from mailbox.models import LastPass
from tests.support.pauses import until

pytestmark = pytest.mark.django_db(transaction=True)

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
ran: list[str] = []
hangs = threading.Event()


def note() -> None:
    ran.append("note")


def other() -> None:
    ran.append("other")


def hang() -> None:
    assert hangs.wait()


def fail() -> None:
    raise ValueError("the job is broken")


def report() -> str:
    return "a step failed"


OURS = {job.__name__: f"{__name__}.{job.__name__}" for job in (note, other, hang, fail, report)}


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(timetable, "JOBS", (*timetable.JOBS, *OURS.values(), f"{__name__}.missing"))
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


def plan(*names: str, minutes: int = 1) -> None:
    """Plan functions of this module. They are due at once."""
    for name in names:
        Schedule.objects.create(
            func=f"{__name__}.{name}", schedule_type=Schedule.MINUTES, minutes=minutes, next_run=timezone.now()
        )


def test_due_jobs_run_and_are_recorded(settings):
    settings.A2A_AUTO_RETRY = settings.A2A_AUTO_RETRY | {"SCHEDULER": "1"}
    jobs.register()

    with runner() as running:
        assert running.look_around() == 2

    assert set(LastPass.objects.filter(finished_at__isnull=False).values_list("job", flat=True)) == {
        SWEEP_JOB,
        RETRY_JOB,
    }
    assert all(row.next_run > timezone.now() for row in Schedule.objects.all())


def test_a_result_is_kept_where_users_of_django_q_look():
    plan("note", "fail", "report")
    before = timezone.now()

    with runner() as running:
        running.look_around()

    (success,) = Success.objects.all()
    assert (success.name, success.func, success.group, success.result) == ("note", OURS["note"], OURS["note"], None)
    assert before < success.started < success.stopped < timezone.now()
    assert dict(Failure.objects.values_list("name", "result")) == {
        "fail": "the job is broken",
        "report": "a step failed",
    }
    assert {row.func: row.success() for row in Schedule.objects.all()} == {
        OURS["note"]: True,
        OURS["fail"]: False,
        OURS["report"]: False,
    }
    assert OrmQ.objects.count() == 0


def test_the_newest_results_of_each_job_are_kept(settings):
    settings.Q_CLUSTER = settings.Q_CLUSTER | {"save_limit": 2}
    plan("note", "fail")
    for minutes in (4, 3, 2, 1):
        with time_machine.travel(timezone.now() - minutes * MINUTE), runner() as running:
            Schedule.objects.update(next_run=timezone.now() - MINUTE)
            running.look_around()
    plan("other")
    with runner() as running:
        running.look_around()

    assert sorted(Success.objects.values_list("name", flat=True)) == ["note", "note", "other"]
    assert sorted(Failure.objects.values_list("name", flat=True)) == ["fail", "fail"]
    assert Success.objects.earliest("stopped").stopped > timezone.now() - 2 * MINUTE


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
    plan("note")
    with runner() as one, runner() as another:
        counts = [one.look_around(), another.look_around()]

    assert sum(counts) == 2
    assert ran == ["note"]


def test_of_two_processes_that_read_a_due_job_at_once_one_takes_it(monkeypatch):
    plan("note")
    now, move = timezone.now(), timetable._move
    others: list[object] = []

    def move_second(*given):
        monkeypatch.setattr(timetable, "_move", move)
        others.extend(timetable.take_due(now, ()))
        return move(*given)

    monkeypatch.setattr(timetable, "_move", move_second)

    assert timetable.take_due(now, ()) == ()
    assert len(others) == 1


def test_a_job_of_another_application_is_left_alone():
    Schedule.objects.create(func="math.fsum", schedule_type=Schedule.MINUTES, minutes=1, next_run=timezone.now() - DAY)
    before = list(Schedule.objects.values())

    with runner() as running:
        assert running.look_around() == 0

    assert list(Schedule.objects.values()) == before


def test_a_job_whose_process_dies_runs_again_before_a_long_interval_ends(settings):
    plan("note", minutes=60)
    (lost,) = timetable.take_due(timezone.now(), ())
    again = timezone.now() + timedelta(seconds=settings.Q_CLUSTER["retry"] + 1)

    assert timetable.take_due(again - MINUTE, ()) == ()
    with time_machine.travel(again), runner() as running:
        assert running.look_around() == 1

    assert ran == ["note"]
    assert lost.next_run < Schedule.objects.get().next_run


def test_a_job_that_ends_is_due_again_after_its_whole_interval():
    plan("note", minutes=60)
    planned = Schedule.objects.get().next_run

    with runner() as running:
        running.look_around()

    assert Schedule.objects.get().next_run == planned + timedelta(minutes=60)


def test_a_hanging_job_stops_no_other_job_and_is_not_started_twice():
    plan("hang", "note")
    with runner() as running:
        running.look_around()
        until(lambda: ran == ["note"])
        plan("other")
        with time_machine.travel(timezone.now() + 2 * MINUTE):
            until(lambda: running.look_around() == 0)
        until(lambda: [one.turn.func for one in running._running if one.thread.is_alive()] == [OURS["hang"]])
        assert sorted(set(ran)) == ["note", "other"]
        assert Success.objects.filter(func=OURS["hang"]).count() == 0

    assert Success.objects.filter(func=OURS["hang"]).count() == 1


def test_another_process_runs_a_job_that_hangs_here():
    plan("hang")
    with runner() as stuck, runner() as sound:
        assert stuck.look_around() == 1
        with time_machine.travel(timezone.now() + MINUTE + timedelta(seconds=1)):
            assert (stuck.look_around(), sound.look_around()) == (0, 1)


def test_a_job_that_is_planned_twice_runs_once_at_a_time():
    plan("hang", "hang")

    with runner() as running:
        assert running.look_around() == 1
        assert running.look_around() == 0


def test_a_failed_job_is_planned_again_and_counts_as_progress(caplog):
    plan("fail", "missing")
    beats = Beats()

    with runner(beats) as running:
        assert running.look_around() == 2

    assert beats.heard == 2
    assert "the job is broken" in caplog.text
    assert all(row.next_run > timezone.now() for row in Schedule.objects.all())


def test_a_sweep_of_another_process_counts_as_progress():
    beats = Beats()
    with runner(beats) as running:
        running.look_around()
        assert beats.heard == 0
        jobs.sweep_pass()
        running.look_around()
        running.look_around()

    assert beats.heard == 1


def test_a_job_that_runs_too_long_suppresses_every_beat(settings):
    plan("hang", "note")
    beats = Beats()
    with runner(beats) as running:
        running.look_around()
        until(lambda: beats.heard == 1)
        settings.Q_CLUSTER = settings.Q_CLUSTER | {"timeout": -1}
        jobs.sweep_pass()
        running.look_around()

        assert beats.heard == 1


def test_an_unusable_database_counts_as_progress_and_ends_no_runner(monkeypatch, caplog):
    beats, stop = Beats(), threading.Event()

    def break_down(*_: object) -> None:
        stop.set()
        raise OperationalError("the server is gone")

    monkeypatch.setattr(timetable, "take_due", break_down)

    JobRunner(beats).run(stop)

    assert beats.heard == 1
    assert caplog.messages == ["the database failed: the server is gone"]


def test_a_timetable_that_cannot_be_written_counts_as_progress(monkeypatch, caplog):
    plan("note")
    beats, stop = Beats(), threading.Event()

    def refuse(*_: object) -> None:
        stop.set()
        raise OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(timetable, "_move", refuse)

    JobRunner(beats).run(stop)

    assert beats.heard == 1
    assert ran == []


def test_a_result_that_cannot_be_stored_ends_no_runner(monkeypatch, caplog):
    def refuse(*_: object, **__: object) -> None:
        raise OperationalError("the disk is full")

    monkeypatch.setattr(timetable, "record", refuse)
    plan("note")
    beats = Beats()

    with runner(beats) as running:
        running.look_around()

    assert (ran, beats.heard) == (["note"], 1)
    assert caplog.messages == ["the database failed: the disk is full"]


def test_a_stopped_runner_does_not_wait_for_a_job_that_hangs(monkeypatch):
    monkeypatch.setattr(job_runner, "STOPS_WITHIN", 0.1)
    plan("hang")
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

    assert Schedule.objects.get().next_run <= timezone.now() + MINUTE
    with time_machine.travel(timezone.now() + timedelta(seconds=61)), runner() as running:
        assert running.look_around() == 1


def test_a_clock_that_stood_at_a_distant_past_delays_no_job():
    jobs.register()
    Schedule.objects.update(next_run=timezone.now() - 10_000 * DAY)

    with runner() as running:
        assert running.look_around() == 1

    assert timezone.now() < Schedule.objects.get().next_run <= timezone.now() + MINUTE
